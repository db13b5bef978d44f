package core_test

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"birthmark/core"
	"birthmark/core/backfill"
	"birthmark/core/check"
	"birthmark/core/schema"
	"birthmark/internal/testrun"
	"birthmark/internal/testseed"
	"birthmark/model"
	"birthmark/model/modeltest"
	"birthmark/storage"
	"birthmark/storage/memory"
	"birthmark/storage/storetest"
)

// With the race detector, this test also shows that no reader accesses a catalogue while it is written.
func TestIndexesCanBeReadWhileTheyChange(t *testing.T) {
	l := openChanging(t, modeltest.Variants()[0], memory.New(), testseed.Of(t, 760), []string{"address"}, nil)
	l.grow(5, 5)
	done, read := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(read)
		for {
			select {
			case <-done:
				return
			default:
			}
			names := strings.Join(l.db.Indexes(), ",")
			if names != "address" && names != "address,label" {
				t.Errorf("indexes %q", names)
			}
			if len(l.db.Dumped()) == 0 {
				t.Error("no families")
			}
		}
	}()
	for range 20 {
		if err := l.db.AddIndex(t.Context(), "label", model.IndexOptions{}); err != nil {
			t.Fatal(err)
		}
		l.build(-1, 50)
		if err := l.db.DropIndex(t.Context(), "label"); err != nil {
			t.Fatal(err)
		}
		l.build(-1, 50)
	}
	close(done)
	<-read
	consistent(t, l.db)
}

// finish completes the current backfill or removal, possibly after a failure. It reopens the database if a failed
// change of its indexes requires that.
func (l *changing) finish(t *testing.T) {
	t.Helper()
	next := l.grown[len(l.grown)-1].Fork(0).Blocks(1)
	if err := l.db.Append(t.Context(), having(next, l.db.Indexes()...)); code(err) == "open_again" {
		l.reopen(nil, nil)
	} else if err != nil {
		t.Fatal(err)
	} else {
		rollback(t, l.db, point(l.chain, len(l.chain)-1))
	}
	l.grow(2, 1)
	l.build(-1, 1000)
	l.grow(2, 1)
	consistent(t, l.db)
}

// If any read or write fails while the indexes of a database change, or while its caches are filled, blocks appended
// later are indexed correctly.
func TestAFailureAtAnyStepOfAnIndexChangeIsHarmless(t *testing.T) {
	testrun.Slow(t)
	keep := model.IndexOptions{Balance: true, Prefix: true}
	for what, change := range map[string]func(ctx context.Context, l *changing) error{
		"add": func(ctx context.Context, l *changing) error {
			if err := l.db.AddIndex(ctx, "label", keep); err != nil {
				return err
			}
			return l.db.Build(ctx, l.open, backfill.Options{Weight: 20})
		},
		"drop": func(ctx context.Context, l *changing) error {
			if err := l.db.DropIndex(ctx, "tag"); err != nil {
				return err
			}
			return l.db.Build(ctx, l.open, backfill.Options{Weight: 10})
		},
		"add raw": func(ctx context.Context, l *changing) error {
			if err := l.db.AddIndex(ctx, schema.RawName, model.IndexOptions{}); err != nil {
				return err
			}
			return l.db.Build(ctx, l.open, backfill.Options{Weight: 10})
		},
		"drop raw": func(ctx context.Context, l *changing) error {
			return errors.Join(l.db.DropIndex(ctx, schema.RawName), l.db.Build(ctx, l.open, backfill.Options{Weight: 10}))
		},
		"warm-up": func(ctx context.Context, l *changing) error {
			db, err := core.Open(ctx, l.store, core.Options{Chain: l.v.Chain("one"), CacheBytes: 1 << 20})
			if err != nil {
				return err
			}
			l.db = db
			return core.Sync(ctx, db, events(having(l.chain, db.Indexes()...)), core.SyncOptions{})
		},
	} {
		t.Run(what, func(t *testing.T) {
			v, n := modeltest.Variants()[0], testseed.Of(t, 770)
			failures := 0
			for step := 1; ; step++ {
				s := storetest.NewFaulty(memory.New())
				names := []string{"address", "tag"}
				if what == "drop raw" {
					names = append(names, schema.RawName)
				}
				l := openChanging(t, v, s, n, names, map[string]model.IndexOptions{"tag": keep})
				l.grow(4, 3)
				s.FailAt(step)
				err := change(t.Context(), l)
				steps := s.Steps()
				s.FailAt(0)
				if err != nil && !errors.Is(err, storetest.ErrInjected) {
					t.Fatalf("step %d: %v", step, err)
				}
				if l.finish(t); t.Failed() {
					t.Fatalf("wrong rows after a failure at step %d", step)
				}
				if err != nil {
					failures++
				}
				if steps < step { // the whole change has fewer steps
					break
				}
			}
			if least := map[string]int{"drop raw": 2}[what]; failures < cmp.Or(least, 10) {
				t.Errorf("only %d steps failed", failures)
			}
		})
	}
}

// seeing is a store that calls a function before each view.
type seeing struct {
	storage.Store
	before func()
}

func (s *seeing) View(ctx context.Context, fn func(storage.Reader) error) error {
	if before := s.before; before != nil {
		before()
	}
	return s.Store.View(ctx, fn)
}

// An index that is dropped at any point of its backfill is removed, and can be added again.
func TestAnIndexCanBeDroppedWhileItIsBuilt(t *testing.T) {
	testrun.Slow(t)
	v := modeltest.Variants()[0]
	n := testseed.Of(t, 780)
	for what, build := range map[string]func(t *testing.T, l *changing, s *seeing, drop func()) error{
		"before its first block": func(t *testing.T, l *changing, _ *seeing, drop func()) error {
			open := func(ctx context.Context, x *schema.Index, known []model.Point) (model.Source, error) {
				drop()
				return l.open(ctx, x, known)
			}
			return l.db.Build(t.Context(), open, backfill.Options{Weight: 1})
		},
		"between two blocks of the source": func(t *testing.T, l *changing, _ *seeing, drop func()) error {
			open := func(_ context.Context, x *schema.Index, _ []model.Point) (model.Source, error) {
				src := events(having(l.chain, x.Name))
				say := src.say
				src.say = func(yield func(model.Event, error) bool) {
					say(func(e model.Event, err error) bool {
						if e.Block != nil && e.Block.Height == l.chain[2].Height {
							drop()
						}
						return yield(e, err)
					})
				}
				return src, nil
			}
			return l.db.Build(t.Context(), open, backfill.Options{Weight: 1})
		},
		"before the build reads blocks": func(t *testing.T, l *changing, s *seeing, drop func()) error {
			s.before = drop
			return l.db.Build(t.Context(), l.open, backfill.Options{Weight: 1})
		},
	} {
		for _, added := range []string{"label", "tag"} { // tag already exists: only options are added, without a source
			if (added == "tag") != (what == "before the build reads blocks") {
				continue
			}
			t.Run(what+" of "+added, func(t *testing.T) {
				s := &seeing{Store: memory.New()}
				l := openChanging(t, v, s, n, []string{"address", "tag"}, nil)
				l.grow(110, 20) // more than nearTip, 100 blocks
				keep := model.IndexOptions{History: true}
				if err := l.db.AddIndex(t.Context(), added, keep); err != nil {
					t.Fatal(err)
				}
				dropped := false
				err := build(t, l, s, func() {
					if dropped {
						return
					}
					dropped = true
					if err := l.db.DropIndex(t.Context(), added); err != nil {
						t.Errorf("drop: %v", err)
					}
				})
				if err != nil || !dropped {
					t.Fatalf("dropped %t, build: %v", dropped, err)
				}
				l.gone(t, added)
				if err := l.db.AddIndex(t.Context(), added, keep); err != nil {
					t.Fatalf("add again: %v", err)
				}
				l.build(-1, 30)
				consistent(t, l.db)
				if !slices.Contains(l.db.Indexes(), added) {
					t.Errorf("the index %s is missing: %v", added, l.db.Indexes())
				}
			})
		}
	}
}

// gone checks that no rows of an index are left.
func (l *changing) gone(t *testing.T, name string) {
	t.Helper()
	states, err := l.db.IndexStates(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range states {
		if s.Name == name {
			t.Errorf("index %s still exists: %s", name, text(s))
		}
	}
	consistent(t, l.db)
}

// An earlier version could leave an index in the catalogue that is neither active nor being added or dropped. Check
// reports it, and the next open resumes dropping it.
func TestAHalfDroppedIndexIsRepaired(t *testing.T) {
	v := modeltest.Variants()[0]
	s := &declared{Store: memory.New()}
	l := openChanging(t, v, s, testseed.Of(t, 790), []string{"address", "tag", "label"}, nil)
	l.grow(12, 4)
	if err := l.db.DropIndex(t.Context(), "tag"); err != nil {
		t.Fatal(err)
	}
	err := s.Update(t.Context(), func(r storage.Reader, b storage.Batch) error {
		row, err := r.Get(0, []byte("indexes"))
		row = bytes.Clone(row)
		name := bytes.Index(row, []byte("label")) // after 3 fields and the length of the name
		row[name-4], row[name-3] = 0, 0
		b.Put(0, []byte("indexes"), row)
		b.Delete(0, []byte("work"))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	reader, err := core.Open(t.Context(), s, core.Options{Chain: v.Chain("one"), ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	a, err := reader.Check(t.Context(), check.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"index tag", "index label"} {
		if got := text(a.Problems); a.OK || !strings.Contains(got, name) {
			t.Errorf("check of a database with a half-dropped index %s: %t, %s", name, a.OK, got)
		}
	}
	l.reopen(nil, nil)
	l.grow(2, 1)
	l.build(-1, 5)
	l.gone(t, "tag")
	l.gone(t, "label")
	if err := l.db.AddIndex(t.Context(), "tag", model.IndexOptions{}); err != nil {
		t.Fatal(err)
	}
	l.build(-1, 30)
	consistent(t, l.db)
}

// A rollback to the origin also resets a backfill, even if the first block has height 0.
func TestARollbackToTheOriginResetsABackfill(t *testing.T) {
	variants(t, func(t *testing.T, v modeltest.Variant) {
		first := firstIndexes(v)
		l := openChanging(t, v, memory.New(), testseed.Of(t, 800), first, nil)
		l.grow(10, 3)
		if err := l.db.AddIndex(t.Context(), "label", everything4); err != nil {
			t.Fatal(err)
		}
		l.build(1, 1)
		rollback(t, l.db, model.Point{})
		appendAll(t, l.db, having(l.chain, l.db.Indexes()...), 4)
		l.build(-1, 50)
		consistent(t, l.db)
		same(t, "built after a rollback to the origin", dump(t, l.db),
			l.made(append(slices.Clone(first), "label"), map[string]model.IndexOptions{"label": everything4}))
	})
}

// If a source switches to another branch during a backfill step, as the database does, the index has no values of the
// first branch.
func TestABackfillFollowsItsSourceToAnotherBranch(t *testing.T) {
	testrun.Slow(t)
	v := modeltest.Variants()[0]
	l := openChanging(t, v, memory.New(), testseed.Of(t, 810), []string{"address"}, nil)
	l.grow(120, 20) // more than nearTip, 100 blocks
	if err := l.db.AddIndex(t.Context(), "label", everything4); err != nil {
		t.Fatal(err)
	}
	opened := 0
	err := l.db.Build(t.Context(), func(_ context.Context, x *schema.Index, _ []model.Point) (model.Source, error) {
		if opened++; opened > 1 {
			return events(having(l.chain, x.Name)), nil
		}
		return &script{tip: l.chain[119].Point(), say: func(yield func(model.Event, error) bool) {
			for _, b := range having(l.chain[:10], x.Name) {
				if !yield(model.Event{Block: b}, nil) {
					return
				}
			}
			l.rollback(114)
			l.grow(130, 20)
			if !yield(back(l.chain[5].Point()), nil) {
				return
			}
			for _, b := range having(l.chain[6:], x.Name) {
				if !yield(model.Event{Block: b}, nil) {
					return
				}
			}
		}}, nil
	}, backfill.Options{Weight: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	consistent(t, l.db)
	same(t, "built over a fork", dump(t, l.db),
		l.made([]string{"address", "label"}, map[string]model.IndexOptions{"label": everything4}))
}

// Options that an existing database does not have are rejected, whether or not the indexes are listed.
func TestOpenRejectsOptionsThatTheDatabaseLacks(t *testing.T) {
	v := modeltest.Variants()[0]
	s := memory.New()
	kept := map[string]model.IndexOptions{"tag": {History: true}}
	l := openChanging(t, v, s, testseed.Of(t, 820), []string{"address", "tag"}, kept)
	l.grow(3, 3)
	for _, names := range [][]string{nil, {"address"}, {"address", "tag"}} {
		for what, c := range map[string]struct {
			keep map[string]model.IndexOptions
			code string
		}{
			"an option of address":   {map[string]model.IndexOptions{"address": {Balance: true}}, "index_mismatch"},
			"what is kept":           {map[string]model.IndexOptions{"tag": {History: true}, "address": {}}, ""},
			"one more option of tag": {map[string]model.IndexOptions{"tag": {History: true, Balance: true}}, "index_mismatch"},
		} {
			_, err := core.Open(t.Context(), s, core.Options{Chain: v.Chain("one"), Indexes: names, Keep: c.keep})
			if got := code(err); err == nil && c.code != "" || err != nil && got != c.code {
				t.Errorf("indexes %v, %s: %v, expected %q", names, what, err, c.code)
			}
		}
	}
}
