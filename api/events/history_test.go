package events_test

import (
	"math/rand/v2"
	"slices"

	"birthmark/model"
	"birthmark/model/modeltest"
)

// history is a chain that grows, forks, returns to an old branch, and is replaced from its first block.
type history struct {
	rng        *rand.Rand
	world      *world
	chain      []*model.Block
	generators []*modeltest.Generator
	branch     []*model.Block // the last orphaned branch
	branchOff  []*modeltest.Generator
	deep, back int
	origin     int
}

func newHistory(w *world, v modeltest.Variant, n uint64) *history {
	h := &history{rng: rand.New(rand.NewPCG(n, 9)), world: w, generators: []*modeltest.Generator{v.NewGenerator(n)}}
	h.grow(5 + h.rng.IntN(40))
	return h
}

func (h *history) grow(n int) {
	for range n {
		g := h.generators[len(h.generators)-1].Fork(h.rng.Uint64N(1 << 30))
		h.chain, h.generators = append(h.chain, g.Next()), append(h.generators, g)
	}
	h.world.grow(h.chain[len(h.chain)-n:]...)
}

// cut rolls back the blocks after the first keep blocks.
func (h *history) cut(keep int) {
	to := model.Point{}
	if keep > 0 {
		to = h.chain[keep-1].Point()
	}
	if len(h.chain)-keep > 10 {
		h.deep++
	}
	if keep == 0 {
		h.origin++
	}
	h.world.rollback(to)
}

// step changes the chain at random: reopens the database, adds blocks or reorganizes.
func (h *history) step() {
	switch h.rng.IntN(8) {
	case 0:
		h.world.reopen()
	case 1: // the chain returns to the orphaned branch
		if len(h.branch) == 0 {
			return
		}
		keep := 0
		for keep < len(h.chain) && keep < len(h.branch) && h.chain[keep] == h.branch[keep] {
			keep++
		}
		h.cut(keep)
		h.world.grow(h.branch[keep:]...)
		h.chain, h.generators, h.branch, h.branchOff = h.branch, h.branchOff, h.chain, h.generators
		h.back++
	case 2, 3:
		h.branch, h.branchOff = slices.Clone(h.chain), slices.Clone(h.generators)
		keep := max(0, len(h.chain)-1-h.rng.IntN(3))
		switch h.rng.IntN(6) {
		case 0:
			keep = 0
		case 1:
			keep = h.rng.IntN(len(h.chain) + 1)
		}
		h.cut(keep)
		h.chain, h.generators = h.chain[:keep:keep], h.generators[:keep+1:keep+1]
		h.grow(h.rng.IntN(12))
	default:
		h.grow(1 + h.rng.IntN(6))
	}
}
