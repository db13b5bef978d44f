package ledger

import (
	"errors"

	"golang.org/x/crypto/blake2b"

	"birthmark/chains/cardano/cbor"
	"birthmark/model"
)

// Parts are the bytes of a transaction, which are in separate places of a block. In Byron Body is the whole
// transaction.
type Parts struct{ Body, Witnesses, Auxiliary []byte }

const (
	simpleFalse = cbor.Simple<<5 | 20
	simpleTrue  = cbor.Simple<<5 | 21
	simpleNull  = cbor.Simple<<5 | 22
)

// auxiliary assigns the auxiliary data to the transactions, from the map at an offset that the walker has passed.
func (d *Decoder) auxiliary(start int) {
	w := cbor.Walker{Data: d.w.Data[:d.w.Offset], Offset: start}
	for n := w.Map("auxiliary data"); w.More(&n); {
		i := w.Uint("position of auxiliary data")
		if data := w.Item("auxiliary data"); w.Err == nil && i < uint64(len(d.Parts)) {
			d.Parts[i].Auxiliary = data
		}
	}
}

// keepRaw sets [model.Tx.Raw]: the transaction as a wallet submits it (rule transaction of the ledger's CDDL), which is
// body, witnesses, since Alonzo whether its scripts succeeded, and auxiliary data or null. In Byron it is stored in one
// piece; since Dijkstra only a failed transaction states it.
func (d *Decoder) keepRaw(txs []model.Tx, era byte) {
	room := 0
	for i := range d.Parts {
		p := &d.Parts[i]
		room += len("[") + len(p.Body) + len(p.Witnesses) + len(p.Auxiliary) + 2
	}
	own := make([]byte, 0, room)
	for i := range txs {
		p, start := &d.Parts[i], len(own)
		switch {
		case era < EraShelley:
			own = append(own, p.Body...)
		case era < EraAlonzo, era == EraDijkstra && !d.Failed[i]:
			own = append(append(append(own, cbor.Array<<5|3), p.Body...), p.Witnesses...)
		default:
			own = append(append(append(own, cbor.Array<<5|4), p.Body...), p.Witnesses...)
			if d.Failed[i] {
				own = append(own, simpleFalse)
			} else {
				own = append(own, simpleTrue)
			}
		}
		switch {
		case era < EraShelley:
		case p.Auxiliary == nil:
			own = append(own, simpleNull)
		default:
			own = append(own, p.Auxiliary...)
		}
		txs[i].Raw = own[start:len(own):len(own)]
	}
}

// HashTx returns the id of a transaction in the form of [model.Tx.Raw]: the hash of its body, the first item.
func HashTx(raw []byte) (model.Hash, error) {
	w := cbor.Walker{Data: raw}
	fields := w.Fields("transaction")
	body := fields.Item("body")
	fields.SkipRest()
	if w.Err == nil && w.Offset < len(raw) {
		w.Err = errors.New("bytes follow the transaction")
	}
	return blake2b.Sum256(body), w.Err
}
