package cardano

import (
	"encoding/hex"
	"testing"

	"birthmark/chains/cardano/genesis"
	"birthmark/chains/cardano/ledger"
	"birthmark/chains/chaintest"
	"birthmark/internal/testblocks"
	"birthmark/internal/testrun"
	"birthmark/model"
)

// followed returns all blocks of a source.
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

// wantChildren checks the child of the origin and of each block.
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

func TestChunksMeasureTheirChain(t *testing.T) {
	_, raws := made(t, 0, 1, 2, 3, 4)
	chaintest.Measures(t, stored(t, model.SourceOptions{}, raws...), true)
	to := model.HeightPk(2)
	e, err := stored(t, model.SourceOptions{To: &to}, raws...).(model.Measurer).Measure(t.Context(), model.Point{}, to)
	if err != nil || e.Total != 0 {
		t.Errorf("up to block 2: %+v (%v), expected an unknown size", e, err)
	}
}

func TestChildOfEachBlock(t *testing.T) {
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

// Boundary blocks between the epochs of Byron have no height of their own. Only the first one is block 0.
func TestChildAcrossBoundaryBlocks(t *testing.T) {
	var raws [][]byte
	parent, err := hex.DecodeString(networkNamed(t, "mainnet").ByronHash)
	if err != nil {
		t.Fatal(err)
	}
	add := func(raw []byte) {
		b := decoded(t, raw)
		parent, raws = b.Hash[:], append(raws, raw)
	}
	add(boundaryAt(t, 0, 0, parent))
	for n := range uint64(6) {
		if n == 2 || n == 4 {
			add(boundaryAt(t, n, n/2, parent))
		}
		add(byronAt(t, 764824073, n+1, 10_800*n+7, parent))
	}
	add(placedAt(t, ledger.EraShelley, 7, 208*genesis.ByronEpochSlots, parent, raw(t, list{}), raw(t, list{}), raw(t, dict{})))
	src := storedOn(t, "mainnet", model.SourceOptions{}, raws...)
	blocks := followed(t, src)
	for i, b := range blocks {
		if b.Height != model.HeightPk(i) || i > 0 && b.Parent != blocks[i-1].Hash {
			t.Errorf("block %d has the height %d", i, b.Height)
		}
	}
	if len(blocks) != 8 || len(blocks[0].Genesis) != 14_505 {
		t.Errorf("%d blocks", len(blocks))
	}
	wantChildren(t, src, blocks, 1)

	// A boundary block at the end is not the tip.
	for _, n := range []int{1, 3, 4, 7, len(raws)} {
		tip, err := storedOn(t, "mainnet", model.SourceOptions{}, raws[:n]...).Tip(t.Context())
		if want := len(followed(t, storedOn(t, "mainnet", model.SourceOptions{}, raws[:n]...))) - 1; err != nil || tip != blocks[want].Point() {
			t.Errorf("the tip of %d is %v, %v; expected block %d", n, tip, err, want)
		}
	}
}

// The first chunk of mainnet begins with a boundary block.
func TestChildOfRealBlocks(t *testing.T) {
	testrun.Slow(t)
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
		src, err := chain.Open(t.Context(), model.SourceOptions{URI: "file://" + testblocks.Path(t, c.path...), Indexes: valueNames})
		if err != nil {
			t.Fatal(err)
		}
		wantChildren(t, src, followed(t, src), c.step)
	}
}
