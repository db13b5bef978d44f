package ledger

import (
	"birthmark/chains/cardano/genesis"
	"birthmark/model"
)

// DecodedFactor is the estimated memory of a block while it is processed, per serialized byte: the bytes, and their
// model.
const DecodedFactor = 4

// Decoded is a decoded block, or a boundary block, which has no height.
type Decoded struct {
	*model.Block
	Boundary bool
}

// Linker checks that each block is the child of the one before. Parent links go through boundary blocks; only the one
// before the first block is yielded.
type Linker struct {
	Decoder  *Decoder // decodes the genesis
	Tip      model.Point
	Boundary *model.Block // since the tip
}

// Link returns the block as core stores it; nil for a boundary block that is left out. The first block gets the
// genesis.
func (l *Linker) Link(d Decoded) (*model.Block, error) {
	b, first := d.Block, l.Tip.IsOrigin()
	if first && b.Height > 0 {
		return nil, model.Errorf(model.BadSource, "no_genesis", "the first block is %d at slot %d (%s): expected block 0", b.Height, b.Slot, b.Hash)
	}
	if err := CheckNetwork(l.Decoder.Network, b, first); err != nil {
		return nil, err
	}
	switch {
	case first:
		outputs, err := l.Decoder.Network.Outputs()
		if err != nil {
			return nil, err
		}
		b.Genesis = l.Decoder.Clone().Genesis(outputs)
	case d.Boundary:
		if b.Parent != l.Tip.Hash {
			return nil, l.broken(b)
		}
		l.Boundary = b
		return nil, nil
	case l.Boundary != nil && b.Parent == l.Boundary.Hash:
		b.Parent = l.Boundary.Parent
	case b.Parent != l.Tip.Hash:
		return nil, l.broken(b)
	}
	l.Tip, l.Boundary = b.Point(), nil
	return b, nil
}

func (l *Linker) broken(b *model.Block) error {
	return model.Errorf(model.BadSource, "bad_chain", "block %d at slot %d (%s) has the parent %s: expected block %d, %s",
		b.Height, b.Slot, b.Hash, b.Parent, l.Tip.Height, l.Tip.Hash)
}

// Genesis returns the outputs before the first block as transactions.
func (d *Decoder) Genesis(outputs []genesis.Output) []model.Tx {
	d.forget()
	for _, o := range outputs {
		first := len(d.outputs)
		d.add(&Output{Address: o.Address, Value: o.Value})
		d.Txs = append(d.Txs, model.Tx{Hash: o.Tx, Outputs: d.outputs[first:len(d.outputs):len(d.outputs)]})
	}
	d.Of, d.Header, d.Failed, d.Parts = nil, HeaderFields{}, nil, nil
	d.index.Block(&d.Transactions)
	b := model.Block{}
	d.detach(&b)
	return b.Txs
}
