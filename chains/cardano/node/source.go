package node

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"birthmark/chains/blocksource"
	"birthmark/chains/cardano/genesis"
	"birthmark/chains/cardano/ledger"
	"birthmark/chains/cardano/ouroboros"
	"birthmark/model"
)

// Source implements [model.Source] for a node: a relay over TCP, or a node on this machine over its Unix socket.
type Source struct {
	net             *genesis.Network
	options         model.SourceOptions
	decoder         *ledger.Decoder // goroutines clone it
	scheme, address string
	Connect         ouroboros.Options
	Retry           blocksource.Retry
	Poll            time.Duration // interval of checks of a node that is behind
	reached         atomic.Bool   // the node was reached

	mu   sync.Mutex
	idle []*ouroboros.Conn
}

// idleConns is the maximum number of idle connections.
const idleConns = 4

// Open returns the source of a node: network is tcp or unix, rest follows the scheme in the URI. An error is of kind
// [model.Usage], code bad_source.
func Open(d *ledger.Decoder, scheme, rest string, o model.SourceOptions) (*Source, error) {
	address, err := parseAddress(scheme, rest)
	if err != nil {
		return nil, err
	}
	n := d.Network
	if o.Memory <= 0 {
		o.Memory = blocksource.DefaultMemory
	}
	return &Source{
		net: n, options: o, decoder: d, scheme: scheme, address: address, Poll: time.Second,
		Connect: ouroboros.Options{Magic: n.Magic, Memory: o.Memory / 4, Proxy: o.Proxy, Describe: func(tag byte, header []byte) (ouroboros.Header, error) { return describe(n, tag, header) }},
	}, nil
}

// describe reads a header of chain-sync.
func describe(n *genesis.Network, tag byte, header []byte) (h ouroboros.Header, err error) {
	raw := append(append(make([]byte, 0, 1+len(header)), tag), header...)
	if h.Hash, err = ledger.HashHeader(raw); err != nil {
		return h, err
	}
	parsed, err := ledger.ParseHeader(n, raw)
	if err != nil {
		return h, model.Errorf(model.BadSource, "bad_block", "%s header of block %x: %w", ledger.EraNames[tag], h.Hash, err)
	}
	h.Slot, h.Size = parsed.Slot, len(header)
	const maxBody = 1 << 30
	if parsed.BodySize < maxBody {
		h.Size += int(parsed.BodySize)
	}
	return h, nil
}

func (s *Source) outage() *blocksource.Outage {
	return blocksource.NewOutage(s.scheme+"://"+s.address, s.Retry, s.options)
}

// Tip returns the node's tip.
func (s *Source) Tip(ctx context.Context) (model.Point, error) {
	return blocksource.Contact(ctx, s.outage(), s.reached.Load(), func() (model.Point, error) { return query(ctx, s, s.tip) })
}

func (s *Source) tip(ctx context.Context, c *ouroboros.Conn) (model.Point, error) {
	_, tip, err := c.Intersect(ctx, nil)
	if err != nil || tip.Point.IsOrigin() {
		return model.Point{}, err
	}
	return s.point(tip)
}

// point returns the point of a node's tip.
func (s *Source) point(tip ouroboros.Tip) (model.Point, error) {
	h, err := model.NewHeightPk(tip.Number)
	if err != nil {
		return model.Point{}, model.Errorf(model.BadSource, "bad_answer", "the tip of %s: %w", s.address, err)
	}
	return model.Point{Height: h, Slot: tip.Slot, Hash: tip.Hash}, nil
}

// Child implements [model.ChildReader].
func (s *Source) Child(ctx context.Context, after model.Point) (*model.Block, error) {
	return blocksource.Try(ctx, s.outage(), func() (*model.Block, error) {
		return query(ctx, s, func(ctx context.Context, c *ouroboros.Conn) (*model.Block, error) { return s.child(ctx, c, after) })
	})
}

func (s *Source) child(ctx context.Context, c *ouroboros.Conn, after model.Point) (*model.Block, error) {
	d := s.decoder.Clone()
	l := ledger.Linker{Decoder: s.decoder, Tip: after}
	for at := (ouroboros.Point{Slot: after.Slot, Hash: after.Hash}); ; {
		e, ok, err := c.Child(ctx, at)
		if err != nil {
			return nil, err
		}
		if !ok {
			return nil, model.Errorf(model.NotFound, "unknown_block", "no block comes after %d (%s) on the chain of %s", after.Height, after.Hash, s.address)
		}
		p, err := s.decode(d, e)
		if err != nil {
			return nil, err
		}
		if b, err := l.Link(p); b != nil || err != nil {
			return b, err
		}
		at = ouroboros.Point{Slot: p.Slot, Hash: p.Hash} // a boundary block: continue with its child
	}
}

// decode decodes a block and checks that it is the announced one.
func (s *Source) decode(d *ledger.Decoder, e ouroboros.Event) (ledger.Decoded, error) {
	b, boundary, err := d.Block(e.Block)
	want := e.Point
	switch {
	case err != nil:
		_, code := model.KindOf(err)
		if code == "internal" {
			code = "bad_block"
		}
		if !want.IsOrigin() {
			return ledger.Decoded{}, model.Errorf(model.BadSource, code, "block requested at %s from %s: %w", want, s.address, err)
		}
		return ledger.Decoded{}, model.Errorf(model.BadSource, code, "%s sent: %w", s.address, err)
	case !want.IsOrigin() && (b.Hash != want.Hash || b.Slot != want.Slot):
		return ledger.Decoded{}, model.Errorf(model.BadSource, "bad_block", "%s sent block %d at slot %d (%s) instead of the one at %s", s.address, b.Height, b.Slot, b.Hash, want)
	}
	return ledger.Decoded{Block: b, Boundary: boundary}, nil
}

// Close closes the idle connections.
func (s *Source) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.idle {
		c.Close()
	}
	s.idle = nil
	return nil
}

// conn returns a connection to the node. kept: it was idle, and may be broken.
func (s *Source) conn(ctx context.Context) (c *ouroboros.Conn, kept bool, err error) {
	s.mu.Lock()
	if n := len(s.idle); n > 0 {
		c, s.idle = s.idle[n-1], s.idle[:n-1]
	}
	s.mu.Unlock()
	if c != nil {
		return c, true, nil
	}
	c, err = ouroboros.Dial(ctx, s.scheme, s.address, s.Connect)
	switch {
	case err == nil:
		s.reached.Store(true)
	case s.reached.Load() && codeOf(err) == "unreachable":
		err = blocksource.Temporary(err) // the node was reached before
	}
	return c, false, err
}

func codeOf(err error) string {
	_, code := model.KindOf(err)
	return code
}

// release keeps a connection for the next query if it can serve one.
func (s *Source) release(c *ouroboros.Conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c.Used() || len(s.idle) == idleConns {
		c.Close()
		return
	}
	s.idle = append(s.idle, c)
}

// query sends a query to the node. If an idle connection fails it retries on a new one.
func query[T any](ctx context.Context, s *Source, f func(context.Context, *ouroboros.Conn) (T, error)) (T, error) {
	for {
		c, kept, err := s.conn(ctx)
		if err != nil {
			var none T
			return none, err
		}
		v, err := f(ctx, c)
		if kind, _ := model.KindOf(err); err == nil || kind == model.NotFound {
			s.release(c)
			return v, err
		}
		c.Close()
		if !kept || !blocksource.IsTemporary(err) {
			return v, err
		}
	}
}
