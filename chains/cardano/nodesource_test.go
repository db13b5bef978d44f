package cardano

import (
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
