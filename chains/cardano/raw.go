package cardano

import (
	"errors"

	"golang.org/x/crypto/blake2b"

	"birthmark/model"
)

// parts are the bytes of a transaction as they stand apart from each other in its block. Of Byron body is all of it.
type parts struct{ body, witnesses, auxiliary []byte }

const (
	simpleFalse = majorSimple<<5 | 20
	simpleTrue  = majorSimple<<5 | 21
	simpleNull  = majorSimple<<5 | 22
)

// auxiliary takes the auxiliary data of each transaction from the map at start, which the walker has passed.
func (d *decoder) auxiliary(start int) {
	w := walker{b: d.w.b[:d.w.at], at: start}
	for n := w.pairs("auxiliary data"); w.more(&n); {
		i := w.uint("position of auxiliary data")
		if data := w.item("auxiliary data"); w.err == nil && i < uint64(len(d.parts)) {
			d.parts[i].auxiliary = data
		}
	}
}

// keepRaw gives each transaction of a block its bytes as [model.Tx.Raw]: what a wallet hands to a node (rule transaction
// of the ledger's CDDL), body, witnesses, since Alonzo whether its scripts succeeded, and auxiliary data or null, each as
// it stands in the block. Byron's stand there in one piece.
func (d *decoder) keepRaw(txs []model.Tx, era byte) {
	room := 0
	for i := range d.parts {
		p := &d.parts[i]
		room += len("[") + len(p.body) + len(p.witnesses) + len(p.auxiliary) + 2
	}
	own := make([]byte, 0, room)
	for i := range txs {
		p, start := &d.parts[i], len(own)
		switch {
		case era < eraShelley:
			own = append(own, p.body...)
		case era < eraAlonzo:
			own = append(append(append(own, majorArray<<5|3), p.body...), p.witnesses...)
		default:
			own = append(append(append(own, majorArray<<5|4), p.body...), p.witnesses...)
			if d.failed[i] {
				own = append(own, simpleFalse)
			} else {
				own = append(own, simpleTrue)
			}
		}
		switch {
		case era < eraShelley:
		case p.auxiliary == nil:
			own = append(own, simpleNull)
		default:
			own = append(own, p.auxiliary...)
		}
		txs[i].Raw = own[start:len(own):len(own)]
	}
}

// hashTx returns the id of a transaction in the form of [model.Tx.Raw]: the hash of its body, the first item.
func hashTx(raw []byte) (model.Hash, error) {
	w := walker{b: raw}
	n := w.array("transaction")
	w.field(&n, "body")
	body := w.item("body")
	for w.more(&n) {
		w.skip("transaction")
	}
	if w.err == nil && w.at < len(raw) {
		w.err = errors.New("bytes follow the transaction")
	}
	return blake2b.Sum256(body), w.err
}
