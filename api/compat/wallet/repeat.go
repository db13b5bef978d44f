package wallet

import (
	"math"

	"github.com/btcsuite/btcd/chaincfg/v2"

	"birthmark/model"
)

// repetition is whether other transactions of the chain have the id of a transaction.
type repetition uint8

const (
	single  repetition = iota
	earlier            // a later one has the same id
	latest             // earlier ones have the same id
)

// unrepeatedFrom are the heights from which on coinbases contain their height (BIP 34), so that no two of them are equal.
// On other networks they can be.
var unrepeatedFrom = map[string]int32{
	"mainnet":  chaincfg.MainNetParams.BIP0034Height,
	"testnet3": chaincfg.TestNet3Params.BIP0034Height,
	"testnet4": chaincfg.TestNet4Params.BIP0034Height,
	"signet":   chaincfg.SigNetParams.BIP0034Height,
}

// repeated returns which transactions have the id of another one (BIP 30); nil if none has. Mainnet has two such pairs,
// which are coinbases. Clients expect each id once in a history, and each output once: these are of the latest one, which
// is also the one that a lookup by id finds. Totals of a script count all of them.
func (v *View) repeated(pks []model.TxPk, ids []model.Hash) (all []repetition, err error) {
	from, ok := unrepeatedFrom[v.chain.Network()]
	if !ok {
		from = math.MaxInt32
	}
	var coinbases []model.Hash
	var at []int // of coinbases, in pks
	for i, pk := range pks {
		if pk.TxIndex() == 0 && int64(pk.Height()) < int64(from) {
			coinbases, at = append(coinbases, ids[i]), append(at, i)
		}
	}
	if len(coinbases) == 0 {
		return nil, nil
	}
	found, err := v.q.TxPks(coinbases)
	if err != nil {
		return nil, err
	}
	for i, same := range found {
		if len(same) < 2 {
			continue
		}
		if all == nil {
			all = make([]repetition, len(pks))
		}
		if all[at[i]] = earlier; same[0] == pks[at[i]] {
			all[at[i]] = latest
		}
	}
	return all, nil
}
