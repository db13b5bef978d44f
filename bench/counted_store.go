package bench

import (
	"context"
	"iter"
	"sync/atomic"

	"birthmark/storage"
)

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
