package core_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"birthmark/core"
	"birthmark/internal/testrun"
	"birthmark/internal/testseed"
	"birthmark/model"
	"birthmark/model/modeltest"
	"birthmark/storage"
	"birthmark/storage/memory"
	"birthmark/storage/storetest"
)

// script is a source that sends the events of a test.
type script struct {
	tip   model.Point
	known []model.Point // argument of Follow
	say   func(yield func(model.Event, error) bool)
}

func (s *script) Tip(context.Context) (model.Point, error) { return s.tip, nil }
func (s *script) Close() error                             { return nil }

func (s *script) Follow(_ context.Context, known []model.Point) iter.Seq2[model.Event, error] {
	s.known = known
	return s.say
}

func back(to model.Point) model.Event { return model.Event{Rollback: &to} }

// events returns a source that sends blocks and rollbacks in order.
func events(es ...any) *script {
	s := &script{}
	for _, e := range es {
		if blocks, ok := e.([]*model.Block); ok && len(blocks) > 0 {
			s.tip = blocks[len(blocks)-1].Point()
		}
	}
	s.say = func(yield func(model.Event, error) bool) {
		for _, e := range es {
			switch e := e.(type) {
			case []*model.Block:
				for _, b := range e {
					if !yield(model.Event{Block: b}, nil) {
						return
					}
				}
			case model.Point:
				if !yield(back(e), nil) {
					return
				}
			case error:
				yield(model.Event{}, e)
				return
			}
		}
	}
	return s
}

func sync(t testing.TB, db *core.DB, s model.Source, o core.SyncOptions) {
	t.Helper()
	if err := core.Sync(context.Background(), db, s, o); err != nil {
		t.Fatal(err)
	}
}

func TestSyncWritesTheBlocksOfTheSource(t *testing.T) {
	variants(t, func(t *testing.T, v modeltest.Variant) {
		blocks := v.NewGenerator(testseed.Of(t, 110)).Blocks(150)
		want := fresh(t, v, blocks)
		for _, weight := range []int{1, 100, 0}[:amount(3, 2)] {
			db := open(t, memory.New(), v, 1<<16)
			var last core.Progress
			sync(t, db, events(blocks), core.SyncOptions{BatchWeight: weight, Progress: func(p core.Progress) { last = p }})
			same(t, fmt.Sprintf("batches of %d", weight), dump(t, db), want)
			consistent(t, db)
			if !last.Done || last.Blocks != 150 || last.Height != blocks[149].Height || last.Target != blocks[149].Height {
				t.Errorf("the last progress is %+v", last)
			}
			// Sync again, from a source that starts at any block.
			for _, from := range []int{0, 100, 149} {
				below := point(blocks, from-1)
				sync(t, db, events(below, blocks[from:]), core.SyncOptions{})
				same(t, "synced again", dump(t, db), want)
			}
		}
	})
}

// After reorganizations of any depth, onto shorter and longer branches and during pending batches, the database has
// the source's final chain.
func TestForksEndOnTheSourcesChain(t *testing.T) {
	testrun.Slow(t)
	v := modeltest.Variants()[3]
	n := testseed.Of(t, 120)
	rng := rand.New(rand.NewPCG(n, 0))
	for _, depth := range []int{1, 2, 10, 101, 200} {
		for _, length := range []int{max(depth-2, 1), depth + 3} {
			t.Run(fmt.Sprintf("%d onto %d", depth, length), func(t *testing.T) {
				trunk := v.NewGenerator(n)
				shared := trunk.Blocks(12)
				ours, theirs := trunk.Fork(1).Blocks(depth), trunk.Fork(2).Blocks(length)
				want := fresh(t, v, append(shared[:12:12], theirs...))
				fork := shared[11].Point()
				o := core.SyncOptions{BatchWeight: 1 + rng.IntN(200)}

				live := open(t, memory.New(), v, 1<<16)
				sync(t, live, events(shared, ours, fork, theirs), o)
				same(t, "forked while following", dump(t, live), want)
				consistent(t, live)

				later := open(t, memory.New(), v, 1<<16)
				sync(t, later, events(shared, ours), o)
				s := events(shared[4].Point(), shared[5:], theirs)
				sync(t, later, s, o)
				same(t, "forked while away", dump(t, later), want)
				consistent(t, later)
				if len(s.known) == 0 || s.known[0] != ours[depth-1].Point() {
					t.Errorf("the source received %d points, or the first is not the tip", len(s.known))
				}
				for i := 1; i < len(s.known); i++ {
					if s.known[i].Height >= s.known[i-1].Height {
						t.Fatalf("known points are not newest first: %d after %d", s.known[i].Height, s.known[i-1].Height)
					}
				}
				if len(s.known) > 64 {
					t.Errorf("%d points for %d blocks", len(s.known), 12+depth)
				}
			})
		}
	}
}

// A source that is behind the database and has no other blocks removes nothing.
func TestASourceThatIsBehindRemovesNothing(t *testing.T) {
	v := modeltest.Variants()[0]
	blocks := v.NewGenerator(testseed.Of(t, 130)).Blocks(40)
	db := open(t, memory.New(), v, 0)
	sync(t, db, events(blocks), core.SyncOptions{})
	want := dump(t, db)
	for _, s := range []*script{events(), events(blocks[10].Point()), events(blocks[10].Point(), blocks[11:30]), events(model.Point{}, blocks[:20])} {
		sync(t, db, s, core.SyncOptions{})
		same(t, "behind", dump(t, db), want)
	}
	other := v.NewGenerator(testseed.Of(t, 130) + 1).Blocks(50)
	err := core.Sync(context.Background(), db, events(model.Point{}, other), core.SyncOptions{})
	if _, code := model.KindOf(err); code != "wrong_chain" {
		t.Errorf("a different chain: %v", err)
	}
	same(t, "after another chain", dump(t, db), want)
	consistent(t, db)
}

// If a source confirms the database's tip and then rolls back, the database follows.
func TestASourceThatGoesBackFromOurTipIsFollowed(t *testing.T) {
	v := modeltest.Variants()[0]
	blocks := v.NewGenerator(testseed.Of(t, 131)).Blocks(40)
	for _, left := range []int{0, 3, 39} {
		db := open(t, memory.New(), v, 0)
		sync(t, db, events(blocks), core.SyncOptions{})
		to := model.Point{}
		if left > 0 {
			to = blocks[left-1].Point()
		}
		sync(t, db, events(blocks[39].Point(), to), core.SyncOptions{})
		if db.Tip() != to {
			t.Errorf("the tip is %v, expected %v", db.Tip(), to)
		}
		same(t, "gone back", dump(t, db), fresh(t, v, blocks[:left]))
		consistent(t, db)
	}
}

func TestSyncStopsAtTheRequestedHeight(t *testing.T) {
	v := modeltest.Variants()[2]
	blocks := v.NewGenerator(testseed.Of(t, 140)).Blocks(60)
	db := open(t, memory.New(), v, 0)
	for _, i := range []int{0, 24, 24, 10, 59} {
		to := blocks[i].Height
		have := int(db.Tip().Height)
		sync(t, db, events(point(blocks, have-1), blocks[have:]), core.SyncOptions{To: &to, BatchWeight: 37})
		if want := max(to, model.HeightPk(have)); db.Tip().Height != want {
			t.Errorf("sync to %d from %d ended at %d", to, have, db.Tip().Height)
		}
	}
	same(t, "in steps", dump(t, db), fresh(t, v, blocks))
	consistent(t, db)
}

// After any failure at any time, the database contains a prefix of the source's chain, and the next sync resumes
// there.
func TestASyncThatFailsLeavesAPrefix(t *testing.T) {
	testrun.Slow(t)
	v := modeltest.Variants()[3]
	n := testseed.Of(t, 150)
	rng := rand.New(rand.NewPCG(n, 0))
	blocks := v.NewGenerator(n).Blocks(80)
	first := prefixes(t, v, blocks)
	broken := errors.New("the cable was cut")
	prefix := func(t *testing.T, db *core.DB) int {
		t.Helper()
		have := 0
		if tip := db.Tip(); !tip.IsOrigin() {
			have = int(tip.Height-v.First) + 1
			same(t, "a prefix", dump(t, db), first(have))
		}
		consistent(t, db)
		return have
	}
	finish := func(t *testing.T, db *core.DB) {
		t.Helper()
		have := prefix(t, db)
		sync(t, db, events(point(blocks, have-1), blocks[have:]), core.SyncOptions{BatchWeight: 50})
		same(t, "finished", dump(t, db), first(len(blocks)))
	}
	t.Run("the source", func(t *testing.T) {
		for range 5 {
			cut := rng.IntN(len(blocks))
			db := open(t, memory.New(), v, 1<<16)
			err := core.Sync(context.Background(), db, events(blocks[:cut], broken), core.SyncOptions{BatchWeight: 1 + rng.IntN(300)})
			if !errors.Is(err, broken) {
				t.Fatalf("%v, expected %v", err, broken)
			}
			if have := prefix(t, db); have != cut {
				t.Errorf("%d blocks written of %d before the failure", have, cut)
			}
			finish(t, db)
		}
	})
	t.Run("a block", func(t *testing.T) {
		for range 5 {
			at := 1 + rng.IntN(len(blocks)-1)
			bad := *blocks[at]
			bad.Txs = append(bad.Txs[:len(bad.Txs):len(bad.Txs)], model.Tx{Hash: hash(1), Inputs: []model.Input{{Tx: hash(2)}}, Raw: []byte{1}})
			bad.Place = nil // the place has the sizes of the transactions
			db := open(t, memory.New(), v, 1<<16)
			err := core.Sync(context.Background(), db, events(blocks[:at], []*model.Block{&bad}, blocks[at+1:]), core.SyncOptions{BatchWeight: 1 + rng.IntN(300)})
			if kind(err) != model.BadSource || !strings.Contains(err.Error(), hash(2).String()) {
				t.Fatal(err)
			}
			if have := prefix(t, db); have > at {
				t.Errorf("%d blocks written, block %d is bad", have, at)
			}
			finish(t, db)
		}
	})
	t.Run("the store", func(t *testing.T) {
		for range 15 {
			s := storetest.NewFaulty(memory.New())
			db := open(t, s, v, 1<<16)
			s.FailAt(1 + rng.IntN(60))
			err := core.Sync(context.Background(), db, events(blocks), core.SyncOptions{BatchWeight: 1 + rng.IntN(100)})
			if err != nil && !errors.Is(err, storetest.ErrInjected) {
				t.Fatal(err)
			}
			s.FailAt(0)
			finish(t, db)
		}
	})
	t.Run("the user", func(t *testing.T) {
		for range 5 {
			ctx, cancel := context.WithCancel(context.Background())
			at := rng.IntN(len(blocks))
			s := &script{tip: blocks[79].Point()}
			s.say = func(yield func(model.Event, error) bool) {
				for i, b := range blocks {
					if i == at {
						cancel()
					}
					if !yield(model.Event{Block: b}, nil) {
						return
					}
				}
			}
			db := open(t, memory.New(), v, 1<<16)
			if err := core.Sync(ctx, db, s, core.SyncOptions{BatchWeight: 1 + rng.IntN(100)}); !errors.Is(err, context.Canceled) {
				t.Fatal(err)
			}
			finish(t, db)
		}
	})
}

// At the tip, a block is written at once and does not wait for a full batch.
func TestABlockAtTheTipIsWrittenAtOnce(t *testing.T) {
	v := modeltest.Variants()[0]
	blocks := v.NewGenerator(testseed.Of(t, 160)).Blocks(20)
	db := open(t, memory.New(), v, 0)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	written := make(chan struct{})
	s := &script{tip: blocks[19].Point()}
	s.say = func(yield func(model.Event, error) bool) {
		for _, b := range blocks {
			if !yield(model.Event{Block: b}, nil) {
				return
			}
		}
		<-ctx.Done() // no more events
	}
	done := make(chan error)
	go func() {
		done <- core.Sync(ctx, db, s, core.SyncOptions{})
	}()
	go func() {
		for db.Tip() != blocks[19].Point() {
			if ctx.Err() != nil {
				return
			}
			time.Sleep(time.Millisecond)
		}
		close(written)
	}()
	<-written
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	same(t, "at the tip", dump(t, db), fresh(t, v, blocks))
	consistent(t, db)
}

// compacting is a store that supports bulk writes and counts its compactions.
type compacting struct {
	inBulkToo
	times atomic.Int32
	fail  error
}

type inBulkToo struct{ storage.Store }

func (s inBulkToo) UpdateBulk(ctx context.Context, fn func(storage.Reader, storage.Batch) error) error {
	return s.Update(ctx, fn)
}

func (s *compacting) Compact(context.Context) error {
	s.times.Add(1)
	return s.fail
}

// A database is compacted after most of it was written in bulk: at the end of the sync, or concurrently with new
// blocks if the sync continues. A sync that adds little does not compact.
func TestAFirstSyncEndsCompacted(t *testing.T) {
	v := modeltest.Variants()[0]
	blocks := v.NewGenerator(testseed.Of(t, 320)).Blocks(30)
	bulk := core.SyncOptions{BatchWeight: 20, BulkWeight: 1}
	s := &compacting{inBulkToo: inBulkToo{memory.New()}}
	db := open(t, s, v, 1<<20)
	sync(t, db, events(blocks[:20]), bulk)
	if n := s.times.Load(); n != 1 {
		t.Errorf("compacted %d times at the end of the first sync", n)
	}
	sync(t, db, events(blocks[20:22]), core.SyncOptions{BulkWeight: -1})
	sync(t, db, events(blocks[22:24]), bulk)
	if n := s.times.Load(); n != 1 {
		t.Errorf("compacted %d times after syncs that wrote little", n)
	}
	consistent(t, db)

	s = &compacting{inBulkToo: inBulkToo{memory.New()}}
	db = open(t, s, v, 1<<20)
	ctx, stop := context.WithCancel(context.Background())
	source := &script{tip: blocks[19].Point(), say: func(yield func(model.Event, error) bool) {
		for _, b := range blocks[:22] {
			if b.Height == blocks[20].Height {
				time.Sleep(4 * 20 * time.Millisecond) // so that the earlier blocks are written
			}
			if !yield(model.Event{Block: b}, nil) {
				return
			}
		}
		for range 60_000 {
			if time.Sleep(5 * time.Millisecond); s.times.Load() > 0 {
				break
			}
		}
		stop()
		<-ctx.Done()
	}}
	weight := 0
	for _, b := range blocks[:20] {
		weight += b.Weight()
	}
	o := core.SyncOptions{BatchWeight: 10 * weight, BulkWeight: weight / 2}
	if err := core.Sync(ctx, db, source, o); !errors.Is(err, context.Canceled) {
		t.Errorf("the following sync returns %v", err)
	}
	if n := s.times.Load(); n != 1 {
		t.Errorf("compacted %d times while following", n)
	}

	s = &compacting{inBulkToo: inBulkToo{memory.New()}, fail: errors.New("the disk is full")}
	db = open(t, s, v, 1<<20)
	if err := core.Sync(context.Background(), db, events(blocks), bulk); !errors.Is(err, s.fail) {
		t.Errorf("a store whose compaction fails: %v", err)
	}
	if db.Tip() != blocks[29].Point() {
		t.Errorf("its tip is %d", db.Tip().Height)
	}
}

// A sync without options writes few blocks through the log, and not in bulk.
func TestFewBlocksAreNotWrittenInBulk(t *testing.T) {
	v := modeltest.Variants()[0]
	s := &bulkCounting{Store: inBulkToo{memory.New()}}
	db := open(t, s, v, 1<<20)
	sync(t, db, events(v.NewGenerator(testseed.Of(t, 326)).Blocks(20)), core.SyncOptions{})
	if s.bulk > 0 || s.single == 0 {
		t.Errorf("20 small blocks were written in %d bulk writes and %d others", s.bulk, s.single)
	}
	consistent(t, db)
}

// A failing source is reported at once, without compacting the database first.
func TestASyncThatFailsDoesNotCompact(t *testing.T) {
	v := modeltest.Variants()[0]
	blocks := v.NewGenerator(testseed.Of(t, 325)).Blocks(20)
	s := &compacting{inBulkToo: inBulkToo{memory.New()}}
	db := open(t, s, v, 1<<20)
	refused := errors.New("connection refused")
	bulk := core.SyncOptions{BatchWeight: 20, BulkWeight: 1}
	source := events(blocks, refused)
	source.tip.Height += 100 // the source has more blocks
	if err := core.Sync(t.Context(), db, source, bulk); !errors.Is(err, refused) {
		t.Errorf("a source that fails: %v", err)
	}
	if n := s.times.Load(); n != 0 || db.Tip() != blocks[19].Point() {
		t.Errorf("compacted %d times, at block %d", n, db.Tip().Height)
	}
	consistent(t, db)
}
