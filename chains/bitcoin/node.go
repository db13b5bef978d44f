package bitcoin

import (
	"context"
	"errors"
	"sync"

	"birthmark/chains/blocksource"
	"birthmark/chains/indexexpr"
	"birthmark/model"
)

// rawNode is a node, or a set of peers, that hands out serialized blocks: package rpc and package p2p.
type rawNode interface {
	Tip(ctx context.Context) (model.Point, error)
	Hashes(ctx context.Context, from model.HeightPk, n int) ([]model.Hash, error)
	Changed(ctx context.Context, tip model.Point) error
	Close() error

	// Raw fetches blocks as [blocksource.Node.Blocks] does, serialized. Their hashes are those asked for.
	Raw(ctx context.Context, points []model.Point, limit int64) ([][]byte, error)
}

// decodedNode decodes the blocks of a node.
type decodedNode struct {
	rawNode
	name     string // without secrets
	decoders sync.Pool
}

// newSource is the chain of a node as a source.
func newSource(n *network, defined *indexexpr.Indexes, name string, raw rawNode, o model.SourceOptions) (model.Source, error) {
	d, err := newDecoder(n, defined, o.Indexes)
	if err != nil {
		return nil, err
	}
	d.raw = o.Raw
	node := &decodedNode{rawNode: raw, name: name, decoders: sync.Pool{New: func() any { return d.clone() }}}
	options := blocksource.Options{Name: name, Follow: o.Follow, To: o.To, Workers: o.Workers, Memory: o.Memory, Outage: o.Outage}
	if c, ok := raw.(model.UnspentCounter); ok {
		return blocksource.NewSource(countingNode{node, c}, options), nil
	}
	return blocksource.NewSource(node, options), nil
}

// countingNode is a node that counts what is unspent as well.
type countingNode struct {
	*decodedNode
	model.UnspentCounter
}

// Blocks fetches and decodes blocks. One that does not decode is an error of its source, not to be tried again: its
// hash is right, and whoever else has it has the same.
func (n *decodedNode) Blocks(ctx context.Context, points []model.Point, limit int64) ([]*model.Block, error) {
	raws, err := n.Raw(ctx, points, limit)
	if err != nil {
		return nil, err
	}
	d := n.decoders.Get().(*decoder)
	defer n.decoders.Put(d)
	blocks := make([]*model.Block, len(raws))
	for i, raw := range raws {
		if blocks[i], err = d.block(raw, points[i].Height); err != nil {
			_, code := model.KindOf(err)
			if _, ok := errors.AsType[*model.Error](err); !ok {
				code = "bad_block"
			}
			return nil, model.Errorf(model.BadSource, code, "block %d (%s) from %s: %w", points[i].Height, formatHash(points[i].Hash), n.name, err)
		}
	}
	return blocks, nil
}
