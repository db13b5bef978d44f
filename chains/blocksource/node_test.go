package blocksource_test

import (
	"context"
	"encoding/binary"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"birthmark/chains/blocksource"
	"birthmark/model"
)

// grow adds n blocks to a chain; blocks of different branches differ.
func grow(chain []*model.Block, n int, branch byte) []*model.Block {
	chain = slices.Clone(chain)
	for range n {
		b := &model.Block{Height: model.HeightPk(len(chain)), Size: 300}
		if len(chain) > 0 {
			b.Parent = chain[len(chain)-1].Hash
		}
		binary.BigEndian.PutUint32(b.Hash[:], uint32(len(chain))+1)
		b.Hash[4] = branch
		chain = append(chain, b)
	}
	return chain
}

func points(chain []*model.Block) (ps []model.Point) {
	for _, b := range chain {
		ps = append(ps, b.Point())
	}
	return ps
}

// scripted is a node in memory.
type scripted struct {
	mu     sync.Mutex
	chain  []*model.Block
	change chan struct{} // closed when chain changes

	calls  int
	before func(call int) error // called before every call
	blocks func([]*model.Block) []*model.Block
	named  func(tip model.Point) model.Point // replaces the tip if it is not nil
}

func serve(chain []*model.Block) *scripted {
	return &scripted{chain: chain, change: make(chan struct{})}
}

func (s *scripted) set(chain []*model.Block) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.chain = chain
	close(s.change)
	s.change = make(chan struct{})
}

func (s *scripted) call() ([]*model.Block, chan struct{}, error) {
	s.mu.Lock()
	s.calls++
	n := s.calls
	s.mu.Unlock()
	var err error
	if s.before != nil {
		err = s.before(n)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.chain, s.change, err
}

func (s *scripted) Tip(context.Context) (model.Point, error) {
	chain, _, err := s.call()
	if err != nil || len(chain) == 0 {
		return model.Point{}, err
	}
	tip := chain[len(chain)-1].Point()
	if s.named != nil {
		tip = s.named(tip)
	}
	return tip, nil
}

func (s *scripted) Hashes(_ context.Context, from model.HeightPk, n int) (hashes []model.Hash, err error) {
	chain, _, err := s.call()
	for h := int(from); err == nil && h < len(chain) && len(hashes) < n; h++ {
		hashes = append(hashes, chain[h].Hash)
	}
	return hashes, err
}

func (s *scripted) Blocks(_ context.Context, ps []model.Point, limit int64) (blocks []*model.Block, err error) {
	chain, _, err := s.call()
	if err != nil {
		return nil, err
	}
	for _, p := range ps {
		if limit < 0 {
			break
		}
		if int(p.Height) >= len(chain) || chain[p.Height].Hash != p.Hash {
			return nil, blocksource.ErrMoved
		}
		blocks = append(blocks, chain[p.Height])
		limit -= int64(chain[p.Height].Size)
	}
	if s.blocks != nil {
		blocks = s.blocks(blocks)
	}
	return blocks, nil
}

func (s *scripted) Changed(ctx context.Context, tip model.Point) error {
	for {
		chain, change, err := s.call()
		if err != nil || len(chain) == 0 && !tip.IsOrigin() || len(chain) > 0 && chain[len(chain)-1].Point() != tip {
			return err
		}
		select {
		case <-change:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (s *scripted) Close() error { return nil }

var quick = blocksource.Retry{First: time.Microsecond, Most: time.Millisecond, Patience: 10 * time.Minute}

// mirror applies events and fails if they do not form a chain.
type mirror struct {
	t     *testing.T
	chain []*model.Block
	backs int
}

func (m *mirror) take(e model.Event) {
	m.t.Helper()
	switch {
	case e.Rollback != nil:
		m.backs++
		n := 0
		if !e.Rollback.IsOrigin() {
			n = int(e.Rollback.Height) + 1
		}
		if n > len(m.chain) || n > 0 && m.chain[n-1].Point() != *e.Rollback {
			m.t.Fatalf("rollback to %d %s, which is not in the chain", e.Rollback.Height, e.Rollback.Hash)
		}
		m.chain = m.chain[:n:n]
	case int(e.Block.Height) != len(m.chain):
		m.t.Fatalf("block %d, expected %d", e.Block.Height, len(m.chain))
	case len(m.chain) > 0 && m.chain[len(m.chain)-1].Hash != e.Block.Parent:
		m.t.Fatalf("block %d is not the child of the previous block", e.Block.Height)
	default:
		m.chain = append(m.chain, e.Block)
	}
}

func (m *mirror) is(chain []*model.Block) {
	m.t.Helper()
	if !slices.Equal(points(m.chain), points(chain)) {
		m.t.Fatalf("the chain has %d blocks, expected %d, or different blocks", len(m.chain), len(chain))
	}
}

// known returns the points that a database with this chain passes to a source: newest first.
func known(chain []*model.Block) []model.Point {
	ps := points(chain)
	slices.Reverse(ps)
	return ps
}

// all follows a source to its end.
func (m *mirror) all(n blocksource.Node, o blocksource.Options) error {
	m.t.Helper()
	if o.Retry == (blocksource.Retry{}) {
		o.Retry = quick
	}
	src := blocksource.NewSource(n, o)
	for e, err := range src.Follow(m.t.Context(), known(m.chain)) {
		if err != nil {
			return err
		}
		m.take(e)
	}
	return nil
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

var errBroken = errors.New("connection broken")
