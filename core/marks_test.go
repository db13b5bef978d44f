package core_test

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"slices"
	gosync "sync"
	"sync/atomic"
	"testing"

	"birthmark/core"
	"birthmark/internal/testseed"
	"birthmark/model"
	"birthmark/model/modeltest"
	"birthmark/storage/memory"
)

// asked is a question, and how it was answered.
type asked struct {
	ask  func(ctx context.Context, v *core.View) (any, error)
	text string
	kept *core.Kept // nil: it is not kept
}

// now is the answer of v, as text.
func (a *asked) now(v *core.View) (string, error) {
	answer, err := a.ask(context.Background(), v)
	if err != nil {
		return "", err
	}
	text, err := json.Marshal(answer)
	return string(text), err
}

// keep asks, and keeps the answer where that can be.
func (a *asked) keep(db *core.DB) error {
	return db.View(context.Background(), func(v *core.View) error {
		noting, keep := v.Noting()
		text, err := a.now(noting)
		if kind(err) == model.NotFound {
			a.kept = nil
			return nil
		}
		if err == nil {
			a.text, a.kept = text, keep()
		}
		return err
	})
}

// questionsOf are the questions about all that a chain has.
func questionsOf(v modeltest.Variant, blocks []*model.Block) (all []*asked) {
	add := func(ask func(ctx context.Context, v *core.View) (any, error)) { all = append(all, &asked{ask: ask}) }
	r := newReference(v, blocks)
	for _, b := range blocks {
		add(func(ctx context.Context, v *core.View) (any, error) { return v.PointAt(ctx, b.Height) })
	}
	for _, tx := range r.byHash {
		hash := r.hash(tx)
		add(func(ctx context.Context, v *core.View) (any, error) { return v.Tx(ctx, hash) })
		add(func(ctx context.Context, v *core.View) (any, error) { return v.Output(ctx, hash+":0") })
	}
	for i, x := range r.indexes {
		for _, value := range r.values(i) {
			text := x.Format([]byte(value))
			add(func(ctx context.Context, v *core.View) (any, error) { return v.Balance(ctx, x.Name, text) })
			for _, p := range []core.Page{{}, {Limit: 2}, {Limit: 3, Descending: true}} {
				add(func(ctx context.Context, v *core.View) (any, error) {
					return v.Find(ctx, x.Name, text, core.Terms{}, p)
				})
				add(func(ctx context.Context, v *core.View) (any, error) {
					return v.Find(ctx, x.Name, text, core.Terms{Unspent: true}, p)
				})
				add(func(ctx context.Context, v *core.View) (any, error) {
					return v.History(ctx, x.Name, text, core.Range{}, p)
				})
			}
		}
	}
	return all
}

// good fails where a kept answer is taken for good and is another one by now. It counts those that are good.
func good(t *testing.T, db *core.DB, all []*asked) (n int) {
	t.Helper()
	for _, a := range all {
		if a.kept == nil || !a.kept.Good() {
			continue
		}
		n++
		err := db.View(context.Background(), func(v *core.View) error {
			text, err := a.now(v)
			if err == nil && text != a.text {
				t.Errorf("kept as good:\n%s\nbut it is\n%s", a.text, text)
			}
			return err
		})
		if err != nil {
			t.Errorf("kept as good: %s\nbut it is %v", a.text, err)
		}
	}
	return n
}

// An answer that is taken for good beyond the tip is the one that would be given, whatever was written since, and most are: a
// window changes little. After a rollback none is.
func TestKeptAnswersAreThoseOfTheChain(t *testing.T) {
	variants(t, func(t *testing.T, v modeltest.Variant) {
		g := v.NewGenerator(testseed.Of(t, 710))
		common := g.Blocks(8)
		fork := g.Fork(1)
		old, other := slices.Concat(common, g.Blocks(12)), slices.Concat(common, fork.Blocks(10))
		db := open(t, memory.New(), v, 1<<16)
		appendAll(t, db, common, 3)
		all := questionsOf(v, old)
		stayed, kept := 0, 0
		step := func(blocks []*model.Block) {
			for _, a := range all {
				if a.kept == nil || !a.kept.Good() {
					if err := a.keep(db); err != nil {
						t.Fatal(err)
					}
				}
				if a.kept != nil {
					kept++
				}
			}
			appendAll(t, db, blocks, 1)
			stayed += good(t, db, all)
		}
		for _, b := range old[len(common):] {
			step([]*model.Block{b})
		}
		if stayed < kept/4 || stayed == kept {
			t.Errorf("of %d kept answers %d were good for another block", kept, stayed)
		}
		rollback(t, db, point(common, len(common)-1))
		if n := good(t, db, all); n > 0 {
			t.Errorf("%d answers are good after a rollback", n)
		}
		for _, b := range other[len(common):] {
			step([]*model.Block{b})
		}
		check(t, db)
	})
}

// The same while a sync writes and goes back, and many ask.
func TestKeptAnswersBesideASync(t *testing.T) {
	ctx := context.Background()
	for i, v := range modeltest.Variants() {
		seed := testseed.New(t)
		g := v.NewGenerator(seed)
		common := g.Blocks(5)
		fork := g.Fork(1)
		lost, blocks := g.Blocks(3), slices.Concat(common, fork.Blocks(30))
		db := open(t, memory.New(), v, 1<<16)
		all := questionsOf(v, slices.Concat(blocks, lost))
		var done atomic.Bool
		var askers gosync.WaitGroup
		for n := range 3 {
			rng := rand.New(rand.NewPCG(uint64(i), uint64(n)))
			askers.Go(func() {
				for !done.Load() {
					a := all[rng.IntN(len(all)/3)*3+n] // nobody else asks this one
					if a.kept == nil || !a.kept.Good() {
						if err := a.keep(db); err != nil {
							t.Error(err)
							return
						}
					}
				}
			})
		}
		source := events(common, lost, point(common, len(common)-1), blocks[len(common):])
		if err := core.Sync(ctx, db, source, core.SyncOptions{WindowWeight: 30}); err != nil {
			t.Fatal(err)
		}
		done.Store(true)
		askers.Wait()
		good(t, db, all)
		check(t, db)
	}
}

// What another DB of the store writes is not known: nothing is kept.
func TestNothingIsKeptWhereOthersWrite(t *testing.T) {
	v := modeltest.Variants()[0]
	blocks := v.NewGenerator(testseed.Of(t, 711)).Blocks(6)
	store := memory.New()
	db := open(t, store, v, 1<<16)
	appendAll(t, db, blocks, 2)
	all := questionsOf(v, blocks)
	keep := func(db *core.DB) (n int) {
		for _, a := range all {
			if err := a.keep(db); err != nil {
				t.Fatal(err)
			}
			if a.kept != nil {
				n++
			}
		}
		return n
	}
	if keep(db) == 0 {
		t.Error("nothing is kept of a database that is written here")
	}
	if db.Leave(); good(t, db, all) > 0 || keep(db) > 0 {
		t.Error("answers are kept of a database that another one writes")
	}
	reading, err := core.Open(context.Background(), store, core.Options{Chain: v.Chain("one"), ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	if keep(reading) > 0 {
		t.Error("answers are kept of a database that is only read")
	}
	check(t, db)
}
