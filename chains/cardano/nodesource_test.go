package cardano

import (
	"testing"
	"time"

	"birthmark/chains/blocksource"
	"birthmark/chains/cardano/node"
	"birthmark/internal/testblocks"
	"birthmark/internal/testnode/cardanotest"
	"birthmark/internal/testnode/ouroborostest"
	"birthmark/internal/testrun"
	"birthmark/model"
)

// previewBlocks returns the first real blocks of preview, as a node sends them.
func previewBlocks(t testing.TB) []ouroborostest.Block {
	t.Helper()
	blocks, err := ouroborostest.Chunks(testblocks.Path(t, "cardano/dingo-immutable"))
	if err != nil {
		t.Fatal(err)
	}
	return blocks
}

// overNode returns a source of preview with short timeouts.
func overNode(t testing.TB, uri string, o model.SourceOptions) *node.Source {
	t.Helper()
	return overNodeOn(t, "preview", uri, o)
}

func overNodeOn(t testing.TB, network, uri string, o model.SourceOptions) *node.Source {
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
	s, relay := src.(*node.Source)
	if !relay {
		s = src.(*node.Local).Source
	}
	s.Retry = blocksource.Retry{First: time.Millisecond, Most: 20 * time.Millisecond, Patience: 10 * time.Minute}
	s.Poll = 5 * time.Millisecond
	t.Cleanup(func() { s.Close() })
	return s
}

func TestSyncFromNode(t *testing.T) {
	testrun.Slow(t)
	blocks := previewBlocks(t)
	n := ouroborostest.Start(t, 2, blocks)
	cardanotest.EachTransport(t, n, func(t *testing.T, uri string) {
		s := overNode(t, uri, model.SourceOptions{})
		last := blocks[len(blocks)-1]
		want := model.Point{Height: model.HeightPk(len(blocks) - 1), Slot: last.Slot, Hash: last.Hash}
		if tip, err := s.Tip(t.Context()); err != nil || tip != want {
			t.Fatal(tip, err)
		}
		var l cardanotest.Listener
		if err := cardanotest.Collect(t, s, &l, nil); err != nil {
			t.Fatal(err)
		}
		if !l.Is(blocks) || len(l.Events) > 0 {
			t.Fatalf("%d blocks, %v", len(l.Chain), l.Events)
		}
		// A source that is at the tip yields nothing. A source that resumes yields the blocks after its position.
		known := l.Known(100)
		if err := cardanotest.Collect(t, s, &l, known); err != nil || len(l.Events) > 0 {
			t.Fatal(err, l.Events)
		}
		l.Chain = l.Chain[:len(blocks)-40]
		if err := cardanotest.Collect(t, s, &l, l.Known(100)); err != nil || !l.Is(blocks) || len(l.Events) > 0 {
			t.Fatal(err, len(l.Chain), l.Events)
		}
	})
}
