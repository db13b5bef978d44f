package core_test

import (
	"math/rand/v2"
	"testing"

	"birthmark/core/query/changes"
	"birthmark/internal/testrun"
	"birthmark/internal/testseed"
	"birthmark/model"
	"birthmark/model/modeltest"
	"birthmark/storage/memory"
)

// With N confirmations, a consumer receives the changes up to the block with N confirmations. A reorganization of fewer
// than N blocks rolls none of them back, also while the new branch is shorter than the old one.
func TestConfirmedChangesAreNotTakenBack(t *testing.T) {
	testrun.Slow(t)
	variants(t, func(t *testing.T, v modeltest.Variant) {
		n := testseed.Of(t, 771)
		rng := rand.New(rand.NewPCG(n, 0))
		reorgs, sent := 0, 0
		for round := range uint64(amount(6, 3)) {
			db := open(t, memory.New(), v, 0)
			generators := []*modeltest.Generator{v.NewGenerator(n + round)}
			var chain []*model.Block
			made, most := uint64(0), 0 // most is the length of the longest chain
			grow := func(n int) {
				for range n {
					made++
					g := generators[len(chain)].Fork(made)
					chain = append(chain, g.Next())
					generators = append(generators, g)
				}
				appendAll(t, db, chain[len(chain)-n:], 3)
				most = max(most, len(chain))
			}
			grow(3)
			what, in := newReference(v, chain).anyFollowing(rng)
			what.Confirmations = 1 + rng.IntN(6)
			c := &consumer{t: t}
			var known []model.Point
			for range 25 {
				switch depth := rng.IntN(what.Confirmations); {
				case len(chain)-depth > max(0, most-what.Confirmations) && depth > 0 && rng.IntN(2) == 0:
					reorgs++
					keep := len(chain) - depth
					rollback(t, db, point(chain, keep-1))
					chain, generators = chain[:keep:keep], generators[:keep+1:keep+1]
					if rng.IntN(2) == 0 {
						grow(depth + 1)
					}
				default:
					grow(1 + rng.IntN(4))
				}
				last := c.at
				for e, err := range changes.Follow(t.Context(), db.Queries, known, what) {
					if err != nil {
						t.Fatal(err)
					}
					if e.Rollback != nil && *e.Rollback != last {
						t.Fatalf("%d confirmations: rollback from block %d to %d", what.Confirmations, last.Height, e.Rollback.Height)
					}
					if e.Block != nil {
						sent++
						if int(e.Block.Height)+what.Confirmations-1 > int(db.Tip().Height) {
							t.Fatalf("block %d with %d confirmations at tip %d", e.Block.Height, what.Confirmations, db.Tip().Height)
						}
					}
					c.take(e)
				}
				if at := len(chain) - what.Confirmations; at >= 0 && c.at.Height < chain[at].Height {
					t.Fatalf("at block %d, expected %d of %d blocks", c.at.Height, chain[at].Height, len(chain))
				}
				c.has(newReference(v, chain), what, in)
				var err error
				if known, err = changes.Locator(t.Context(), db.Queries, c.at); err != nil {
					t.Fatal(err)
				}
			}
			consistent(t, db)
		}
		if reorgs == 0 || sent == 0 {
			t.Errorf("%d reorganizations, %d blocks", reorgs, sent)
		}
	})
}
