// Package rockstest opens RocksDB stores for tests.
package rockstest

import (
	"testing"

	"birthmark/storage"
	"birthmark/storage/rocks"
)

// Open opens a RocksDB store with small caches. It is closed when the test ends.
func Open(t testing.TB, dir string, wal bool) storage.Store {
	t.Helper()
	return OpenWith(t, dir, rocks.Options{WAL: wal, BlockCache: 8 << 20, WriteBuffers: 8 << 20})
}

// OpenWith opens a RocksDB store with options, except that the test is the holder. It is closed when the test ends.
func OpenWith(t testing.TB, dir string, o rocks.Options) *rocks.Store {
	t.Helper()
	o.Holder = t.Name()
	s, err := rocks.Open(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}
