package ergo

import (
	"context"
	"slices"
	"sync"

	"birthmark/chains/adapter"
	"birthmark/chains/blocksource"
	"birthmark/chains/ergo/rest"
	"birthmark/model"
)

// restNode decodes the blocks of a node.
type restNode struct {
	*rest.Client
	net      *network
	decoders sync.Pool
}

// openREST returns a node as a source. It sends no request yet.
func openREST(d *decoder, _ string, o model.SourceOptions) (model.Source, error) {
	return openNode(d, restOptions(d.net, o), blocksource.Options{SourceOptions: o})
}

// restOptions returns the options of the node that o.URI names.
func restOptions(n *network, o model.SourceOptions) rest.Options {
	return rest.Options{URL: o.URI, Password: o.Password, Proxy: o.Proxy, Network: n.name, First: n.firstBlock(), Port: n.port}
}

func openNode(d *decoder, client rest.Options, o blocksource.Options) (model.Source, error) {
	c, err := rest.New(client)
	if err != nil {
		return nil, err
	}
	o.Name, o.First = c.Host(), firstHeight
	n := &restNode{Client: c, net: d.net, decoders: sync.Pool{New: func() any { return d.clone() }}}
	return &nodeSource{blockStream: blocksource.NewSource(n, o).(blockStream), node: n}, nil
}

// Blocks fetches blocks and decodes each while the next one is in transit. A block that does not decode is a permanent
// error. An error after a block is left to the next call, which starts there.
func (n *restNode) Blocks(ctx context.Context, points []model.Point, limit int64) (blocks []*model.Block, err error) {
	ids := make([]model.Hash, len(points))
	for i, p := range points {
		ids[i] = p.Hash
	}
	d := n.decoders.Get().(*decoder)
	defer n.decoders.Put(d)
	size := int64(0)
	err = n.Client.Blocks(ctx, ids, func(raw []byte) (more bool, err error) {
		p := points[len(blocks)]
		b, err := d.block(raw)
		if err != nil {
			return false, adapter.BadBlock(err, "block %d %s from %s", p.Height, p.Hash, n.Host())
		}
		if b.Hash != p.Hash {
			if slices.Contains(ids[len(blocks)+1:], b.Hash) {
				return false, nil // the node left out the one before
			}
			return false, model.Errorf(model.BadSource, "bad_answer", "requested block %d %s, but %s returned block %d %s", p.Height, p.Hash, n.Host(), b.Height, b.Hash)
		}
		if b.Height != p.Height {
			// A node that started from a proof of the chain has few old headers and counts only these.
			return false, model.Errorf(model.BadSource, "headers_missing",
				"%s has block %s of height %d at height %d: its headers are incomplete, use a node that has all headers", n.Host(), b.Hash, b.Height, p.Height)
		}
		blocks = append(blocks, b)
		size += int64(b.Size)
		return size < limit && len(blocks) < len(points), nil
	})
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case len(blocks) == 0 && err == nil:
		return nil, n.Missing(ctx, points[0])
	case len(blocks) == 0:
		return nil, err
	case blocks[0].Height == firstHeight:
		blocks[0].Genesis, err = n.genesis(ctx, d)
		return blocks, err
	}
	return blocks, nil
}

// genesis returns the boxes before block 1: built in, else from the node.
func (n *restNode) genesis(ctx context.Context, d *decoder) ([]model.Tx, error) {
	if boxes := n.net.genesisBoxes(); boxes != nil {
		return d.genesis(boxes)
	}
	boxes, err := n.GenesisBoxes(ctx)
	if err != nil {
		return nil, err
	}
	txs, err := d.genesis(boxes)
	if err != nil {
		_, code := model.KindOf(err)
		err = model.Errorf(model.BadSource, code, "%s: %w", n.Host(), err)
	}
	return txs, err
}
