package core_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"birthmark/core"
	"birthmark/internal/testrun"
	"birthmark/internal/testseed"
	"birthmark/model"
	"birthmark/model/modeltest"
	"birthmark/storage"
	"birthmark/storage/memory"
)

// The cost of a rollback depends on the removed blocks and not on the size of the database.
func TestRollbackCostIsProportionalToTheRemovedRows(t *testing.T) {
	v := modeltest.Variants()[0]
	cost := func(below int) (n int64) {
		g := v.NewGenerator(testseed.Of(t, 5))
		blocks := g.Blocks(below)
		counted := &counting{Store: memory.New()}
		db := open(t, counted, v, 0)
		appendAll(t, db, blocks, 50)
		appendAll(t, db, g.Blocks(5), 5)
		rows := totalRows(t, db)
		before := counted.steps.Load()
		rollback(t, db, blocks[below-1].Point())
		steps := counted.steps.Load() - before
		rows -= totalRows(t, db)
		consistent(t, db)
		return steps / int64(rows)
	}
	small, large := cost(20), cost(400)
	if large > small+2 {
		t.Errorf("a rollback costs %d reads and writes per row in a small database, %d in a large one", small, large)
	}
}

func totalRows(t testing.TB, db *core.DB) (n uint64) {
	t.Helper()
	a, err := db.Status(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range a.Families {
		n += f.Rows()
	}
	return n
}

func TestRollbackRejectsUnknownBlocks(t *testing.T) {
	v := modeltest.Variants()[0]
	g := v.NewGenerator(testseed.Of(t, 6))
	blocks := g.Blocks(5)
	db := open(t, memory.New(), v, 0)
	appendAll(t, db, blocks, 5)
	want := dump(t, db)
	above := model.Point{Height: 9, Hash: blocks[4].Hash}
	other := model.Point{Height: 2, Hash: blocks[4].Hash}
	if err := db.Rollback(context.Background(), above); kind(err) != model.NotFound {
		t.Errorf("to a block above the tip: %v", err)
	}
	if err := db.Rollback(context.Background(), other); kind(err) != model.Usage {
		t.Errorf("to a block of another chain: %v", err)
	}
	same(t, "after refused rollbacks", dump(t, db), want)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := db.Rollback(ctx, blocks[0].Point()); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	same(t, "after a cancelled rollback", dump(t, db), want)
	consistent(t, db)
}

func kind(err error) model.ErrorKind {
	if err == nil {
		return 255
	}
	k, _ := model.KindOf(err)
	return k
}

// counting is a store that counts reads and changes.
type counting struct {
	storage.Store
	steps atomic.Int64
}

func (c *counting) View(ctx context.Context, fn func(storage.Reader) error) error {
	return c.Store.View(ctx, func(r storage.Reader) error { return fn(&countingReader{r, c}) })
}

func (c *counting) Update(ctx context.Context, fn func(storage.Reader, storage.Batch) error) error {
	return c.Store.Update(ctx, func(r storage.Reader, b storage.Batch) error {
		return fn(&countingReader{r, c}, &countingBatch{b, c})
	})
}

// A rollback of many rows uses bulk writes, one of few rows does not. The resulting database is the same.
func TestALargeRollbackIsInBulk(t *testing.T) {
	testrun.Slow(t)
	variants(t, func(t *testing.T, v modeltest.Variant) {
		blocks := v.NewGenerator(testseed.Of(t, 6)).Blocks(60)
		s := &bulkCounting{Store: openRocks(t, t.TempDir(), true)}
		db := open(t, s, v, 1<<20)
		db.SetRollbackRows(300)
		have := 0
		for i, to := range []int{59, 58, 20, 4, -1}[:amount(5, 3)] {
			appendAll(t, db, blocks[have:], 20)
			rows := totalRows(t, db)
			s.bulk, s.single = 0, 0
			rollback(t, db, point(blocks, to))
			rows -= totalRows(t, db)
			if i < 2 && s.bulk > 0 || rows > 1000 && s.bulk == 0 || s.bulk+s.single > 2+int(rows)/300 {
				t.Errorf("%d rows were removed in %d writes in bulk and %d others", rows, s.bulk, s.single)
			}
			same(t, "rolled back", dump(t, db), fresh(t, v, blocks[:to+1]))
			consistent(t, db)
			have = to + 1
		}
	})
}

// bulkCounting is a store that counts writes.
type bulkCounting struct {
	storage.Store
	bulk, single int
}

func (s *bulkCounting) Update(ctx context.Context, fn func(storage.Reader, storage.Batch) error) error {
	s.single++
	return s.Store.Update(ctx, fn)
}

func (s *bulkCounting) UpdateBulk(ctx context.Context, fn func(storage.Reader, storage.Batch) error) error {
	s.bulk++
	return s.Store.(storage.BulkUpdater).UpdateBulk(ctx, fn)
}
