package core_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"birthmark/core"
	"birthmark/core/check"
	"birthmark/core/query"
	"birthmark/internal/testrun"
	"birthmark/internal/testseed"
	"birthmark/model"
	"birthmark/model/modeltest"
	"birthmark/storage"
	"birthmark/storage/memory"
	"birthmark/storage/storetest"
)

// history is the expected list of orphaned blocks of a database.
type history struct {
	chain []*model.Block
	lost  []query.LostBlockAnswer // in the order in which they were orphaned
	left  int                     // length of the chain after the last reorganization
	depth int                     // depth of the last reorganization
}

// lose orphans the blocks above the first keep. If no block was added since the last reorganization, it extends that
// one.
func (h *history) lose(keep int) {
	if len(h.chain) != h.left {
		h.depth = 0
	}
	for i := len(h.chain) - 1; i >= keep; i-- {
		b := h.chain[i]
		h.depth++
		h.lost = append(h.lost, query.LostBlockAnswer{Height: uint32(b.Height), Hash: b.Hash.String(), Time: b.Time, Depth: h.depth})
	}
	h.chain, h.left = h.chain[:keep:keep], keep
}

// answer returns the expected answer of Forks, without times.
func (h *history) answer() []query.LostBlockAnswer {
	all := slices.Clone(h.lost)
	next := map[uint32]string{} // by height: the block that came after the lost one
	for _, b := range h.chain {
		next[uint32(b.Height)] = b.Hash.String()
	}
	for i := range slices.Backward(all) {
		if hash, ok := next[all[i].Height]; ok {
			all[i].ReplacedBy = &hash
		}
		next[all[i].Height] = all[i].Hash
	}
	if len(all) > 1000 {
		all = all[len(all)-1000:]
	}
	slices.Reverse(all)
	return all
}

// The check fails unless the database lists the expected blocks, in pages of limit, with times since the given one.
func (h *history) remembers(t testing.TB, db *core.DB, limit int, since time.Time) {
	t.Helper()
	got, p := []query.LostBlockAnswer{}, query.Page{Limit: limit}
	for {
		a, err := db.Forks(context.Background(), p)
		if err != nil {
			t.Fatal(err)
		}
		if a.Chain != "testchain" || a.Network != "one" || len(a.Forks) > limit || a.Next != nil && len(a.Forks) != limit {
			t.Fatalf("a page of %d: %s", limit, text(a))
		}
		got = append(got, a.Forks...)
		if a.Next == nil {
			break
		}
		p.After = *a.Next
	}
	for i := range got {
		if at := got[i].LostAt; at < since.Unix() || at > time.Now().Unix() {
			t.Fatalf("block %d was lost at %d, the test began at %d", got[i].Height, at, since.Unix())
		}
		got[i].LostAt = 0
	}
	want := h.answer()
	for i := range max(len(got), len(want)) {
		if i >= len(got) || i >= len(want) || text(got[i]) != text(want[i]) {
			t.Fatalf("%d lost blocks, expected %d; number %d is\n%s, expected\n%s", len(got), len(want), i, text(got[i:min(i+1, len(got))]), text(want[i:min(i+1, len(want))]))
		}
	}
}

// The database lists every block that it orphaned, during a sync or on resuming, and otherwise equals a database of
// the final chain.
func TestOrphanedBlocksAreRecordedAndChangeNothingElse(t *testing.T) {
	variants(t, func(t *testing.T, v modeltest.Variant) {
		for round := range uint64(amount(6, 2)) {
			n := testseed.Of(t, 500) + round
			rng := rand.New(rand.NewPCG(n, 0))
			began := time.Now()
			h := &history{}
			generators := []*modeltest.Generator{v.NewGenerator(n)}
			made := uint64(0)
			more := func(n int) (blocks []*model.Block) {
				for range n {
					made++ // every block is generated once
					g := generators[len(generators)-1].Fork(made)
					blocks, generators = append(blocks, g.Next()), append(generators, g)
				}
				h.chain = append(h.chain, blocks...)
				return blocks
			}
			back := func() model.Point {
				keep := 1 + rng.IntN(len(h.chain))
				if keep < len(h.chain) && rng.IntN(2) == 0 {
					keep = len(h.chain) - 1
				}
				h.lose(keep)
				generators = generators[:keep+1]
				return point(h.chain, keep-1)
			}
			store := memory.New()
			db := open(t, store, v, 1<<16)
			for range 12 {
				var said []any
				if len(h.chain) > 0 {
					said = append(said, point(h.chain, len(h.chain)-1)) // the source starts at the database's tip
				}
				if len(h.chain) > 1 && rng.IntN(2) == 0 {
					said = []any{back()} // reorganized before the sync; the next block reveals it
				}
				said = append(said, more(1+rng.IntN(6)))
				for rng.IntN(3) == 0 {
					said = append(said, back())
					if rng.IntN(4) > 0 {
						said = append(said, more(1+rng.IntN(4)))
					}
				}
				sync(t, db, events(said...), core.SyncOptions{BatchWeight: 1 + rng.IntN(100)})
				if rng.IntN(3) == 0 {
					db = open(t, store, v, 1<<16)
				}
				h.remembers(t, db, 1+rng.IntN(10), began)
				consistent(t, db)
			}
			if len(h.lost) == 0 {
				t.Fatal("no block was lost")
			}
			same(t, "after forks", dump(t, db), fresh(t, v, h.chain))
		}
	})
}

// ReplacedBy is the next block at the height of an orphan, even if that block was orphaned too. It is the block
// itself if the block returned to the chain.
func TestForksReportTheNextBlocks(t *testing.T) {
	v := modeltest.Variants()[0]
	for name, store := range stores() {
		t.Run(name, func(t *testing.T) {
			began := time.Now()
			trunk := v.NewGenerator(testseed.Of(t, 510))
			shared := trunk.Blocks(4)
			a, b := trunk.Fork(1).Blocks(3), trunk.Fork(2).Blocks(2)
			db := open(t, store(t), v, 1<<16)
			h := &history{}
			h.remembers(t, db, 25, began)
			sync(t, db, events(shared, a), core.SyncOptions{})
			h.chain = slices.Concat(shared, a)
			h.remembers(t, db, 25, began)
			for _, branch := range [][]*model.Block{b, a, b[:1]} {
				sync(t, db, events(shared[3].Point(), branch), core.SyncOptions{})
				h.lose(4)
				h.chain = append(h.chain, branch...)
				h.remembers(t, db, 2, began)
			}
			for i, want := range []*model.Block{
				b[0], nil, nil, // the last branch ends below a[1] and a[2]
				a[0], a[1],
				b[0], b[1], a[2],
			} {
				switch got := h.answer()[i].ReplacedBy; {
				case want == nil && got != nil, want != nil && (got == nil || *got != want.Hash.String()):
					t.Errorf("number %d was replaced by %s, expected %v", i, text(got), want)
				}
			}
			// The chain switches away and back without another block at the height.
			sync(t, db, events(b[0].Point(), b[1:], shared[3].Point(), b), core.SyncOptions{})
			h.chain = append(h.chain, b[1])
			h.lose(4)
			h.chain = append(h.chain, b...)
			h.remembers(t, db, 25, began)
			if first := h.answer()[0]; *first.ReplacedBy != first.Hash {
				t.Errorf("a block that returned: %s", text(first))
			}
			consistent(t, db)
			same(t, "back and forth", dump(t, db), fresh(t, v, h.chain))
		})
	}
}

// An explicit rollback is not recorded as a reorganization.
func TestARollbackByTheUserIsNotRecorded(t *testing.T) {
	v := modeltest.Variants()[3]
	blocks := v.NewGenerator(testseed.Of(t, 520)).Blocks(20)
	db := open(t, memory.New(), v, 0)
	sync(t, db, events(blocks), core.SyncOptions{})
	rollback(t, db, blocks[10].Point())
	sync(t, db, events(blocks[10].Point(), blocks[11:]), core.SyncOptions{})
	(&history{chain: blocks}).remembers(t, db, 25, time.Now())
}

// The database keeps the last 1,000 orphaned blocks, for reorganizations of any depth and any number of writes.
func TestTheLastThousandOrphanedBlocksAreKept(t *testing.T) {
	testrun.Slow(t)
	began := time.Now()
	v := modeltest.Variant{Name: "empty blocks", ByHand: true}
	h := &history{}
	salt := uint32(0)
	grow := func(n int) []*model.Block {
		for range n {
			b := &model.Block{Time: 7, Height: model.HeightPk(len(h.chain))}
			if len(h.chain) > 0 {
				b.Parent = h.chain[len(h.chain)-1].Hash
			}
			salt++
			binary.BigEndian.PutUint32(b.Hash[:], salt)
			h.chain = append(h.chain, b)
		}
		return h.chain[len(h.chain)-n:]
	}
	store := memory.New()
	db := open(t, store, v, 0)
	db.SetRollbackRows(2_000)
	sync(t, db, events(grow(3500)), core.SyncOptions{})
	for _, c := range []struct{ depth, next int }{{3, 1}, {996, 997}, {1, 2}, {1, 1}, {1000, 1}, {2400, 2600}, {1001, 3}, {1, 2}, {7, 1}} {
		h.lose(len(h.chain) - c.depth)
		at := len(h.chain)
		sync(t, db, events(h.chain[at-1].Point(), grow(c.next)), core.SyncOptions{})
		h.remembers(t, db, 333, began)
	}
	consistent(t, db)
	db = open(t, store, v, 0)
	h.remembers(t, db, 1000, began)
	a, err := db.Status(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range a.Families {
		if f.Name == "lost_block_by_lost_pk" && f.Rows() != 1000 {
			t.Errorf("status counts %d lost blocks", f.Rows())
		}
	}
}

// If any step of a reorganization fails, the database lists exactly the blocks that were removed. A retry completes
// the same reorganization.
func TestAFailedReorgRecordsTheRemovedBlocks(t *testing.T) {
	testrun.Slow(t)
	v := modeltest.Variants()[3]
	trunk := v.NewGenerator(testseed.Of(t, 530))
	shared := trunk.Blocks(6)
	ours, theirs := trunk.Fork(1).Blocks(3), trunk.Fork(2).Blocks(4)
	before, after := slices.Concat(shared, ours), slices.Concat(shared, theirs)
	want := fresh(t, v, after)
	fork := events(shared[5].Point(), theirs)
	partly := 0
	synced := memory.New()
	sync(t, open(t, synced, v, 1<<16), events(before), core.SyncOptions{})
	for step := 1; ; step++ {
		began := time.Now()
		inner := synced.Clone()
		s := storetest.NewFaulty(inner)
		db := open(t, s, v, 1<<16)
		db.SetRollbackRows(1)
		s.FailAt(step)
		err := core.Sync(context.Background(), db, fork, core.SyncOptions{BatchWeight: 20})
		if err == nil && s.Steps() < step {
			break
		}
		if err != nil && !errors.Is(err, storetest.ErrInjected) {
			t.Fatalf("step %d: %v", step, err)
		}
		s.FailAt(0)
		h := &history{chain: before}
		if at := slices.IndexFunc(before, func(b *model.Block) bool { return b.Point() == db.Tip() }); at >= 6 {
			h.lose(at + 1)
			if at < len(before)-1 {
				partly++
			}
		} else {
			h.lose(6)
			h.chain = append(h.chain, theirs[:int(db.Tip().Height)-int(shared[5].Height)]...)
		}
		h.remembers(t, db, 25, began)
		consistent(t, db)
		if step%2 == 0 {
			db = open(t, inner, v, 0)
		}
		sync(t, db, fork, core.SyncOptions{})
		h = &history{chain: before}
		h.lose(6)
		h.chain = after
		h.remembers(t, db, 25, began)
		same(t, fmt.Sprintf("failed at step %d", step), dump(t, db), want)
		consistent(t, db)
	}
	if partly == 0 {
		t.Error("no reorganization failed halfway")
	}
}

func TestCursorsOfForks(t *testing.T) {
	v := modeltest.Variants()[0]
	trunk := v.NewGenerator(testseed.Of(t, 540))
	shared := trunk.Blocks(5)
	db := open(t, memory.New(), v, 0)
	sync(t, db, events(shared, trunk.Fork(1).Blocks(3), shared[4].Point(), trunk.Fork(2).Blocks(3)), core.SyncOptions{})
	ctx := context.Background()
	first, err := db.Forks(ctx, query.Page{Limit: 1})
	if err != nil || first.Next == nil {
		t.Fatalf("%s, %v", text(first), err)
	}
	// Blocks that are orphaned between two pages do not change the following pages.
	sync(t, db, events(shared[4].Point(), trunk.Fork(3).Blocks(1)), core.SyncOptions{})
	rest, err := db.Forks(ctx, query.Page{After: *first.Next})
	if err != nil || len(rest.Forks) != 2 || rest.Forks[0].Depth != 2 || rest.Forks[1].Depth != 1 {
		t.Errorf("%s, %v", text(rest), err)
	}
	found := newReference(v, shared).lists()[0]
	for _, after := range []string{"x", *first.Next + "A", (*first.Next)[:20]} {
		if _, err := db.Forks(ctx, query.Page{After: after}); code(err) != "bad_cursor" {
			t.Errorf("after %q: %v", after, err)
		}
	}
	if _, _, err := found.page(db, query.Page{After: *first.Next}); code(err) != "bad_cursor" {
		t.Errorf("%s after a cursor of forks: %v", found.name, err)
	}
	if _, err := db.Forks(ctx, query.Page{Limit: query.MaxLimit + 1}); kind(err) != model.Usage {
		t.Errorf("a page too long: %v", err)
	}
}

// The list of orphaned blocks is not redundant, so check verifies only its numbers and depths.
func TestCheckFindsDamageAmongOrphanedBlocks(t *testing.T) {
	ctx := context.Background()
	v := modeltest.Variants()[0]
	trunk := v.NewGenerator(testseed.Of(t, 550))
	shared := trunk.Blocks(5)
	for what, damage := range map[string]func(b storage.Batch, f storage.Family, rows []storage.KV){
		"the first is missing": func(b storage.Batch, f storage.Family, rows []storage.KV) { b.Delete(f, rows[0].Key) },
		"one is missing":       func(b storage.Batch, f storage.Family, rows []storage.KV) { b.Delete(f, rows[2].Key) },
		"one is cut":           func(b storage.Batch, f storage.Family, rows []storage.KV) { b.Put(f, rows[1].Key, rows[1].Value[:30]) },
		"one is empty":         func(b storage.Batch, f storage.Family, rows []storage.KV) { b.Put(f, rows[3].Key, nil) },
		"one is longer": func(b storage.Batch, f storage.Family, rows []storage.KV) {
			b.Put(f, rows[3].Key, append(rows[3].Value, 0))
		},
		"one is not deep": func(b storage.Batch, f storage.Family, rows []storage.KV) {
			b.Put(f, rows[0].Key, append(rows[0].Value[:len(rows[0].Value)-1], 0))
		},
		"one is deeper": func(b storage.Batch, f storage.Family, rows []storage.KV) {
			b.Put(f, rows[0].Key, append(rows[0].Value[:len(rows[0].Value)-1], 2))
		},
		"one is out of its place": func(b storage.Batch, f storage.Family, rows []storage.KV) { b.Put(f, rows[1].Key, rows[2].Value) },
		"one is too many": func(b storage.Batch, f storage.Family, rows []storage.KV) {
			b.Put(f, binary.BigEndian.AppendUint64(nil, 77), rows[0].Value)
		},
		"a number is cut": func(b storage.Batch, f storage.Family, rows []storage.KV) { b.Put(f, []byte{0, 0, 9}, rows[0].Value) },
		"one has no height": func(b storage.Batch, f storage.Family, rows []storage.KV) {
			b.Put(f, rows[0].Key, append([]byte{0xff}, rows[0].Value[1:]...))
		},
		"one has the height of another": func(b storage.Batch, f storage.Family, rows []storage.KV) {
			v := bytes.Clone(rows[1].Value)
			v[3] ^= 9
			b.Put(f, rows[1].Key, v)
		},
		"the first of several gone": func(b storage.Batch, f storage.Family, rows []storage.KV) {
			b.Delete(f, rows[0].Key)
			b.Delete(f, rows[1].Key)
		},
	} {
		s := &declared{Store: memory.New()}
		db := open(t, s, v, 0)
		sync(t, db, events(shared, trunk.Fork(1).Blocks(3), shared[4].Point(), trunk.Fork(2).Blocks(3), shared[4].Point()), core.SyncOptions{})
		consistent(t, db)
		for _, d := range s.Declarations {
			if d.Name == "lost_block_by_lost_pk" {
				rows := rowsOf(t, s, d.Family)
				update(t, s, func(b storage.Batch) { damage(b, d.Family, rows) })
			}
		}
		a, err := db.Check(ctx, check.Options{})
		if err != nil || a.OK || a.Problems[0].Family != "lost_block_by_lost_pk" {
			t.Errorf("%s: %s, %v", what, text(a), err)
		}
	}
}
