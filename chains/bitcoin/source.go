package bitcoin

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"

	"birthmark/chains/adapter"
	"birthmark/chains/bitcoin/block"
	"birthmark/chains/bitcoin/blockfile"
	"birthmark/chains/bitcoin/mempool"
	"birthmark/chains/bitcoin/p2p"
	"birthmark/chains/bitcoin/rpc"
	"birthmark/chains/blocksource"
	"birthmark/model"
)

// Open implements [model.Chain]: the source is a node's JSON-RPC and REST (http, https), peers (p2p), or block files
// (file, or a path).
func (c *chain) Open(ctx context.Context, o model.SourceOptions) (model.Source, error) {
	port := ""
	if c.net.Params != nil {
		port = c.net.Params.DefaultPort
	}
	schemes := []adapter.Scheme{
		{Names: []string{"http", "https"}, Usage: "http://user:password@host:" + c.net.RPCPort + " (a node)",
			Port: c.net.RPCPort, Open: c.openRPC},
		{Names: []string{"p2p"}, Usage: "p2p://host:" + port + " (peers, comma separated; p2p:// alone finds peers)",
			Port: port, Open: c.openPeers},
		{Names: []string{"file"}, Usage: "file:///path/to/blocks (a folder with blk*.dat, or one such file)", Open: c.openFiles},
	}
	if c.net.Params == nil { // the coin has no rules by which headers of peers are checked
		schemes = slices.Delete(schemes, 1, 2)
	}
	return c.Base.Open(ctx, o, schemes...)
}

func (c *chain) openFiles(ctx context.Context, o model.SourceOptions, path string) (model.Source, error) {
	decoder, err := c.decoders(o.Indexes, o.Raw, o.Room)
	if err != nil {
		return nil, err
	}
	return blockfile.Open(ctx, path, blockfile.Options{Network: c.net, Decoder: decoder, SourceOptions: o})
}

func (c *chain) openRPC(_ context.Context, o model.SourceOptions, _ string) (model.Source, error) {
	client, err := rpc.New(rpc.Options{URL: o.URI, Password: o.Password, Proxy: o.Proxy, Room: o.Room, Network: c.net})
	if err != nil {
		return nil, err
	}
	src, err := c.nodeSource(client.Host(), client, o)
	if err != nil {
		return nil, err
	}
	decode, err := c.txDecoder(o.Indexes)
	if err != nil {
		return nil, err
	}
	return &rpcSource{src.(blockStream), mempool.New(client, c.net.Coin.Format, decode)}, nil
}

// rpcSource is a node's blocks with its mempool.
type rpcSource struct {
	blockStream
	*mempool.Pool
}

// blockStream is the source that [blocksource.NewSource] returns for a [rpc.Client].
type blockStream interface {
	model.Source
	model.BlockReader
	model.Measurer
	model.UnspentCounter
}

// Close implements [model.Source].
func (s *rpcSource) Close() error { return errors.Join(s.Pool.Close(), s.blockStream.Close()) }

// txDecoder returns a function that decodes unconfirmed transactions with the values of the named indexes. It can be
// called concurrently.
func (c *chain) txDecoder(indexes []string) (func(raw []byte) (*model.Tx, error), error) {
	decoder, err := c.decoders(indexes, true, nil)
	if err != nil {
		return nil, err
	}
	decoders := sync.Pool{New: func() any { return decoder() }}
	return func(raw []byte) (*model.Tx, error) {
		d := decoders.Get().(*block.Decoder)
		defer decoders.Put(d)
		return d.Tx(raw)
	}, nil
}

func (c *chain) openPeers(_ context.Context, o model.SourceOptions, rest string) (model.Source, error) {
	var peers []string
	for _, p := range strings.Split(rest, ",") {
		if p = strings.TrimSpace(p); p != "" {
			peers = append(peers, p)
		}
	}
	options := p2p.Options{
		Params: c.net.Params, Rules: c.net.Rules, Format: c.net.Coin.Format,
		Services: c.net.Coin.Services, BlockType: c.net.Coin.BlockType, Segwit: c.net.Segwit, Extended: c.net.Extended,
		Peers: peers, Proxy: o.Proxy, LookupHost: c.net.LookupHost, Preparing: o.Preparing, Room: o.Room,
	}
	if o.Header != nil {
		options.Header = func(h model.HeightPk) ([]byte, error) { return o.Header(context.Background(), h) }
	}
	network, err := p2p.New(options)
	if err != nil {
		return nil, err
	}
	name := "peers of " + c.net.Params.Name
	if len(peers) > 0 {
		name = strings.Join(peers, ", ")
	}
	src, err := c.nodeSource(name, network, o)
	if err != nil {
		return nil, err
	}
	top := model.HeightPk(0)
	if len(o.Known) > 0 {
		top = o.Known[0].Height
	}
	network.Start(top)
	return src, nil
}

// rawNode is a node, or a set of peers, that returns serialized blocks: package rpc and package p2p.
type rawNode interface {
	Tip(ctx context.Context) (model.Point, error)
	Hashes(ctx context.Context, from model.HeightPk, n int) ([]model.Hash, error)
	Changed(ctx context.Context, tip model.Point) error
	Close() error

	// Raw fetches serialized blocks as [blocksource.Node.Blocks] does. Each has the requested hash. Release must be called
	// with each.
	Raw(ctx context.Context, points []model.Point, limit int64) ([][]byte, error)
	Release(raw []byte)
}

// node is a [blocksource.Node] that decodes the blocks of a rawNode.
type node struct {
	rawNode
	name     string // without secrets
	decoders sync.Pool
}

func (c *chain) nodeSource(name string, raw rawNode, o model.SourceOptions) (model.Source, error) {
	decoder, err := c.decoders(o.Indexes, o.Raw, o.Room)
	if err != nil {
		return nil, err
	}
	n := &node{rawNode: raw, name: name, decoders: sync.Pool{New: func() any { return decoder() }}}
	options := blocksource.Options{Name: name, SourceOptions: o}
	if counter, ok := raw.(model.UnspentCounter); ok {
		return blocksource.NewSource(countingNode{n, counter}, options), nil
	}
	return blocksource.NewSource(n, options), nil
}

// countingNode is a node that can count the unspent outputs.
type countingNode struct {
	*node
	model.UnspentCounter
}

// Measure implements [model.Measurer].
func (n *node) Measure(ctx context.Context, after model.Point, to model.HeightPk) (model.Extent, error) {
	if m, ok := n.rawNode.(model.Measurer); ok {
		return m.Measure(ctx, after, to)
	}
	return model.Extent{}, nil
}

// Invalidated implements [blocksource.Invalidator].
func (n *node) Invalidated(ctx context.Context, p model.Point) (bool, error) {
	if i, ok := n.rawNode.(blocksource.Invalidator); ok {
		return i.Invalidated(ctx, p)
	}
	return false, nil
}

// Blocks implements [blocksource.Node]. A block that cannot be decoded is a permanent error: its hash is the requested
// one, so every other node has the same bytes.
func (n *node) Blocks(ctx context.Context, points []model.Point, limit int64) ([]*model.Block, error) {
	raws, err := n.Raw(ctx, points, limit)
	if err != nil {
		return nil, err
	}
	d := n.decoders.Get().(*block.Decoder)
	defer n.decoders.Put(d)
	blocks := make([]*model.Block, len(raws))
	for i, raw := range raws {
		raws[i] = nil // a large block is garbage as soon as it is decoded
		blocks[i], err = d.Block(raw, points[i].Height)
		n.Release(raw)
		if err != nil {
			for _, rest := range raws[i+1:] {
				n.Release(rest)
			}
			return nil, adapter.BadBlock(err, "block %d (%s) from %s", points[i].Height, block.FormatHash(points[i].Hash), n.name)
		}
	}
	return blocks, nil
}
