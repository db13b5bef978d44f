package core_test

import (
	"context"

	"birthmark/model"
	"birthmark/model/modeltest"
)

// bitcoin is the variant of the hand-made chains. The indexes of its keys are address, tag, box, label.
var bitcoin = modeltest.Variant{Name: "by hand", Coinbase: true, ByHand: true}

func key(index int, value string) model.Key { return model.Key{Index: index, Value: []byte(value)} }

// after returns a child of b with the transactions after a coinbase.
func after(b *model.Block, n byte, txs ...model.Tx) *model.Block {
	c := &model.Block{Hash: hash(n), Txs: append([]model.Tx{{Hash: hash(n), Outputs: []model.Output{{Value: 1}}}}, txs...)}
	if b != nil {
		c.Height, c.Parent = b.Height+1, b.Hash
	}
	return c
}

func spending(n byte, in ...model.Input) model.Tx {
	return model.Tx{Hash: hash(n), Inputs: in, Outputs: []model.Output{{Value: 0}}}
}

func hash(n byte) (h model.Hash) {
	h[0] = n
	return h
}

// shelf is a source with random access to its blocks.
type shelf struct {
	model.Source
	blocks []*model.Block
}

func (s shelf) Tip(context.Context) (model.Point, error) {
	return s.blocks[len(s.blocks)-1].Point(), nil
}

func (s shelf) BlockAt(_ context.Context, h model.HeightPk) (*model.Block, error) {
	for _, b := range s.blocks {
		if b.Height == h {
			return b, nil
		}
	}
	return nil, model.Errorf(model.NotFound, "unknown_block", "no block at height %d", h)
}
