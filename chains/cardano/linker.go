package cardano

import "birthmark/model"

// decodedFactor is how many bytes a block takes under way for each byte serialized: itself, and the model of it.
const decodedFactor = 4

// placed is a block, or a boundary block, which has no height of its own.
type placed struct {
	*model.Block
	boundary bool
}

// linker checks that each block is the child of the one before. Parent links go through boundary blocks; only that
// before the first block has a place of its own.
type linker struct {
	net      *network
	decoder  *decoder // what makes the genesis
	tip      model.Point
	boundary *model.Block // since the tip
}

// link is the block as the core is to have it, nil where it is left out.
func (l *linker) link(d placed) (*model.Block, error) {
	b, first := d.Block, l.tip.IsOrigin()
	if first && b.Height > 0 {
		return nil, model.Errorf(model.BadSource, "no_genesis", "the first block is %d at slot %d (%s): expected block 0", b.Height, b.Slot, b.Hash)
	}
	if err := belongs(l.net, b, first); err != nil {
		return nil, err
	}
	switch {
	case first:
		outputs, err := l.net.genesisTxs()
		if err != nil {
			return nil, err
		}
		b.Genesis = l.decoder.clone().genesis(outputs)
	case d.boundary:
		if b.Parent != l.tip.Hash {
			return nil, l.broken(b)
		}
		l.boundary = b
		return nil, nil
	case l.boundary != nil && b.Parent == l.boundary.Hash:
		b.Parent = l.boundary.Parent
	case b.Parent != l.tip.Hash:
		return nil, l.broken(b)
	}
	l.tip, l.boundary = b.Point(), nil
	return b, nil
}

func (l *linker) broken(b *model.Block) error {
	return model.Errorf(model.BadSource, "bad_chain", "block %d at slot %d (%s) has the parent %s: expected block %d, %s",
		b.Height, b.Slot, b.Hash, b.Parent, l.tip.Height, l.tip.Hash)
}

// genesis is what exists before the first block as transactions.
func (d *decoder) genesis(outputs []genesisOutput) []model.Tx {
	d.forget()
	for _, o := range outputs {
		first := len(d.outputs)
		d.add(&output{address: o.Address, value: o.Value})
		d.txs = append(d.txs, model.Tx{Hash: o.Tx, Outputs: d.outputs[first:len(d.outputs):len(d.outputs)]})
	}
	d.of, d.header, d.failed, d.parts = nil, fields{}, nil, nil
	d.index.block(&d.transactions)
	b := model.Block{}
	d.detach(&b)
	return b.Txs
}
