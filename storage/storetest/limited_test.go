package storetest_test

import (
	"context"
	"fmt"
	"testing"

	"birthmark/storage"
	"birthmark/storage/memory"
	"birthmark/storage/storetest"
)

func TestAStoreMayLimitItsRows(t *testing.T) {
	storetest.Run(t, func(*testing.T) storage.Store { return limited{memory.New()} })
}

// limited is a store with the limits that a distributed store may have.
type limited struct{ storage.Store }

func (limited) Limits() storage.Limits { return storage.Limits{Key: 4 << 10, Value: 512 << 10} }

func (s limited) Update(ctx context.Context, fn func(storage.Reader, storage.Batch) error) error {
	return s.Store.Update(ctx, func(r storage.Reader, b storage.Batch) error {
		checked := limitedBatch{Batch: b, limits: s.Limits()}
		if err := fn(r, &checked); err != nil {
			return err
		}
		return checked.err
	})
}

type limitedBatch struct {
	storage.Batch
	limits storage.Limits
	err    error
}

func (b *limitedBatch) Put(f storage.Family, key, value []byte) {
	if len(key) > b.limits.Key || len(value) > b.limits.Value {
		b.err = fmt.Errorf("key of %d and value of %d bytes: expected at most %+v", len(key), len(value), b.limits)
	}
	b.Batch.Put(f, key, value)
}
