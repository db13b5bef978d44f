package bench

import (
	"math"

	"birthmark/chains/bitcoin/runes"
	"birthmark/model"
)

const (
	// runesCreated is the number of runes: the first transactions of block 1 create them.
	runesCreated = 200
	// messagesPerMille of the transactions have a message: 14% of the outputs, of which a transaction has 2.6.
	messagesPerMille = 364
	runesMinted      = 1000 // by each mint
)

// tell gives transaction i of a block its message. Half of the messages mint a rune, the others move one. Few runes have
// most of them.
func (x *expander) tell(tx *model.Tx, o *outline, i int) {
	n := len(tx.Outputs)
	if i == 0 || n == 0 {
		return
	}
	var b [8]byte
	fill(b[:], x.seed^0x72756e6573, uint64(o.first)+uint64(i))
	rank := int(b[0]) * int(b[1]) * int(b[2]) * runesCreated >> 24
	id := runes.ID{Block: 1, Tx: uint32(1 + min(rank, runesCreated-1))}
	creates := o.height == 1 && i <= runesCreated
	if !creates && (o.height < 2 || (int(b[3])<<8|int(b[4]))%1000 >= messagesPerMille) {
		return
	}
	all := &told{}
	m := &all.message
	if tx.Message = m; n > 1 {
		all.last[0] = uint32(n - 1)
		m.Returns = all.last[:]
	}
	switch {
	case creates:
		terms := runes.Terms{Amount: runes.Some(model.Uint128Of(runesMinted)), Cap: runes.Some(model.Uint128Of(math.MaxUint64))}
		m.Etching = &runes.Etching{Terms: runes.Some(terms)}
	case b[5]&1 == 0:
		m.Mint = runes.Some(id)
	default:
		all.edict[0] = runes.Edict{ID: id, Amount: model.Uint128Of(runesMinted / 2), Output: 0}
		m.Edicts = all.edict[:]
	}
}

// told is a message with the memory of its parts.
type told struct {
	message runes.Message
	last    [1]uint32
	edict   [1]runes.Edict
}
