package core_test

import (
	"iter"

	"birthmark/storage"
)

type countingReader struct {
	storage.Reader
	c *counting
}

func (r *countingReader) Get(f storage.Family, key []byte) ([]byte, error) {
	r.c.steps.Add(1)
	return r.Reader.Get(f, key)
}

func (r *countingReader) GetMany(f storage.Family, keys [][]byte) ([][]byte, error) {
	r.c.steps.Add(int64(len(keys)))
	return r.Reader.GetMany(f, keys)
}

func (r *countingReader) Scan(f storage.Family, from, to []byte, reverse bool) iter.Seq2[storage.KV, error] {
	return func(yield func(storage.KV, error) bool) {
		r.c.steps.Add(1)
		for kv, err := range r.Reader.Scan(f, from, to, reverse) {
			r.c.steps.Add(1)
			if !yield(kv, err) {
				return
			}
		}
	}
}

type countingBatch struct {
	storage.Batch
	c *counting
}

func (b *countingBatch) Put(f storage.Family, key, value []byte) {
	b.c.steps.Add(1)
	b.Batch.Put(f, key, value)
}

func (b *countingBatch) Delete(f storage.Family, key []byte) {
	b.c.steps.Add(1)
	b.Batch.Delete(f, key)
}
