package rpc

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"time"

	"birthmark/chains/blocksource"
	"birthmark/chains/nodehttp"
	"birthmark/model"
)

// Options say which node is asked, and what it has to be.
type Options struct {
	URL string // http(s)://[USER[:PASSWORD]@]HOST[:PORT][/PATH][?cert=FILE]
	// Password is asked where the URL has none, and again when it was refused; nil or an empty answer: there is none. One
	// that holds a colon is user:password, as a node's cookie file has it.
	Password func() (string, error)
	Network  string     // its name for errors: mainnet
	Genesis  model.Hash // block 0 of the network
	Port     string     // where the URL has none: the network's default for JSON-RPC
}

// Client asks one node. Its methods may be called at the same time.
type Client struct {
	options Options
	http    *nodehttp.Client // its Connected: there was a session
	keys    *keyring
	poll    time.Duration

	connecting chan struct{}        // held by whoever makes a session
	session    atomic.Pointer[node] // how the node is asked; nil: it has to be found out
	authorized atomic.Bool          // the node has taken a password of ours
	toldSync   atomic.Bool          // that the node is behind was logged
}

// node is one way to ask a node. Errors are those of [Client], but for [missing] and [errNoREST].
type node interface {
	// info is the state of the node's chain.
	info(ctx context.Context) (chainInfo, error)
	// best is the hash of the last block of the node's best chain.
	best(ctx context.Context) (model.Hash, error)
	hashes(ctx context.Context, from model.HeightPk, n int) ([]model.Hash, error)
	// raw is the blocks of points, or the first of them where a later one fails. [missing] where the first is not there.
	raw(ctx context.Context, points []model.Point, limit int64) ([][]byte, error)
}

// New makes a client. It looks at the URL and at the certificate it names, and asks nobody anything: an error is of
// kind [model.Usage], code bad_source.
func New(o Options) (*Client, error) {
	h, err := nodehttp.New(&kind, o.URL, o.Port)
	if err != nil {
		return nil, err
	}
	keys := newKeyring(h.User(), o.Password)
	h.Redact = keys.redact
	return &Client{options: o, http: h, keys: keys, connecting: make(chan struct{}, 1), poll: 300 * time.Millisecond}, nil
}

// Host is the node's name and port, as errors name it: nothing secret is in it.
func (c *Client) Host() string { return c.http.Host() }

// Connect finds out how the node is asked and whether it is one of the network. It needs not be called: every other
// method does what it does where it is needed.
func (c *Client) Connect(ctx context.Context) error {
	_, err := c.connect(ctx, c.session.Load())
	return err
}

// connect makes a session in place of old, unless somebody else has.
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
	c.session.Store(&n)
	c.http.Connected.Store(true)
	return &n, nil
}

// probe looks at the node: whether REST answers, and what chain it has.
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
	if genesis != c.options.Genesis {
		return nil, model.Errorf(model.BadSource, "wrong_network", "%s is a node of bitcoin %s, its block 0 is %s: expected %s, %s",
			c.Host(), c.network(info), show(genesis), c.options.Network, show(c.options.Genesis))
	}
	c.tellSync(info)
	return n, nil
}

// ask asks the node in the way there is. What waiting can heal makes the next call look at the node anew.
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

// Tip is the last block of the node's best chain, which it has whole. A node that is behind what it knows of the chain
// is told in the log, once.
func (c *Client) Tip(ctx context.Context) (model.Point, error) {
	return ask(ctx, c, func(n node) (model.Point, error) {
		info, err := n.info(ctx)
		if err != nil {
			return model.Point{}, err
		}
		c.tellSync(info)
		return info.tip, nil
	})
}

// Hashes is the best chain from a height on: at most n hashes, fewer at its end, none above it. They come in several
// answers, which may be of different chains where it changes meanwhile: the blocks tell.
func (c *Client) Hashes(ctx context.Context, from model.HeightPk, n int) ([]model.Hash, error) {
	if n <= 0 {
		return nil, nil
	}
	return ask(ctx, c, func(node node) ([]model.Hash, error) { return node.hashes(ctx, from, n) })
}

// Raw is the serialized blocks of points in order, each of the hash that was asked for: at least the first, and fewer
// than all where they have come to limit bytes or a later one is not to be had. [blocksource.ErrMoved] where the node's best
// chain does not have the first any more.
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

// Changed returns when the node's best chain no longer ends in tip. It asks about three times a second: neither Core
// nor btcd can be made to tell over plain HTTP in a way both have.
func (c *Client) Changed(ctx context.Context, tip model.Point) error {
	for {
		best, err := ask(ctx, c, func(n node) (model.Hash, error) { return n.best(ctx) })
		if err != nil || best != tip.Hash {
			return err
		}
		select {
		case <-time.After(c.poll):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Close lets go of the connections. No call may be under way.
func (c *Client) Close() error { return c.http.Close() }

// tellSync logs once that the node itself is not at the end of the chain. One block behind its headers is any node that
// is just connecting it.
func (c *Client) tellSync(i chainInfo) {
	behind := i.Initial || i.Headers > i.Blocks+1
	if behind && c.toldSync.CompareAndSwap(false, true) {
		slog.Info("the node itself is still syncing: it is followed as far as it is", "node", c.Host(), "blocks", i.Blocks, "headers", i.Headers)
	}
}
