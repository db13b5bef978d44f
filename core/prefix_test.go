package core_test

import (
	"fmt"
	"testing"

	"birthmark/core"
	"birthmark/internal/testrun"
	"birthmark/internal/testseed"
	"birthmark/model"
	"birthmark/model/modeltest"
)

// Values and hashes with colliding prefixes, with four prefixes or a single one in total, are distinguished in all
// answers, during append and rollback, and by check.
func TestCollisionsAreHarmless(t *testing.T) {
	testrun.Slow(t)
	for _, bits := range []uint64{3 << 40, 0} {
		t.Run(fmt.Sprintf("%x", bits), func(t *testing.T) {
			defer core.CollidePrefixes(bits)()
			variants(t, func(t *testing.T, v modeltest.Variant) {
				blocks := v.NewGenerator(testseed.Of(t, 300)).Blocks(16)
				answersOf(t, v, blocks)
				want := fresh(t, v, blocks)
				for name, store := range stores() {
					for _, caches := range []int64{0, 1 << 20} {
						if name != "memory" && caches > 0 {
							continue // the caches do not depend on the store
						}
						db := open(t, store(t), v, caches)
						appendAll(t, db, blocks[:8], 3)
						half := dump(t, db)
						appendAll(t, db, blocks[8:], 5)
						consistent(t, db)
						same(t, name, dump(t, db), want)
						rollback(t, db, blocks[7].Point())
						same(t, name+", rolled back", dump(t, db), half)
						consistent(t, db)
						rollback(t, db, model.Point{})
						consistent(t, db)
					}
				}
			})
		})
	}
}
