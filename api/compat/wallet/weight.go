package wallet

import "birthmark/model"

// weight returns the weight of a block (BIP 141): of its header, the number of its transactions, and the transactions.
// It is 0, unknown, if the transactions are neither stored nor in the files of a node.
func (v *View) weight(b *Block) (int, error) {
	weigher, ok := v.chain.served.Model.(model.TxWeigher)
	if !ok || !v.q.Layout.Raw && !v.q.Layout.RawFiles {
		return 0, nil
	}
	if weight, known := v.chain.weights.get(b.Hash); known {
		return weight, nil
	}
	weight := 4 * (headerSize + compactSize(b.TxCount))
	err := v.q.EachRaw(b.Height, func(raw []byte) error {
		w, _, err := weigher.WeighTx(raw)
		weight += w
		return err
	})
	if kind, _ := model.KindOf(err); kind == model.NotFound {
		return 0, nil // the node no longer has the file
	}
	if err != nil {
		return 0, err
	}
	v.chain.weights.put(b.Hash, weight)
	return weight, nil
}

// compactSize returns the size in bytes of a number in the serialization of Bitcoin.
func compactSize(n int) int {
	switch {
	case n < 0xfd:
		return 1
	case n <= 0xffff:
		return 3
	}
	return 5
}
