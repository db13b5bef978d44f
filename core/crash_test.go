package core_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"testing"
	"time"

	"birthmark/core"
	"birthmark/internal/guard"
	"birthmark/internal/testrun"
	"birthmark/internal/testseed"
	"birthmark/model"
	"birthmark/model/modeltest"
	"birthmark/storage"
	"birthmark/storage/memory"
	"birthmark/storage/rocks"
	"birthmark/storage/storetest"
)

// After a panic in a sync nothing more is written, because the caches may have half of a change. A process that opens the
// database again continues.
func TestAPanicAtAnyStepChangesNothing(t *testing.T) {
	variants(t, func(t *testing.T, v modeltest.Variant) {
		rng := testseed.Rand(t)
		blocks := v.NewGenerator(rng.Uint64()).Blocks(14)
		after, panicked := fresh(t, v, blocks), 0
		for round := range testrun.Amount(40, 4) {
			s := storetest.NewFaulty(memory.New())
			db := open(t, s, v, 1<<20)
			appendAll(t, db, blocks[:8], 4)
			before := dump(t, db)
			following := func() error {
				return core.Sync(t.Context(), db, events(blocks[7].Point(), blocks[8:]), core.SyncOptions{BatchBytes: 1})
			}
			steps := 60
			if round == 0 {
				steps = 3 // every sync has as many
			}
			s.FailAt(1 + rng.IntN(steps))
			s.Panics(true)
			err := following()
			s.FailAt(0)
			if err == nil {
				continue // it has fewer steps
			}
			if !errors.Is(err, guard.ErrPanic) {
				t.Fatalf("%v", err)
			}
			panicked++
			if err := following(); code(err) != "open_again" {
				t.Errorf("the next sync: %v", err)
			}
			if got := dump(t, db); db.Tip().Height == blocks[7].Height {
				same(t, "after the panic", got, before)
			}
			db = open(t, s, v, 1<<20)
			if err := core.Sync(t.Context(), db, events(db.Tip(), blocks[db.Tip().Height-blocks[0].Height+1:]), core.SyncOptions{}); err != nil {
				t.Fatal(err)
			}
			same(t, "synced at last", dump(t, db), after)
		}
		if panicked == 0 {
			t.Error("no sync panicked")
		}
	})
}

// If any read or write fails, the database keeps its state and can continue.
func TestAFailureAtAnyStepChangesNothing(t *testing.T) {
	testrun.Slow(t)
	variants(t, func(t *testing.T, v modeltest.Variant) {
		ctx := context.Background()
		blocks := v.NewGenerator(testseed.Of(t, 80)).Blocks(14)
		after := fresh(t, v, blocks)
		for _, caches := range []int64{0, 1 << 20} {
			s := storetest.NewFaulty(memory.New())
			db := open(t, s, v, caches)
			appendAll(t, db, blocks[:8], 4)
			before := dump(t, db)
			failed := 0
			for step := 1; ; step++ {
				s.FailAt(step)
				err := db.Append(ctx, blocks[8:])
				if err == nil {
					break
				}
				failed++
				if !errors.Is(err, storetest.ErrInjected) {
					t.Fatalf("step %d: %v", step, err)
				}
				s.FailAt(0)
				same(t, fmt.Sprintf("append failed at step %d", step), dump(t, db), before)
			}
			s.FailAt(0)
			if failed == 0 {
				t.Error("no step of an append failed")
			}
			same(t, "appended at last", dump(t, db), after)
			for step := 1; ; step++ {
				s.FailAt(step)
				err := db.Rollback(ctx, blocks[7].Point())
				if err == nil {
					break
				}
				if !errors.Is(err, storetest.ErrInjected) {
					t.Fatalf("step %d: %v", step, err)
				}
				s.FailAt(0)
				same(t, fmt.Sprintf("rollback failed at step %d", step), dump(t, db), after)
			}
			s.FailAt(0)
			same(t, "rolled back at last", dump(t, db), before)
			consistent(t, db)
		}
	})
}

// late is a store that, while failing is set, applies writes and then returns an error, like a disk that fails during
// fsync. If blind is set too, all reads after such a write fail.
type late struct {
	storage.Store
	failing, blind bool
	broken         bool // a write failed
}

var errLate = errors.New("applied, and then the disk broke")

func (s *late) Update(ctx context.Context, fn func(storage.Reader, storage.Batch) error) error {
	err := s.Store.Update(ctx, fn)
	if err == nil && s.failing {
		s.broken = true
		return errLate
	}
	return err
}

func (s *late) View(ctx context.Context, fn func(storage.Reader) error) error {
	if s.failing && s.blind && s.broken {
		return errLate
	}
	return s.Store.View(ctx, fn)
}

// If a rollback returns an error although it was applied, the caches contain nothing of the removed blocks: a branch
// with the same values at other positions is indexed correctly.
func TestAFailedRollbackLeavesNothingInTheCaches(t *testing.T) {
	ctx := context.Background()
	variants(t, func(t *testing.T, v modeltest.Variant) {
		v.ByHand = true // block hashes do not depend on the content
		blocks := v.NewGenerator(testseed.Of(t, 571)).Blocks(20)
		branch := branchOf(blocks, 5)
		for _, blind := range []bool{false, true} {
			s := &late{Store: memory.New(), blind: blind}
			db := open(t, s, v, 1<<20)
			appendAll(t, db, blocks[:12], 4)
			s.failing = true
			if err := db.Rollback(ctx, blocks[4].Point()); !errors.Is(err, errLate) {
				t.Fatal(err)
			}
			s.failing = false
			appendAll(t, db, branch, 3)
			same(t, "another branch after a failed rollback", dump(t, db), fresh(t, v, slices.Concat(blocks[:5], branch)))
			consistent(t, db)
		}
	})
}

// branchOf returns another branch after the first n blocks. It merges each pair of following blocks into one, so that
// nearly every transaction has another position.
func branchOf(blocks []*model.Block, n int) (branch []*model.Block) {
	parent := blocks[n-1].Point()
	for i := n; i+1 < len(blocks); i += 2 {
		b := *blocks[i+1]
		b.Height, b.Parent, b.Slot = parent.Height+1, parent.Hash, parent.Slot+1
		b.Hash[0]++
		b.Place = nil
		b.Txs = slices.Concat(blocks[i].Txs, blocks[i+1].Txs)
		parent = b.Point()
		branch = append(branch, &b)
	}
	return branch
}

// If a write returns an error although it was applied, the next operation continues from the actual state of the
// store.
func TestAFailedWriteThatWasAppliedIsDetected(t *testing.T) {
	ctx := context.Background()
	variants(t, func(t *testing.T, v modeltest.Variant) {
		blocks := v.NewGenerator(testseed.Of(t, 570)).Blocks(20)
		prefix := prefixes(t, v, blocks)
		for name, fail := range map[string]func(db *core.DB) error{
			"append":   func(db *core.DB) error { return db.Append(ctx, blocks[10:13]) },
			"rollback": func(db *core.DB) error { return db.Rollback(ctx, blocks[4].Point()) },
			"sync":     func(db *core.DB) error { return core.Sync(ctx, db, events(blocks), core.SyncOptions{BatchWeight: 1}) },
			"fork": func(db *core.DB) error {
				return core.Sync(ctx, db, events(blocks, blocks[15].Point(), blocks[16:]), core.SyncOptions{})
			},
		} {
			for _, then := range []string{"append", "rollback", "sync"} {
				s := &late{Store: memory.New()}
				db := open(t, s, v, 1<<16)
				appendAll(t, db, blocks[:10], 4)
				s.failing = true
				if err := fail(db); !errors.Is(err, errLate) {
					t.Fatalf("%s: %v", name, err)
				}
				s.failing = false
				have := slices.IndexFunc(blocks, func(b *model.Block) bool { return b.Point() == db.Tip() }) + 1
				if have == 10 {
					t.Fatalf("%s: the tip did not change", name)
				}
				same(t, name+" was applied", dump(t, db), prefix(have))
				switch then {
				case "append":
					appendAll(t, db, blocks[have:], 3)
				case "rollback":
					rollback(t, db, blocks[2].Point())
					appendAll(t, db, blocks[3:], 3)
				case "sync":
					sync(t, db, events(blocks), core.SyncOptions{})
				}
				same(t, name+", then "+then, dump(t, db), prefix(len(blocks)))
				consistent(t, db)
			}
		}
	})
}

const (
	crashDir  = "BIRTHMARK_CRASH_DIR"
	crashWAL  = "BIRTHMARK_CRASH_WAL"
	crashSeed = "BIRTHMARK_CRASH_SEED"
	crashAll  = 200 // blocks
)

var crashVariant = modeltest.Variants()[3]

// TestCrashChild is the process that TestAKillLeavesAPrefix kills. It resumes from the state at the kill and appends
// and rolls back blocks.
func TestCrashChild(t *testing.T) {
	dir := os.Getenv(crashDir)
	if dir == "" {
		t.Skip("started by TestAKillLeavesAPrefix")
	}
	n, err := strconv.ParseUint(os.Getenv(crashSeed), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	s, err := rocks.Open(dir, rocks.Options{WAL: os.Getenv(crashWAL) == "on", WriteBuffers: 4 << 20, Holder: "crash child"})
	if err != nil {
		t.Fatal(err)
	}
	var store storage.Store = s
	if os.Getenv(crashWAL) == "bulk" {
		store = inBulk{Store: s}
	}
	db := open(t, store, crashVariant, 1<<16)
	fmt.Println("opened")
	blocks := crashVariant.NewGenerator(n).Blocks(crashAll)
	next := 0
	if tip := db.Tip(); !tip.IsOrigin() {
		next = int(tip.Height-crashVariant.First) + 1
	}
	if os.Getenv(crashWAL) == "sync" {
		sync(t, db, events(blocks), core.SyncOptions{BatchWeight: 60, BulkWeight: 1, Progress: func(p core.Progress) {
			fmt.Println(p.Blocks + uint64(next))
		}})
		next = crashAll
	}
	for next < crashAll {
		w := min(1+next%7, crashAll-next)
		appendAll(t, db, blocks[next:next+w], w)
		next += w
		if next%5 == 0 && next > 3 {
			next -= 3
			rollback(t, db, blocks[next-1].Point())
			appendAll(t, db, blocks[next:next+3], 3)
			next += 3
		}
		fmt.Println(next)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// After a kill at any time (with a WAL, without one, with bulk writes, or during a bulk sync) the database opens
// without repair, all families contain the same prefix of the chain, and the final state equals an uninterrupted run.
// No acknowledged batch is lost, unless the WAL is off.
func TestAKillLeavesAPrefix(t *testing.T) {
	testrun.Slow(t)
	n := testseed.Of(t, 90)
	rng := rand.New(rand.NewPCG(n, 0))
	prefix := prefixes(t, crashVariant, crashVariant.NewGenerator(n).Blocks(crashAll))
	for _, wal := range []string{"on", "off", "bulk", "sync"} {
		t.Run("wal "+wal, func(t *testing.T) {
			dir := t.TempDir()
			kills := 3
			if wal == "sync" {
				kills = 6
			}
			for range kills {
				acknowledged := killed(t, dir, wal, n, time.Duration(rng.IntN(120))*time.Millisecond)
				s, err := rocks.Open(dir, rocks.Options{WAL: wal == "on", Holder: "test"})
				if err != nil {
					t.Fatalf("after a kill: %v", err)
				}
				db := open(t, s, crashVariant, 0)
				consistent(t, db)
				have := 0
				if tip := db.Tip(); !tip.IsOrigin() {
					have = int(tip.Height-crashVariant.First) + 1
				}
				// The kill may have interrupted a rollback of three blocks.
				if wal != "off" && have < acknowledged-3 {
					t.Errorf("%d blocks after a kill, %d were acknowledged", have, acknowledged)
				}
				if have > 0 {
					same(t, "after a kill", dump(t, db), prefix(have))
				}
				if err := s.Close(); err != nil {
					t.Fatal(err)
				}
				if have == crashAll {
					dir = t.TempDir() // start again with an empty database
				}
			}
			killed(t, dir, wal, n, time.Hour)
			s := openRocks(t, dir, wal == "on")
			db := open(t, s, crashVariant, 0)
			consistent(t, db)
			same(t, "finished after kills", dump(t, db), prefix(crashAll))
		})
	}
}

// killed runs the child until it ends or the duration has passed, and returns the number of blocks that it
// acknowledged.
func killed(t *testing.T, dir, wal string, seed uint64, after time.Duration) (acknowledged int) {
	t.Helper()
	child := exec.Command(os.Args[0], "-test.run=^TestCrashChild$", "-test.v")
	child.Env = append(os.Environ(), crashDir+"="+dir, crashWAL+"="+wal, crashSeed+"="+fmt.Sprint(seed))
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	var timer *time.Timer
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if lines.Text() == "opened" && timer == nil {
			timer = time.AfterFunc(after, func() { _ = child.Process.Kill() })
		}
		if n, err := strconv.Atoi(lines.Text()); err == nil {
			acknowledged = n
		}
	}
	if timer == nil {
		t.Fatalf("the child did not open its database: %v", child.Wait())
	}
	timer.Stop()
	if err := child.Wait(); err != nil && err.Error() != "signal: killed" {
		t.Fatalf("child: %v", err)
	}
	return acknowledged
}
