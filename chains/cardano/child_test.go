package cardano

import (
	"testing"

	"birthmark/model"
	"birthmark/model/realdata"
)

// followed are the blocks a source yields from its first on.
func followed(t *testing.T, src model.Source) (blocks []*model.Block) {
	t.Helper()
	for e, err := range src.Follow(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		blocks = append(blocks, e.Block)
	}
	return blocks
}

// wantChildren asks for the block after each, and after the origin, which must be those that follow.
func wantChildren(t *testing.T, src model.Source, blocks []*model.Block, step int) {
	t.Helper()
	for i := 0; i <= len(blocks); i += step {
		after := model.Point{}
		if i > 0 {
			after = blocks[i-1].Point()
		}
		b, err := src.(model.ChildReader).Child(t.Context(), after)
		if i == len(blocks) {
			if kind, code := model.KindOf(err); kind != model.NotFound || code != "unknown_block" {
				t.Errorf("after the last block: %v, %v", b, err)
			}
			return
		}
		if err != nil {
			t.Fatalf("after %v: %v", after, err)
		}
		if got, want := text(t, b), text(t, blocks[i]); got != want {
			t.Fatalf("after %v:\n got %.500s\nwant %.500s", after, got, want)
		}
	}
}

func TestTheBlockAfterEachIsTheOneThatFollows(t *testing.T) {
	blocks, raws := made(t, 0, 1, 2, 3, 4)
	src := stored(t, model.SourceOptions{}, raws...)
	wantChildren(t, src, followed(t, src), 1)
	for what, p := range map[string]model.Point{
		"another hash":   {Height: 2, Slot: blocks[2].Slot, Hash: model.Hash{7}},
		"another slot":   {Height: 2, Slot: blocks[2].Slot + 1, Hash: blocks[2].Hash},
		"behind the end": {Height: 9, Slot: 900, Hash: model.Hash{7}},
	} {
		b, err := src.(model.ChildReader).Child(t.Context(), p)
		if kind, code := model.KindOf(err); kind != model.NotFound || code != "unknown_block" {
			t.Errorf("%s: %v, %v", what, b, err)
		}
	}
}

// Mainnet's first chunk begins with a boundary block.
func TestTheBlockAfterEachOfRealOnesIsTheOneThatFollows(t *testing.T) {
	for _, c := range []struct {
		network string
		path    []string
		step    int
	}{
		{"preview", []string{"cardano", "dingo-immutable"}, 997},
		{"mainnet", []string{"cardano", "daedalus-turbo", "chunk-registry", "compressed", "chunk", "526D*.zstd"}, 5_396},
	} {
		chain, err := New(c.network)
		if err != nil {
			t.Fatal(err)
		}
		src, err := chain.Open(t.Context(), model.SourceOptions{URI: "file://" + realdata.Path(t, c.path...), Indexes: valueNames})
		if err != nil {
			t.Fatal(err)
		}
		wantChildren(t, src, followed(t, src), c.step)
	}
}
