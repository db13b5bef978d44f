package rocks_test

import (
	"testing"

	"birthmark/storage"
	"birthmark/storage/rocks"
	"birthmark/storage/storetest"
)

// small keeps the buffers at their least, so that tables are written early.
func small(wal bool) rocks.Options {
	return rocks.Options{WAL: wal, WriteBuffers: 1, BlockCache: 1, Holder: "the tests"}
}

// ways are the ways of opening a database to be written.
var ways = map[string]func(t *testing.T, dir string) storage.Store{
	"WAL":    func(t *testing.T, dir string) storage.Store { return open(t, dir, small(true)) },
	"no WAL": func(t *testing.T, dir string) storage.Store { return open(t, dir, small(false)) },
	"naive": func(t *testing.T, dir string) storage.Store {
		s, err := rocks.OpenNaive(dir)
		if err != nil {
			t.Fatal(err)
		}
		return s
	},
}

// open opens a database and closes it when the test ends, if the test did not.
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
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			storetest.Run(t, func(t *testing.T) storage.Store { return way(t, t.TempDir()) })
			storetest.RunPersistent(t, way)
		})
	}
}
