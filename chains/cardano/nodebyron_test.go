package cardano

import (
	"encoding/hex"
	"slices"
	"testing"

	"birthmark/chains/cardano/genesis"
	"birthmark/chains/cardano/ledger"
	"birthmark/internal/testblocks"
	"birthmark/internal/testnode/cardanotest"
	"birthmark/internal/testnode/ouroborostest"
	"birthmark/internal/testrun"
	"birthmark/model"
)

// byronChain returns three epochs of Byron, each with its boundary block, and a block of Shelley, as a node sends them.
func byronChain(t *testing.T) (blocks []ouroborostest.Block) {
	t.Helper()
	const each = 3
	parent, err := hex.DecodeString(networkNamed(t, "mainnet").ByronHash)
	if err != nil {
		t.Fatal(err)
	}
	add := func(raw []byte) {
		made, err := ouroborostest.Blocks(raw)
		if err != nil {
			t.Fatal(err)
		}
		parent, blocks = made[0].Hash[:], append(blocks, made...)
	}
	number := uint64(0)
	for epoch := range uint64(3) {
		add(boundaryAt(t, number, epoch, parent))
		for i := range uint64(each) {
			number++
			add(byronAt(t, 764824073, number, epoch*genesis.ByronEpochSlots+7*i, parent))
		}
	}
	add(placedAt(t, ledger.EraShelley, number+1, 208*genesis.ByronEpochSlots, parent, raw(t, list{}), raw(t, list{}), raw(t, dict{})))
	return blocks
}

// placesOf returns the points of blocks without boundary blocks, except for the first block.
func placesOf(blocks []ouroborostest.Block) (l []model.Point) {
	for i, b := range blocks {
		if i == 0 || b.Type != ledger.EraByronBoundary {
			l = append(l, model.Point{Height: model.HeightPk(b.Number), Slot: b.Slot, Hash: b.Hash})
		}
	}
	return l
}

func TestBoundaryBlocksFromNodesHaveNoHeight(t *testing.T) {
	blocks := byronChain(t)
	n := ouroborostest.Start(t, 764824073, blocks)
	cardanotest.EachTransport(t, n, func(t *testing.T, uri string) {
		n.Switch(0, blocks...)
		s := overNodeOn(t, "mainnet", uri, model.SourceOptions{})
		var l cardanotest.Listener
		if err := cardanotest.Collect(t, s, &l, nil); err != nil || !slices.Equal(l.Chain, placesOf(blocks)) {
			t.Fatal(l.Chain, err)
		}
		wantChildren(t, s, followed(t, s), 1)

		// Resume after each block.
		whole := l.Chain
		for i := range whole {
			l.Chain = slices.Clone(whole[:i+1])
			if err := cardanotest.Collect(t, s, &l, l.Known(i+1)); err != nil || !slices.Equal(l.Chain, whole) || len(l.Events) > 0 {
				t.Errorf("from block %d: %v, %v, %v", i, l.Chain, l.Events, err)
			}
		}
	})
}

// A rollback to or past a boundary block ends at the block before it. The next block has either block as its parent.
func TestNodeRollsBackToBoundaryBlock(t *testing.T) {
	blocks := byronChain(t)
	n := ouroborostest.Start(t, 764824073, blocks)
	cardanotest.EachTransport(t, n, func(t *testing.T, uri string) {
		for keep := 1; keep < len(blocks); keep++ {
			n.Switch(0, blocks...)
			last := blocks[keep-1]
			number := last.Number + 1
			fork, err := ouroborostest.Blocks(byronAt(t, 764824073, number, last.Slot+1, last.Hash[:]))
			if err != nil {
				t.Fatal(err)
			}
			if last.Type > ledger.EraByron {
				continue
			}
			whole, forked := placesOf(blocks), placesOf(cardanotest.Replace(blocks, keep, fork...))
			l := cardanotest.Listener{T: t}
			for e, err := range overNodeOn(t, "mainnet", uri, model.SourceOptions{Follow: true}).Follow(t.Context(), nil) {
				if err != nil {
					t.Fatal(err)
				}
				l.Apply(e)
				if slices.Equal(l.Chain, whole) {
					n.Switch(keep, fork...)
				}
				if slices.Equal(l.Chain, forked) {
					break
				}
			}
			if len(l.Events) != 1 {
				t.Errorf("back to block %d: %v", keep-1, l.Events)
			}
		}
	})
}

// The first chunk of mainnet.
func TestRealByronBlocksFromNode(t *testing.T) {
	testrun.Slow(t)
	blocks, err := ouroborostest.Chunks(testblocks.Path(t, "cardano", "daedalus-turbo", "chunk-registry", "compressed", "chunk", "526D*.zstd"))
	if err != nil {
		t.Fatal(err)
	}
	n := ouroborostest.Start(t, 764824073, blocks)
	cardanotest.EachTransport(t, n, func(t *testing.T, uri string) {
		s := overNodeOn(t, "mainnet", uri, model.SourceOptions{})
		var l cardanotest.Listener
		if err := cardanotest.Collect(t, s, &l, nil); err != nil || !slices.Equal(l.Chain, placesOf(blocks)) {
			t.Error(len(l.Chain), err)
		}
	})
}

func TestChildFromNode(t *testing.T) {
	trunk := branch(t, nil, 60, 0)
	n := ouroborostest.Start(t, 2, trunk)
	cardanotest.EachTransport(t, n, func(t *testing.T, uri string) {
		s := overNode(t, uri, model.SourceOptions{})
		connections := n.Asked()["connection"]
		wantChildren(t, s, followed(t, s), 1)
		if again := n.Asked()["connection"] - connections; again > 3 {
			t.Errorf("%d connections for 60 blocks", again)
		}
		for what, p := range map[string]model.Point{
			"another hash":   {Height: 2, Slot: trunk[2].Slot, Hash: model.Hash{7}},
			"behind the end": {Height: 99, Slot: 900_000, Hash: model.Hash{7}},
		} {
			b, err := s.Child(t.Context(), p)
			if kind, code := model.KindOf(err); kind != model.NotFound || code != "unknown_block" {
				t.Errorf("%s: %v, %v", what, b, err)
			}
		}
		n.Disconnect() // also the connection that was kept open
		after := model.Point{Height: 30, Slot: trunk[30].Slot, Hash: trunk[30].Hash}
		if b, err := s.Child(t.Context(), after); err != nil || b.Hash != trunk[31].Hash {
			t.Errorf("after the connection was cut: %v, %v", b, err)
		}
	})
}
