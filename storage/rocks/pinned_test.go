package rocks

import (
	"context"
	"encoding/binary"
	"math/rand/v2"
	"strconv"
	"testing"

	"birthmark/internal/testrun"
	"birthmark/storage"
)

// GetMany pins the blocks of its values in the block cache, beyond the limit of the cache, until the values are copied.
// The pinned size must be small for any number of keys.
func TestGetManyHoldsLittleOfTheBlockCache(t *testing.T) {
	testrun.Slow(t) // writes 40 MB
	const rows, rowBytes, most = 40_000, 1000, 10 << 20
	s, err := Open(t.TempDir(), Options{WriteBuffers: 64 << 20})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.Declare(storage.Declaration{Family: 1, Name: "family", Access: storage.Lookup}); err != nil {
		t.Fatal(err)
	}
	keys := make([][]byte, rows)
	err = s.Update(context.Background(), func(_ storage.Reader, b storage.Batch) error {
		value, rng := make([]byte, rowBytes), rand.NewChaCha8([32]byte{})
		for i := range keys {
			rng.Read(value) // incompressible
			keys[i] = binary.BigEndian.AppendUint32(nil, uint32(i*7919%rows))
			b.Put(1, keys[i], value)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Compact(context.Background()); err != nil {
		t.Fatal(err)
	}

	h, err := s.column(1)
	if err != nil {
		t.Fatal(err)
	}
	done, held := make(chan struct{}), make(chan int64)
	go func() {
		for highest := int64(0); ; {
			n, err := strconv.ParseInt(s.db.GetPropertyCF("rocksdb.block-cache-pinned-usage", h), 10, 64)
			if err != nil {
				t.Error(err)
			}
			highest = max(highest, n)
			select {
			case <-done:
				held <- highest
				return
			default:
			}
		}
	}()
	err = s.View(context.Background(), func(r storage.Reader) error {
		values, err := r.GetMany(1, keys)
		for i := range values {
			if len(values[i]) != rowBytes {
				t.Fatalf("value %d has %d bytes, want %d", i, len(values[i]), rowBytes)
			}
		}
		return err
	})
	close(done)
	if err != nil {
		t.Error(err)
	}
	if n := <-held; n > most {
		t.Errorf("%d bytes of the block cache were pinned at once for %d bytes of rows, want at most %d", n, rows*rowBytes, most)
	} else {
		t.Logf("%d bytes of the block cache were pinned at once", n)
	}
}

// Filters of the many tables of families with deferred compaction must not stay in the block cache beyond its limit.
func TestTablesThatWaitForCompactionAreNotPinned(t *testing.T) {
	const updates, rows, most = 60, 5000, 256 << 10
	for _, d := range []storage.Declaration{
		{Family: 1, Name: "lookup", Access: storage.Lookup, DeferCompaction: true},
		{Family: 1, Name: "hashed", Access: storage.Hashed},
	} {
		s, err := Open(t.TempDir(), Options{BlockCache: 1 << 20})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		if err := s.Declare(d); err != nil {
			t.Fatal(err)
		}
		for u := range updates {
			err := s.UpdateBulk(context.Background(), func(_ storage.Reader, b storage.Batch) error {
				for i := range rows {
					b.Put(1, binary.BigEndian.AppendUint64(nil, uint64(i*updates+u)*0x9E3779B97F4A7C15), nil)
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		h, err := s.column(1)
		if err != nil {
			t.Fatal(err)
		}
		// The first table is in the last level.
		if tables := s.db.GetPropertyCF("rocksdb.num-files-at-level0", h); tables != strconv.Itoa(updates-1) {
			t.Errorf("%s: %s tables in level 0, want %d", d.Name, tables, updates-1)
		}
		pinned, err := strconv.ParseInt(s.db.GetPropertyCF("rocksdb.block-cache-pinned-usage", h), 10, 64)
		if err != nil || pinned > most {
			t.Errorf("%s: %d bytes of the block cache are pinned, want at most %d; %v", d.Name, pinned, most, err)
		}
	}
}
