package bench

import (
	"context"
	"iter"
	"os"
	"strconv"
	"strings"
	"sync/atomic"

	"birthmark/storage"
)

// diskIO is what the kernel has counted for a process or a thread; zero if the system does not report it.
type diskIO struct {
	read, written int64 // bytes from and to disk; written when they are in the page cache
	calls         int64 // system calls that read
}

func processIO() diskIO { return readIO("/proc/self/io") }
func threadIO() diskIO  { return readIO("/proc/thread-self/io") }

func readIO(path string) (d diskIO) {
	text, err := os.ReadFile(path)
	if err != nil {
		return d
	}
	for line := range strings.Lines(string(text)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
		n, _ := strconv.ParseInt(value, 10, 64)
		switch name {
		case "read_bytes":
			d.read = n
		case "write_bytes":
			d.written = n
		case "syscr":
			d.calls = n
		}
	}
	return d
}

func (d diskIO) minus(e diskIO) diskIO {
	return diskIO{d.read - e.read, d.written - e.written, d.calls - e.calls}
}

// lookups counts the keys and ranges that are read from a store.
type lookups struct{ n atomic.Int64 }

// counting returns a reader that counts.
func (l *lookups) counting(r storage.Reader) storage.Reader { return countingReader{r, l} }

type countingReader struct {
	storage.Reader
	lookups *lookups
}

func (r countingReader) Get(f storage.Family, key []byte) ([]byte, error) {
	r.lookups.n.Add(1)
	return r.Reader.Get(f, key)
}

func (r countingReader) GetMany(f storage.Family, keys [][]byte) ([][]byte, error) {
	r.lookups.n.Add(int64(len(keys)))
	return r.Reader.GetMany(f, keys)
}

func (r countingReader) Suffixes(f storage.Family, prefixes [][]byte) ([][]byte, error) {
	r.lookups.n.Add(int64(len(prefixes)))
	return r.Reader.Suffixes(f, prefixes)
}

func (r countingReader) Scan(f storage.Family, from, to []byte, reverse bool) iter.Seq2[storage.KV, error] {
	r.lookups.n.Add(1)
	return r.Reader.Scan(f, from, to, reverse)
}

// countedStore is a timedStore that counts what is read from it.
type countedStore struct {
	*timedStore
	lookups
}

// View implements [storage.Store].
func (s *countedStore) View(ctx context.Context, fn func(storage.Reader) error) error {
	return s.timedStore.View(ctx, func(r storage.Reader) error { return fn(s.counting(r)) })
}

// Update implements [storage.Store].
func (s *countedStore) Update(ctx context.Context, fn func(storage.Reader, storage.Batch) error) error {
	return s.timedStore.Update(ctx, s.updating(fn))
}

// UpdateBulk implements [storage.BulkUpdater].
func (s *countedStore) UpdateBulk(ctx context.Context, fn func(storage.Reader, storage.Batch) error) error {
	return s.timedStore.UpdateBulk(ctx, s.updating(fn))
}

func (s *countedStore) updating(fn func(storage.Reader, storage.Batch) error) func(storage.Reader, storage.Batch) error {
	return func(r storage.Reader, b storage.Batch) error { return fn(s.counting(r), b) }
}
