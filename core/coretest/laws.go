package coretest

import (
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"birthmark/core"
	"birthmark/internal/testrun"
	"birthmark/internal/testseed"
	"birthmark/model"
	"birthmark/model/modeltest"
	"birthmark/storage"
	"birthmark/storage/memory"
)

// Run checks that databases in a store have the properties that core guarantees, on the given variants of a chain, or on
// every one. open creates an empty store, which Run closes. [storetest.Run] checks the store itself.
//
// [storetest.Run]: https://pkg.go.dev/birthmark/storage/storetest#Run
func Run(t *testing.T, open func(t *testing.T) storage.Store, variants ...modeltest.Variant) {
	RunRows(t, open, variants...)
	run(t, map[string]property{
		"the answers are those of another store":  answersAreEqual,
		"a reader sees one state of the database": readersSeeWholeBatches,
	}, open, variants)
}

// RunRows checks the properties of the rows alone: they are a function of the chain, and a rollback undoes an append.
func RunRows(t *testing.T, open func(t *testing.T) storage.Store, variants ...modeltest.Variant) {
	run(t, map[string]property{
		"the rows are a function of the chain": rowsAreAFunctionOfTheChain,
		"rollback undoes append":               rollbackUndoesAppend,
		"reorganizations leave no trace":       detoursChangeNothing,
	}, open, variants)
}

// property checks a property of databases of a variant in the stores that open creates.
type property func(t *testing.T, v modeltest.Variant, open func() storage.Store)

func run(t *testing.T, properties map[string]property, open func(t *testing.T) storage.Store, variants []modeltest.Variant) {
	for name, holds := range properties {
		t.Run(name, func(t *testing.T) {
			modeltest.EachOf(t, variants, func(t *testing.T, v modeltest.Variant) {
				holds(t, v, func() storage.Store {
					s := open(t)
					t.Cleanup(func() { closeStore(t, s) })
					return s
				})
			})
		})
	}
}

func closeStore(t testing.TB, s storage.Store) {
	t.Helper()
	if err := s.Close(); err != nil {
		t.Errorf("close: %v", err)
	}
}

// rowsAreAFunctionOfTheChain compares databases of other batch sizes and caches with one in memory.
func rowsAreAFunctionOfTheChain(t *testing.T, v modeltest.Variant, open func() storage.Store) {
	blocks := v.NewGenerator(testseed.Of(t, 20)).Blocks(testrun.Amount(50, 30))
	want := Fresh(t, v, blocks)
	for _, cut := range []struct {
		batch  int
		caches int64
	}{{1, 0}, {7, 2 << 10}, {1, 8 << 20}, {500, 2 << 10}} {
		db := Open(t, open(), v, cut.caches)
		AppendAll(t, db, blocks, cut.batch)
		Same(t, "other batches and caches", Dump(t, db), want)
		Consistent(t, db)
	}
}

// rollbackUndoesAppend rolls back to each height down to the origin: the database equals one that never contained the
// blocks above.
func rollbackUndoesAppend(t *testing.T, v modeltest.Variant, open func() storage.Store) {
	n := 15
	blocks := v.NewGenerator(testseed.Of(t, 1)).Blocks(n)
	db := Open(t, open(), v, 1<<20)
	states := []Dumped{Dump(t, db)}
	for _, b := range blocks {
		AppendAll(t, db, []*model.Block{b}, 1)
		states = append(states, Dump(t, db))
	}
	Consistent(t, db)
	for i := n - 1; i >= 0; i-- {
		Rollback(t, db, Point(blocks, i-1))
		Same(t, "rolled back", Dump(t, db), states[i])
		Consistent(t, db)
	}
	AppendAll(t, db, blocks, 7)
	Same(t, "appended again", Dump(t, db), states[n])
	Rollback(t, db, model.Point{})
	Same(t, "rolled back to the origin at once", Dump(t, db), states[0])
}

// detoursChangeNothing appends and removes blocks of random branches: the database, including the totals, equals a
// database of the final chain, with and without caches.
func detoursChangeNothing(t *testing.T, v modeltest.Variant, open func() storage.Store) {
	for round := range uint64(testrun.Amount(4, 2)) {
		s := testseed.Of(t, 100) + round
		rng := rand.New(rand.NewPCG(s, 0))
		generators := []*modeltest.Generator{v.NewGenerator(s)}
		var blocks []*model.Block
		db := Open(t, open(), v, []int64{0, 1 << 10, 1 << 20}[rng.IntN(3)])
		for step := range 12 {
			if len(blocks) > 0 && rng.IntN(3) == 0 {
				keep := rng.IntN(len(blocks) + 1)
				if keep == 0 && v.Genesis {
					keep = 1 // another genesis would be another chain
				}
				Rollback(t, db, Point(blocks, keep-1))
				blocks, generators = blocks[:keep:keep], generators[:keep+1]
				generators[keep] = generators[keep].Fork(uint64(step + 1))
			}
			batch := []*model.Block{}
			for range 1 + rng.IntN(9) {
				g := generators[len(generators)-1].Fork(0)
				b := g.Next()
				batch, blocks, generators = append(batch, b), append(blocks, b), append(generators, g)
			}
			AppendAll(t, db, batch, 1+rng.IntN(5))
		}
		Consistent(t, db)
		Same(t, "after detours", Dump(t, db), Fresh(t, v, blocks))
	}
}

// answersAreEqual compares answers with those of a database in memory.
func answersAreEqual(t *testing.T, v modeltest.Variant, open func() storage.Store) {
	blocks := v.NewGenerator(testseed.Of(t, 200)).Blocks(25)
	here, there := Open(t, open(), v, 1<<16), Open(t, memory.New(), v, 1<<16)
	for _, db := range []*core.DB{here, there} {
		AppendAll(t, db, blocks, 4)
	}
	Consistent(t, here)
	got, want := Answers(t, here, blocks), Answers(t, there, blocks)
	for i := range want {
		if got[i] != want[i] {
			t.Fatalf("answer %d of %d:\n got %.1500s\nwant %.1500s", i, len(want), got[i], want[i])
		}
	}
}

// readersSeeWholeBatches dumps the database while blocks are appended and removed: each dump is the state at a block.
func readersSeeWholeBatches(t *testing.T, v modeltest.Variant, open func() storage.Store) {
	blocks := v.NewGenerator(testseed.Of(t, 70)).Blocks(12)
	prefix := Prefixes(t, v, blocks)
	var states []Dumped
	for n := range len(blocks) + 1 {
		states = append(states, prefix(n))
	}
	db := Open(t, open(), v, 1<<16)
	done := make(chan struct{})
	var reader sync.WaitGroup
	reader.Go(func() {
		for ended := false; !ended; {
			select {
			case <-done:
				ended = true
			default:
			}
			got, err := tryDump(db)
			if err != nil || !slices.ContainsFunc(states, func(s Dumped) bool { return slices.Equal(s, got) }) {
				t.Errorf("a dump of %d rows is not the state at a block (%v)", len(got), err)
				return
			}
		}
	})
	have := 0
	for _, to := range []int{12, 5, 12, 0, 7} {
		if have > to {
			Rollback(t, db, Point(blocks, to-1))
		} else {
			AppendAll(t, db, blocks[have:to], 3)
		}
		have = to
	}
	close(done)
	reader.Wait()
	Consistent(t, db)
	Same(t, "at the end", Dump(t, db), states[have])
}

// RunPersistent checks the properties of databases in a store that outlives its opening. open opens the store in dir,
// and creates it if it does not exist. It runs the variants of [Run].
func RunPersistent(t *testing.T, open func(t *testing.T, dir string) storage.Store, variants ...modeltest.Variant) {
	t.Run("a restart changes nothing", func(t *testing.T) {
		modeltest.EachOf(t, variants, func(t *testing.T, v modeltest.Variant) { restartChangesNothing(t, v, open) })
	})
}

func restartChangesNothing(t *testing.T, v modeltest.Variant, open func(*testing.T, string) storage.Store) {
	blocks := v.NewGenerator(testseed.Of(t, 30)).Blocks(60)
	dir := testrun.TempDir(t)
	for i := 0; i < len(blocks); i += 20 {
		s := open(t, dir)
		db := Open(t, s, v, 1<<20)
		if i > 0 && db.Tip() != blocks[i-1].Point() {
			t.Errorf("opened at %d, closed at %d", db.Tip().Height, blocks[i-1].Height)
		}
		AppendAll(t, db, blocks[i:i+20], 6)
		err := db.Append(t.Context(), blocks[i:i+20])
		if kind, _ := model.KindOf(err); err == nil || kind != model.BadSource {
			t.Errorf("the same blocks again: %v, expected an error of kind BadSource", err)
		}
		Consistent(t, db)
		if i+20 == len(blocks) {
			Same(t, "restarted", Dump(t, db), Fresh(t, v, blocks))
		}
		closeStore(t, s)
	}
}
