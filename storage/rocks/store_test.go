package rocks_test

import (
	"context"
	"sync/atomic"
	"testing"

	"birthmark/storage"
	"birthmark/storage/rocks"
	"birthmark/storage/rocks/naive"
	"birthmark/storage/storetest"
)

// small uses minimal buffers, so that tables are written early.
func small(wal bool) rocks.Options {
	return rocks.Options{WAL: wal, WriteBuffers: 1, BlockCache: 1, Holder: "the tests"}
}

// ways lists the ways to open a database for writing.
var ways = map[string]func(t *testing.T, dir string) storage.Store{
	"WAL":            func(t *testing.T, dir string) storage.Store { return open(t, dir, small(true)) },
	"no WAL":         func(t *testing.T, dir string) storage.Store { return open(t, dir, small(false)) },
	"bulk":           func(t *testing.T, dir string) storage.Store { return inBulk{open(t, dir, small(true))} },
	"bulk, no WAL":   func(t *testing.T, dir string) storage.Store { return inBulk{open(t, dir, small(false))} },
	"bulk, at times": func(t *testing.T, dir string) storage.Store { return &atTimes{Store: open(t, dir, small(false))} },
	"naive": func(t *testing.T, dir string) storage.Store {
		s, err := naive.Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		return s
	},
}

// inBulk is a store with bulk updates only.
type inBulk struct{ *rocks.Store }

func (s inBulk) Update(ctx context.Context, fn func(storage.Reader, storage.Batch) error) error {
	return s.UpdateBulk(ctx, fn)
}

// atTimes is a store whose every third update is a bulk update.
type atTimes struct {
	*rocks.Store
	n atomic.Int64
}

func (s *atTimes) Update(ctx context.Context, fn func(storage.Reader, storage.Batch) error) error {
	if s.n.Add(1)%3 == 0 {
		return s.UpdateBulk(ctx, fn)
	}
	return s.Store.Update(ctx, fn)
}

// open opens a database and closes it at the end of the test.
func open(t testing.TB, dir string, o rocks.Options) *rocks.Store {
	t.Helper()
	s, err := rocks.Open(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func TestStore(t *testing.T) {
	for name, way := range ways {
		// Bulk updates do not depend on the log: those without it are among the updates of "bulk, at times".
		if testing.Short() && name != "bulk, at times" || name == "bulk, no WAL" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			storetest.Run(t, func(t *testing.T) storage.Store { return way(t, t.TempDir()) })
			storetest.RunPersistent(t, way)
		})
	}
}
