package cardano

import (
	"context"
	"fmt"
	"testing"
	"time"

	"birthmark/chains/blocksource"
	"birthmark/internal/testblocks"
	"birthmark/internal/testnode/ouroborostest"
	"birthmark/model"
)

// previewBlocks are real blocks of preview from its first one on, as a node has them.
func previewBlocks(t testing.TB) []ouroborostest.Block {
	t.Helper()
	blocks, err := ouroborostest.Chunks(testblocks.Path(t, "cardano/dingo-immutable"))
	if err != nil {
		t.Fatal(err)
	}
	return blocks
}

// overNode is the source of a node that is impatient enough for tests.
func overNode(t testing.TB, uri string, o model.SourceOptions) *nodeSource {
	t.Helper()
	return overNodeOn(t, "preview", uri, o)
}

func overNodeOn(t testing.TB, network, uri string, o model.SourceOptions) *nodeSource {
	t.Helper()
	c, err := New(network)
	if err != nil {
		t.Fatal(err)
	}
	o.URI, o.Indexes = uri, valueNames
	src, err := c.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	s := src.(*nodeSource)
	s.retry = blocksource.Retry{First: time.Millisecond, Most: 20 * time.Millisecond, Patience: 10 * time.Second}
	s.poll = 5 * time.Millisecond
	t.Cleanup(func() { s.Close() })
	return s
}

func bothWays(t *testing.T, n *ouroborostest.Node, f func(t *testing.T, uri string)) {
	t.Run("tcp", func(t *testing.T) { f(t, n.TCP()) })
	t.Run("unix", func(t *testing.T) { f(t, n.Unix()) })
}

// told is events in short: a block's height, or < and the height it goes back to.
func told(e model.Event) string {
	switch {
	case e.Rollback == nil:
		return fmt.Sprint(e.Block.Height)
	case e.Rollback.IsOrigin():
		return "<origin"
	}
	return fmt.Sprint("<", e.Rollback.Height)
}

// listener applies what a source says to a chain of its own.
type listener struct {
	t      testing.TB
	chain  []model.Point
	events []string // but for blocks that follow on each other
}

func (l *listener) hear(e model.Event) {
	l.t.Helper()
	if e.Rollback != nil {
		keep := 0
		if !e.Rollback.IsOrigin() {
			keep = int(e.Rollback.Height) + 1
		}
		if keep > len(l.chain) || keep > 0 && l.chain[keep-1] != *e.Rollback {
			l.t.Fatalf("it goes back to %v, which is not on the chain it told", *e.Rollback)
		}
		if keep < len(l.chain) || keep == 0 { // else it says that the node has all of them
			l.events = append(l.events, told(e))
		}
		l.chain = l.chain[:keep]
		return
	}
	b := e.Block
	if int(b.Height) != len(l.chain) || len(l.chain) > 0 && b.Parent != l.chain[len(l.chain)-1].Hash {
		l.t.Fatalf("block %d (parent %s) comes after %d blocks", b.Height, b.Parent, len(l.chain))
	}
	if genesis := len(b.Genesis) > 0; genesis != (b.Height == 0) {
		l.t.Fatalf("block %d comes with genesis: %v", b.Height, genesis)
	}
	l.chain = append(l.chain, b.Point())
}

// is reports whether the chain that was told is that of a node.
func (l *listener) is(blocks []ouroborostest.Block) bool {
	if len(l.chain) != len(blocks) {
		return false
	}
	for i := len(blocks) - 1; i >= 0 && i > len(blocks)-3000; i-- {
		if l.chain[i].Hash != blocks[i].Hash || l.chain[i].Slot != blocks[i].Slot {
			return false
		}
	}
	return true
}

// known is the newest n points of the chain, newest first.
func (l *listener) known(n int) (points []model.Point) {
	for i := len(l.chain) - 1; i >= 0 && len(points) < n; i-- {
		points = append(points, l.chain[i])
	}
	return points
}

// hear is what a source that ends says, and its error.
func hear(t testing.TB, s *nodeSource, l *listener, known []model.Point) error {
	t.Helper()
	l.t = t
	for e, err := range s.Follow(t.Context(), known) {
		if err != nil {
			return err
		}
		l.hear(e)
	}
	return nil
}

// follows hears a source until the chain it told is what is wanted of it, one after the other; after each, then is done.
func follows(t testing.TB, s *nodeSource, l *listener, known []model.Point, steps ...step) {
	t.Helper()
	l.t = t
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for e, err := range s.Follow(ctx, known) {
		if err != nil {
			t.Fatalf("%v; %d blocks, %v", err, len(l.chain), l.events)
		}
		l.hear(e)
		for len(steps) > 0 && l.is(steps[0].chain) {
			then := steps[0].then
			if steps = steps[1:]; then != nil {
				then()
			}
		}
		if len(steps) == 0 {
			return
		}
	}
	t.Fatal("it ended")
}

type step struct {
	chain []ouroborostest.Block
	then  func()
}

func TestANodeIsAChain(t *testing.T) {
	blocks := previewBlocks(t)
	n := ouroborostest.Start(t, 2, blocks)
	bothWays(t, n, func(t *testing.T, uri string) {
		s := overNode(t, uri, model.SourceOptions{})
		last := blocks[len(blocks)-1]
		want := model.Point{Height: model.HeightPk(len(blocks) - 1), Slot: last.Slot, Hash: last.Hash}
		if tip, err := s.Tip(t.Context()); err != nil || tip != want {
			t.Fatal(tip, err)
		}
		var l listener
		if err := hear(t, s, &l, nil); err != nil {
			t.Fatal(err)
		}
		if !l.is(blocks) || len(l.events) > 0 {
			t.Fatalf("%d blocks, %v", len(l.chain), l.events)
		}
		// After its tip a node says nothing, and from a point on what comes after it.
		known := l.known(100)
		if err := hear(t, s, &l, known); err != nil || len(l.events) > 0 {
			t.Fatal(err, l.events)
		}
		l.chain = l.chain[:len(blocks)-40]
		if err := hear(t, s, &l, l.known(100)); err != nil || !l.is(blocks) || len(l.events) > 0 {
			t.Fatal(err, len(l.chain), l.events)
		}
	})
}
