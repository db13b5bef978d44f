package bench

import (
	"context"
	"iter"
	"sync/atomic"

	"birthmark/storage"
)

// lookups counts the keys and ranges that are read from a store, and the rows found.
type lookups struct{ n, read atomic.Int64 }

// counting returns a reader that counts.
func (l *lookups) counting(r storage.Reader) storage.Reader { return countingReader{r, l} }

type countingReader struct {
	storage.Reader
	lookups *lookups
}

func (r countingReader) Get(f storage.Family, key []byte) ([]byte, error) {
	value, err := r.Reader.Get(f, key)
	r.found(value)
	return value, err
}

func (r countingReader) GetMany(f storage.Family, keys [][]byte) ([][]byte, error) {
	values, err := r.Reader.GetMany(f, keys)
	r.found(values...)
	return values, err
}

func (r countingReader) Suffixes(f storage.Family, prefixes [][]byte) ([][]byte, error) {
	suffixes, err := r.Reader.Suffixes(f, prefixes)
	r.found(suffixes...)
	return suffixes, err
}

// found counts one lookup per value, nil if there is no row.
func (r countingReader) found(values ...[]byte) {
	r.lookups.n.Add(int64(len(values)))
	rows := int64(0)
	for _, v := range values {
		if v != nil {
			rows++
		}
	}
	r.lookups.read.Add(rows)
}

func (r countingReader) Scan(f storage.Family, from, to []byte, reverse bool) iter.Seq2[storage.KV, error] {
	r.lookups.n.Add(1)
	return func(yield func(storage.KV, error) bool) {
		for kv, err := range r.Reader.Scan(f, from, to, reverse) {
			if err == nil {
				r.lookups.read.Add(1)
			}
			if !yield(kv, err) {
				return
			}
		}
	}
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
