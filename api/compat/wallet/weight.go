package wallet

// Weigh sets the weight of a block (BIP 141), which it reads from the block's transactions. It remains 0, unknown, if
// these are neither stored nor in the files of a node.
func (v *View) Weigh(b *Block) error {
	weight, known := v.chain.weights.Get(b.Hash)
	if !known {
		var err error
		if weight, known, err = v.q.BlockWeight(b.Height); err != nil || !known {
			return err
		}
		v.chain.weights.Put(b.Hash, weight)
	}
	b.Weight = weight
	return nil
}
