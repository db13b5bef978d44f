package core_test

import (
	"context"
	"slices"
	"testing"

	"birthmark/core/query"
	"birthmark/internal/testrun"
	"birthmark/internal/testseed"
	"birthmark/model"
	"birthmark/model/modeltest"
	"birthmark/storage/memory"
)

// Texts of pointers are cached, and invalidated by a rollback: after a reorganization every answer matches the new
// chain, although answers of the old chain were cached. A view from before the reorganization still returns the old
// chain.
func TestLabelsMatchTheChain(t *testing.T) {
	variants(t, func(t *testing.T, v modeltest.Variant) {
		ctx := context.Background()
		g := v.NewGenerator(testseed.Of(t, 700))
		common := g.Blocks(6)
		fork := g.Fork(1)
		old, other := slices.Concat(common, g.Blocks(8)), slices.Concat(common, fork.Blocks(10))
		db := open(t, memory.New(), v, 1<<16)
		appendAll(t, db, old, 3)
		answersAre(t, db, v, old)
		before := newReference(v, old)
		telling := func(view *query.View) {
			t.Helper()
			for _, tx := range before.byHash {
				got, err := view.Tx(ctx, before.hash(tx))
				agree(t, "transaction at the tip before the fork", got, err, before.tx(tx))
			}
		}
		err := db.View(ctx, func(view *query.View) error {
			rollback(t, db, point(common, len(common)-1))
			telling(view)
			appendAll(t, db, other[len(common):], 3)
			telling(view)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		answersAre(t, db, v, other)
		consistent(t, db)
	})
}

// A view does not contain values that occurred after it, even if they are in the cache.
func TestAViewHasNoLaterValues(t *testing.T) {
	testrun.Slow(t)
	variants(t, func(t *testing.T, v modeltest.Variant) {
		ctx := context.Background()
		blocks := v.NewGenerator(testseed.Of(t, 702)).Blocks(12)
		all := newReference(v, blocks)
		for _, have := range []int{0, 1, 6} {
			db := open(t, memory.New(), v, 1<<16)
			appendAll(t, db, blocks[:have], 3)
			then := newReference(v, blocks[:have])
			err := db.View(ctx, func(view *query.View) error {
				appendAll(t, db, blocks[have:], 3)
				answersAre(t, db, v, blocks)
				unknown := 0
				for i, x := range all.indexes {
					known := then.values(i)
					for _, value := range all.values(i) {
						a, err := view.Balance(ctx, x.Name, x.Format([]byte(value)))
						if err != nil {
							t.Fatal(err)
						}
						is := slices.Contains(known, value)
						if is != (a.OutputCount > 0) {
							t.Errorf("%s %s, expected in the view: %t, got %+v", x.Name, x.Format([]byte(value)), is, a)
						}
						if !is {
							unknown++
						}
					}
				}
				if unknown == 0 {
					t.Error("no value occurred after the view")
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			consistent(t, db)
		}
	})
}

// Cached texts are not read again.
func TestLabelsAreReadOnce(t *testing.T) {
	v := modeltest.Variants()[0]
	blocks := v.NewGenerator(testseed.Of(t, 701)).Blocks(20)
	s := &counting{Store: memory.New()}
	db := open(t, s, v, 1<<16)
	appendAll(t, db, blocks, 5)
	r := newReference(v, blocks)
	ask := func() int64 {
		s.steps.Store(0)
		for _, tx := range r.byHash {
			got, err := db.Tx(context.Background(), r.hash(tx))
			agree(t, "transaction", got, err, r.tx(tx))
		}
		return s.steps.Load()
	}
	first, second := ask(), ask()
	if second >= first {
		t.Errorf("all transactions took %d lookups, and %d the second time", first, second)
	}
	rollback(t, db, model.Point{Height: blocks[18].Height, Hash: blocks[18].Hash})
	appendAll(t, db, blocks[19:], 1)
	if third := ask(); third <= second {
		t.Errorf("%d lookups, and %d after a rollback: removed labels are still cached", second, third)
	}
	consistent(t, db)
}
