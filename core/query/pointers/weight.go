package pointers

import (
	"birthmark/core/schema"
	"birthmark/model"
)

// BlockWeight returns the weight of the block at h (BIP 141): four times the bytes that no transaction has, and the
// weight of each transaction. ok is false if the chain has no weight, or the raw transactions are neither stored nor in
// the files of a node, or cannot be read from there.
func (q *Reader) BlockWeight(h model.HeightPk) (weight int, ok bool, err error) {
	weigher, ok := q.Chain.(model.TxWeigher)
	if !ok || !q.Layout.Raw && !q.Layout.RawFiles {
		return 0, false, nil
	}
	row, err := schema.BlockAt(q.R, h)
	if err != nil {
		return 0, false, err
	}
	weight = 4 * row.Size
	err = q.EachRaw(h, func(raw []byte) error {
		w, _, err := weigher.WeighTx(raw)
		weight += w - 4*len(raw)
		return err
	})
	if Unavailable(err) {
		return 0, false, nil
	}
	return weight, err == nil, err
}
