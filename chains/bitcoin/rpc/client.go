package rpc

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"time"

	"birthmark/chains/adapter"
	"birthmark/chains/bitcoin/block"
	"birthmark/chains/bitcoin/params"
	"birthmark/chains/blocksource"
	"birthmark/chains/nodehttp"
	"birthmark/model"
)

// Options select a node and its expected properties.
type Options struct {
	URL string // http(s)://[USER[:PASSWORD]@]HOST[:PORT][/PATH][?cert=FILE]
	// Password returns the password if the URL has none. It is called again after it was refused. nil or an empty
	// result: no password. With a colon it is user:password, as in a node's cookie file.
	Password func() (string, error)
	Network  *params.Network
	Proxy    string                  // as in [model.SourceOptions]
	Room     func(bytes int64) error // likewise
}

// Client sends requests to one node. Its methods may be called concurrently.
type Client struct {
	options Options
	http    *nodehttp.Client // Connected is set after the first session
	secret  *adapter.Secret[credentials]
	poll    time.Duration

	connecting chan struct{}        // held while a session is made
	session    atomic.Pointer[node] // how to send requests; nil: to be determined
	authorized atomic.Bool          // the node has accepted our password
	loggedSync atomic.Bool          // the message that the node is behind was logged

	features    features
	fees        feeCache
	feeLifetime time.Duration
	rawTxs      rawTxs
	held        block.Held
}

// node is one protocol of a node. It returns the errors of [Client], [missing] and [errNoREST].
type node interface {
	// info returns the state of the node's chain.
	info(ctx context.Context) (chainInfo, error)
	// best returns the hash of the last block of the node's best chain.
	best(ctx context.Context) (model.Hash, error)
	hashes(ctx context.Context, from model.HeightPk, n int) ([]model.Hash, error)
	// raw returns the blocks of points, or the first of them if a later one fails; [missing] if the first does not
	// exist.
	raw(ctx context.Context, points []model.Point, limit int64) ([][]byte, error)
}

// New returns a client. It parses the URL and reads its certificate file, without any request. The error is of kind
// [model.Usage], code bad_source.
func New(o Options) (*Client, error) {
	h, err := nodehttp.New(kind(o.Network), o.URL, o.Network.RPCPort, o.Proxy)
	if err != nil {
		return nil, err
	}
	c := &Client{options: o, http: h, secret: newSecret(h.User(), o.Password), connecting: make(chan struct{}, 1), poll: 300 * time.Millisecond,
		fees: newFeeCache(), feeLifetime: feeLifetime}
	h.Redact = c.redact
	return c, nil
}

// Host returns the node's name and port for errors, without secrets.
func (c *Client) Host() string { return c.http.Host() }

// connect determines the protocol and checks the network. It replaces the session old unless another goroutine has.
func (c *Client) connect(ctx context.Context, old *node) (*node, error) {
	select {
	case c.connecting <- struct{}{}:
		defer func() { <-c.connecting }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if now := c.session.Load(); now != old && now != nil {
		return now, nil
	}
	n, err := c.probe(ctx)
	if err != nil {
		c.session.Store(nil)
		return nil, err
	}
	c.features.forget()
	c.session.Store(&n)
	c.http.Connected.Store(true)
	return &n, nil
}

// probe finds out whether the node answers REST, and checks its chain.
func (c *Client) probe(ctx context.Context) (node, error) {
	var n node = restNode{c}
	info, genesis, err := restNode{c}.identify(ctx)
	if errors.Is(err, errNoREST) {
		n = rpcNode{c}
		info, genesis, err = rpcNode{c}.identify(ctx)
	}
	if err != nil {
		return nil, err
	}
	if want := c.options.Network; genesis != want.Genesis {
		return nil, model.Errorf(model.BadSource, "wrong_network", "%s is a node of %s %s, its block 0 is %s: expected %s, %s",
			c.Host(), want.Coin.Name, c.network(info), block.FormatHash(genesis), want.Name, block.FormatHash(want.Genesis))
	}
	if got, want := c.network(info), c.options.Network.Name; info.Challenge != "" && got != want {
		return nil, model.Errorf(model.BadSource, "wrong_network", "%s is a node of %s, whose challenge is %s: expected %s (setting signet_challenge)",
			c.Host(), got, adapter.Truncate(info.Challenge), want)
	}
	c.logSync(info)
	return n, nil
}

// ask calls f with the current session. After a temporary error the next call makes a new session.
func ask[T any](ctx context.Context, c *Client, do func(node) (T, error)) (v T, err error) {
	for again := false; ; again = true {
		n := c.session.Load()
		if n == nil {
			if n, err = c.connect(ctx, nil); err != nil {
				return v, err
			}
		}
		v, err = do(*n)
		gone := errors.Is(err, errNoREST)
		if gone || blocksource.IsTemporary(err) {
			c.session.CompareAndSwap(n, nil)
		}
		if gone && again {
			return v, c.http.Unreachable("it answers REST now and then")
		}
		if !gone {
			return v, err
		}
	}
}

// Tip returns the last complete block of the node's best chain. If the node is behind the known headers, this is logged
// once.
func (c *Client) Tip(ctx context.Context) (model.Point, error) {
	return ask(ctx, c, func(n node) (model.Point, error) {
		info, err := n.info(ctx)
		if err != nil {
			return model.Point{}, err
		}
		c.logSync(info)
		return info.tip, nil
	})
}

// Hashes returns the best chain from a height on: at most n hashes, fewer at its end. They come in several responses,
// which may belong to different chains during a reorganization: the links of the blocks show it.
func (c *Client) Hashes(ctx context.Context, from model.HeightPk, n int) ([]model.Hash, error) {
	if n <= 0 {
		return nil, nil
	}
	return ask(ctx, c, func(node node) ([]model.Hash, error) { return node.hashes(ctx, from, n) })
}

// Raw returns serialized blocks of points in order, with verified hashes: at least the first, and fewer than all if
// they exceed limit bytes or a later one fails. [blocksource.ErrMoved] if the first is no longer on the node's best
// chain, [*blocksource.LargeBlock] as in [blocksource.Node]. Release must be called with each block.
func (c *Client) Raw(ctx context.Context, points []model.Point, limit int64) ([][]byte, error) {
	if len(points) == 0 {
		return nil, nil
	}
	return ask(ctx, c, func(n node) ([][]byte, error) {
		blocks, err := n.raw(ctx, points, limit)
		if m, ok := errors.AsType[*missing](err); ok {
			err = c.explain(ctx, n, points[0], m)
		}
		return blocks, err
	})
}

// Release frees a block that Raw returned.
func (c *Client) Release(raw []byte) { c.held.Release(raw) }

// Invalidated implements [blocksource.Invalidator]. The best header of a node is never that of an invalid block.
func (c *Client) Invalidated(ctx context.Context, p model.Point) (bool, error) {
	return ask(ctx, c, func(n node) (bool, error) {
		blocks, err := n.raw(ctx, []model.Point{p}, 0)
		for _, raw := range blocks {
			c.Release(raw)
		}
		if _, lacks := errors.AsType[*missing](err); lacks {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		info, err := n.info(ctx)
		return err == nil && !info.Initial && max(info.Headers, info.Blocks) < int64(p.Height), err
	})
}

// Changed returns when the node's best chain no longer ends in tip. It polls three times per second: Core and btcd have
// no common notification over plain HTTP. Peers announce blocks earlier: see package p2p.
func (c *Client) Changed(ctx context.Context, tip model.Point) error {
	for {
		best, err := ask(ctx, c, func(n node) (model.Hash, error) { return n.best(ctx) })
		if err != nil || best != tip.Hash {
			return err
		}
		if err := blocksource.Sleep(ctx, c.poll); err != nil {
			return err
		}
	}
}

// Close closes the connections. No call may be active.
func (c *Client) Close() error { return c.http.Close() }

// logSync logs once that the node itself is behind. One block behind its headers is normal while a block is connected.
func (c *Client) logSync(i chainInfo) {
	behind := i.Initial || i.Headers > i.Blocks+1
	if behind && c.loggedSync.CompareAndSwap(false, true) {
		slog.Info("the node itself is still syncing: blocks are read as the node gets them", "node", c.Host(), "blocks", i.Blocks, "headers", i.Headers)
	}
}
