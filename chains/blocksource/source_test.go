package blocksource_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"birthmark/chains/blocksource"
	"birthmark/internal/testseed"
	"birthmark/model"
)

func TestTheStreamIsTheNodesChain(t *testing.T) {
	chain := grow(nil, 5000, 0)
	for _, have := range []int{0, 1, 4999, 5000} {
		m := &mirror{t: t, chain: chain[:have:have]}
		must(t, m.all(serve(chain), blocksource.Options{}))
		m.is(chain)
		if m.backs != 0 {
			t.Errorf("%d blocks known: %d rollbacks", have, m.backs)
		}
	}
	to := model.HeightPk(1234)
	for _, follows := range []bool{false, true} {
		m := &mirror{t: t}
		must(t, m.all(serve(chain), blocksource.Options{SourceOptions: model.SourceOptions{To: &to, Follow: follows}}))
		m.is(chain[:1235])
	}
	m := &mirror{t: t}
	must(t, m.all(serve(nil), blocksource.Options{}))
	m.is(nil)
}

// A call that returns fewer or far larger blocks than expected is not an error.
func TestBlocksThatGrowAreFetchedInSmallerGroups(t *testing.T) {
	chain := grow(nil, 900, 0)
	for i, b := range chain {
		b.Size = []int{200, 4_000_000, 1000}[i/300]
	}
	n := serve(chain)
	m := &mirror{t: t}
	must(t, m.all(n, blocksource.Options{SourceOptions: model.SourceOptions{Workers: 3}}))
	m.is(chain)
	n.blocks = func(b []*model.Block) []*model.Block { return b[:(len(b)+1)/2] }
	m = &mirror{t: t}
	must(t, m.all(n, blocksource.Options{}))
	m.is(chain)
	n.blocks = func([]*model.Block) []*model.Block { return nil }
	m = &mirror{t: t}
	if err := m.all(n, blocksource.Options{Name: "the node"}); err == nil || !strings.Contains(err.Error(), "the node returned none") {
		t.Errorf("a node that returns no blocks: %v", err)
	}
}

// Reorganizations of any depth, to longer and shorter chains, offline and while following, at the tip and below.
func TestForksEndInTheNodesChain(t *testing.T) {
	trunk := grow(nil, 700, 0)
	for _, depth := range []int{1, 2, 10, 101, 500, 700} {
		for _, length := range []int{max(1, depth-3), depth, depth + 5} {
			theirs := grow(trunk[:700-depth], length, 1)
			m := &mirror{t: t, chain: trunk}
			must(t, m.all(serve(theirs), blocksource.Options{}))
			m.is(theirs)
			if m.backs != 1 {
				t.Errorf("depth %d: %d rollbacks", depth, m.backs)
			}
		}
	}
}

// A node that moves between the answers to two requests causes no block that it never had as its tip.
func TestTheLastBlockIsATipOfTheNode(t *testing.T) {
	first := grow(nil, 20, 0)
	second := grow(first[:15], 10, 1) // its block 20 was never a tip
	for call := 1; call <= 6; call++ {
		node := serve(first)
		node.before = func(n int) error {
			if n == call {
				node.set(second)
			}
			return nil
		}
		m := &mirror{t: t, chain: grow(first[:10], 0, 0)}
		src := blocksource.NewSource(node, blocksource.Options{Retry: quick, SourceOptions: model.SourceOptions{Follow: true}})
		for e, err := range src.Follow(t.Context(), known(first[:10])) {
			must(t, err)
			if m.take(e); e.Block != nil && e.Block.Height == e.Tip {
				if p := e.Block.Point(); p != first[19].Point() && p != second[24].Point() {
					t.Errorf("moved before call %d: block %d ends a batch", call, p.Height)
				}
			}
			if len(m.chain) == len(second) {
				break
			}
		}
		m.is(second)
	}
}

// A random sequence: the node grows, reorganizes, loses blocks and fails while it is followed. In the end both chains
// are equal.
func TestStreamEndsAtTheNodesLastChain(t *testing.T) {
	n := testseed.Of(t, 11)
	for round := range uint64(60) {
		rng := rand.New(rand.NewPCG(n, round))
		chain := grow(nil, 1+rng.IntN(300), 0)
		node := serve(chain)
		var mu sync.Mutex
		node.before = func(int) error {
			mu.Lock()
			defer mu.Unlock()
			switch rng.IntN(12) {
			case 0:
				return blocksource.Temporary(errBroken)
			case 1:
				time.Sleep(time.Duration(rng.IntN(200)) * time.Microsecond)
			}
			return nil
		}
		ctx, cancel := context.WithCancel(t.Context())
		final := make(chan []*model.Block, 1)
		go func() {
			mu.Lock()
			r := rand.New(rand.NewPCG(n+1, round))
			mu.Unlock()
			for i := range 1 + r.IntN(8) {
				time.Sleep(time.Duration(r.IntN(3000)) * time.Microsecond)
				chain = grow(chain[:r.IntN(len(chain)+1)], 1+r.IntN(200), byte(i+1))
				node.set(chain)
			}
			final <- chain
		}()
		m := &mirror{t: t}
		var last []*model.Block
		src := blocksource.NewSource(node, blocksource.Options{Retry: quick, Log: slog.New(slog.DiscardHandler), SourceOptions: model.SourceOptions{Follow: true}})
		for e, err := range src.Follow(ctx, nil) {
			if err != nil {
				t.Fatal(err)
			}
			m.take(e)
			if last == nil {
				select {
				case last = <-final:
				default:
				}
			}
			if last == nil && len(m.chain) > 0 {
				// The last event may have been the last block, so that no further event would follow.
				if node.tip() == m.chain[len(m.chain)-1].Point() {
					select {
					case last = <-final:
					case <-time.After(5 * time.Millisecond):
					}
				}
			}
			if last != nil && len(m.chain) == len(last) && m.chain[len(m.chain)-1].Hash == last[len(last)-1].Hash {
				break
			}
		}
		cancel()
		m.is(last)
	}
}

func (s *scripted) tip() model.Point {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.chain) == 0 {
		return model.Point{}
	}
	return s.chain[len(s.chain)-1].Point()
}

// A node that lost its newest blocks and fetches them again causes no rollback. A node with different blocks does.
func TestNodeThatLosesBlocksCausesNoRollback(t *testing.T) {
	chain := grow(nil, 50, 0)
	node := serve(chain)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	m := &mirror{t: t}
	src := blocksource.NewSource(node, blocksource.Options{Retry: quick, SourceOptions: model.SourceOptions{Follow: true}})
	for e, err := range src.Follow(ctx, nil) {
		must(t, err)
		m.take(e)
		switch len(m.chain) {
		case 50:
			if m.backs == 0 {
				node.set(chain[:30])
				node.set(chain[:45])
				node.set(grow(chain, 3, 0))
			}
		case 53:
			if m.backs != 0 {
				t.Fatalf("%d rollbacks", m.backs)
			}
			node.set(chain[:20])
			node.set(grow(chain[:20], 5, 1))
		case 25:
			if m.backs == 1 {
				cancel()
			}
		}
		if ctx.Err() != nil {
			break
		}
	}
	m.is(grow(chain[:20], 5, 1))
}

// invalidating is a node that reports that it invalidated the blocks above its tip.
type invalidating struct {
	*scripted
	invalid atomic.Bool
}

func (n *invalidating) Invalidated(_ context.Context, p model.Point) (bool, error) {
	if _, _, err := n.call(); err != nil || p.Height <= n.tip().Height {
		return false, err
	}
	return n.invalid.Load(), nil
}

// A node whose blocks were invalidated is followed to its lower tip, also if they were invalidated while nobody
// followed it: the consumer then learns first that the node had its tip.
func TestInvalidatedBlocksAreRolledBack(t *testing.T) {
	chain := grow(nil, 50, 0)
	for name, begun := range map[string]bool{"while it is followed": true, "before it is followed": false} {
		t.Run(name, func(t *testing.T) {
			node := &invalidating{scripted: serve(chain)}
			m := &mirror{t: t, chain: chain}
			if !begun {
				node.set(chain[:47])
				node.invalid.Store(true)
			}
			src := blocksource.NewSource(node, blocksource.Options{Retry: quick, SourceOptions: model.SourceOptions{Follow: true}})
			var tips []int
			for e, err := range src.Follow(t.Context(), known(chain)) {
				must(t, err)
				m.take(e)
				tips = append(tips, len(m.chain))
				switch len(tips) {
				case 1: // the node had all blocks
					if begun {
						node.set(chain[:49]) // it restarts
						node.set(chain)
						node.invalid.Store(true)
						node.set(chain[:47])
					}
				case 2:
					node.set(chain) // they are valid again
				}
				if len(tips) == 5 {
					break
				}
			}
			if want := []int{50, 47, 48, 49, 50}; !slices.Equal(tips, want) {
				t.Errorf("tips %v, expected %v", tips, want)
			}
			m.is(chain)
		})
	}
}

func TestTemporaryErrorsAreRetried(t *testing.T) {
	chain := grow(nil, 300, 0)
	node := serve(chain)
	node.before = func(call int) error {
		if call%7 < 2 {
			return blocksource.Temporary(errBroken)
		}
		return nil
	}
	var log strings.Builder
	m := &mirror{t: t}
	must(t, m.all(node, blocksource.Options{Name: "node:1", Log: slog.New(slog.NewTextHandler(&log, nil)), SourceOptions: model.SourceOptions{Workers: 1}}))
	m.is(chain)
	for _, want := range []string{"source=node:1", "connection broken", "the source is back"} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("the log lacks %q:\n%s", want, log.String())
		}
	}
}

func TestPermanentErrorsEndTheStream(t *testing.T) {
	chain := grow(nil, 3000, 0)
	for call := 1; call < 8; call++ {
		node := serve(chain)
		node.before = func(n int) error {
			if n >= call {
				return errBroken
			}
			return nil
		}
		m := &mirror{t: t}
		if err := m.all(node, blocksource.Options{SourceOptions: model.SourceOptions{Workers: 2}}); !errors.Is(err, errBroken) {
			t.Errorf("call %d: %v", call, err)
		}
		m.is(chain[:len(m.chain)])
	}
	// A temporary error is retried for at most the patience of the source.
	node := serve(chain)
	node.before = func(int) error { return blocksource.Temporary(errBroken) }
	m := &mirror{t: t}
	err := m.all(node, blocksource.Options{Retry: blocksource.Retry{First: time.Millisecond, Most: time.Millisecond, Patience: 20 * time.Millisecond}})
	if !errors.Is(err, errBroken) || !strings.Contains(err.Error(), "tried for") {
		t.Errorf("an outage without end: %v", err)
	}
}

// The stream of a node whose blocks do not form a chain ends with an error.
func TestBlocksThatDoNotFormAChainEndTheStream(t *testing.T) {
	chain := grow(nil, 100, 0)
	bad := *chain[60]
	bad.Parent[9]++
	chain[60] = &bad
	m := &mirror{t: t}
	err := m.all(serve(chain), blocksource.Options{Name: "node", SourceOptions: model.SourceOptions{Follow: true}})
	if kind, code := model.KindOf(err); kind != model.BadSource || code != "bad_chain" || !strings.Contains(err.Error(), "block 60") {
		t.Errorf("%v", err)
	}
	m.is(chain[:60])
}

func TestTheEndOfTheContextEndsTheStream(t *testing.T) {
	for _, after := range []int{0, 1, 100, 300} {
		ctx, cancel := context.WithCancel(t.Context())
		src := blocksource.NewSource(serve(grow(nil, 300, 0)), blocksource.Options{SourceOptions: model.SourceOptions{Follow: true}})
		if after == 0 {
			cancel()
		}
		n := 0
		var last error
		for _, err := range src.Follow(ctx, nil) {
			if last = err; err == nil {
				if n++; n == after {
					cancel()
				}
			}
		}
		if !errors.Is(last, context.Canceled) || n < after {
			t.Errorf("canceled after %d: %d events, %v", after, n, last)
		}
		cancel()
	}
}

func TestSingleBlocksMatchChain(t *testing.T) {
	chain := grow(nil, 40, 0)
	src := blocksource.NewSource(serve(chain), blocksource.Options{Retry: quick})
	r := src.(model.BlockReader)
	for _, h := range []model.HeightPk{0, 17, 39} {
		b, err := r.BlockAt(t.Context(), h)
		must(t, err)
		if b != chain[h] {
			t.Errorf("block %d is %d", h, b.Height)
		}
	}
	_, err := r.BlockAt(t.Context(), 40)
	if kind, code := model.KindOf(err); kind != model.NotFound || code != "unknown_block" {
		t.Error(err)
	}
	tip, err := src.Tip(t.Context())
	must(t, err)
	if tip != chain[39].Point() {
		t.Error(fmt.Sprint(tip))
	}
	must(t, src.Close())
}

// stuck is a node whose second and later calls of Hashes block until their context ends.
type stuck struct {
	*scripted
	hashes  atomic.Int64
	waiting chan struct{} // closed when a call waits
}

func (s *stuck) Hashes(ctx context.Context, from model.HeightPk, n int) ([]model.Hash, error) {
	if s.hashes.Add(1) == 1 {
		return s.scripted.Hashes(ctx, from, n)
	}
	close(s.waiting)
	<-ctx.Done()
	return nil, ctx.Err()
}

// If a consumer stops or a fetch fails, the stream ends without waiting for the call for the next hashes.
func TestTheEndOfAStreamCancelsTheCallInFlight(t *testing.T) {
	chain := grow(nil, 5000, 0) // more than one call's hashes
	last := chain[1999].Hash    // the last hash of the first call
	for _, fails := range []bool{false, true} {
		t.Run(fmt.Sprintf("a fetch fails: %v", fails), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := &stuck{scripted: serve(chain), waiting: make(chan struct{})}
				n.blocks = func(blocks []*model.Block) []*model.Block {
					if fails && blocks[len(blocks)-1].Hash == last {
						<-n.waiting
						return nil
					}
					return blocks
				}
				src := blocksource.NewSource(n, blocksource.Options{Retry: quick, SourceOptions: model.SourceOptions{Workers: 1, Memory: 1 << 40}})
				var end error
				for e, err := range src.Follow(t.Context(), nil) {
					if end = err; err == nil && e.Block.Hash == last {
						<-n.waiting
						break
					}
				}
				if _, code := model.KindOf(end); fails != (end != nil) || fails && code != "bad_answer" {
					t.Errorf("ended with %v", end)
				}
			})
		})
	}
}

// A source that does not follow ends even if the node's tip is not on its chain or differs in every response.
func TestSourceThatDoesNotFollowEndsForAnyTip(t *testing.T) {
	chain := grow(nil, 50, 0)
	branches := [2][]*model.Block{chain, grow(chain[:40], 10, 1)}
	other := func(up model.HeightPk) func(model.Point) model.Point {
		return func(tip model.Point) model.Point { return model.Point{Height: tip.Height + up, Hash: model.Hash{9}} }
	}
	for name, c := range map[string]struct {
		named func(model.Point) model.Point
		flaps bool
		says  string
	}{
		"above the chain":        {other(30), false, "reports block 79 as its tip"},
		"another of that height": {other(0), false, "reports block 49 as its tip"},
		"a flapping chain":       {nil, true, "changes its chain"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := serve(chain)
				n.named = c.named
				n.before = func(call int) error {
					if call > 1000 {
						return errors.New("the tip was requested 1,000 times")
					}
					return nil
				}
				if c.flaps {
					tips := 0
					n.named = func(model.Point) model.Point {
						tips++
						n.set(branches[tips%2])
						return branches[tips%2][49].Point()
					}
				}
				var log bytes.Buffer
				m := &mirror{t: t}
				err := m.all(n, blocksource.Options{
					Name: "the node", Log: slog.New(slog.NewTextHandler(&log, nil)), Retry: blocksource.Retry{First: time.Second},
				})
				kind, code := model.KindOf(err)
				if kind != model.BadSource || code != "bad_chain" || !strings.Contains(err.Error(), c.says) {
					t.Errorf("ended with %v (%s), expected an error with %q", err, code, c.says)
				}
				if !strings.Contains(log.String(), "the node") || len(m.chain) < 39 {
					t.Errorf("%d blocks, the log is %q", len(m.chain), log.String())
				}
			})
		})
	}
}

// limited is a node that refuses blocks which are larger than the limit of the call, and records how much it has in calls at
// the same time.
type limited struct {
	*scripted
	large int64 // smaller blocks are not refused

	mu      sync.Mutex
	bytes   int64 // in calls
	most    int64
	refused int
}

func (n *limited) Blocks(ctx context.Context, ps []model.Point, limit int64) ([]*model.Block, error) {
	blocks, err := n.scripted.Blocks(ctx, ps, limit)
	if err != nil {
		return nil, err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	size := int64(0)
	for i, b := range blocks {
		if int64(b.Size) > n.large && int64(b.Size) > limit {
			n.refused++
			if blocks = blocks[:i]; i == 0 {
				return nil, &blocksource.LargeBlock{Size: int64(b.Size)}
			}
			break
		}
		if int64(b.Size) > n.large {
			size += int64(b.Size)
		}
	}
	n.bytes += size
	n.most = max(n.most, n.bytes)
	n.mu.Unlock()
	time.Sleep(time.Millisecond)
	n.mu.Lock()
	n.bytes -= size
	return blocks, nil
}

// Large blocks, several in a row and single ones, are fetched alone after the node refused them: never two at the same
// time.
func TestLargeBlocksAreFetchedAlone(t *testing.T) {
	rng := testseed.Rand(t)
	const large = 50 << 20
	for range 20 {
		chain := grow(nil, 300, 0)
		most, count := 0, 0
		for i := range chain {
			chain[i].Size = 1 + rng.IntN(1<<20)
			if i > 0 && chain[i-1].Size > large && rng.IntN(3) > 0 || rng.IntN(40) == 0 {
				chain[i].Size = large + rng.IntN(4*large)
				most, count = max(most, chain[i].Size), count+1
			}
		}
		n := &limited{scripted: serve(chain), large: large}
		m := &mirror{t: t}
		must(t, m.all(n, blocksource.Options{SourceOptions: model.SourceOptions{Workers: 6}}))
		m.is(chain)
		if n.most > int64(most) {
			t.Errorf("%d bytes of large blocks at the same time, the largest has %d", n.most, most)
		}
		if count > 0 && n.refused == 0 {
			t.Errorf("%d large blocks, none was refused", count)
		}
	}
}
