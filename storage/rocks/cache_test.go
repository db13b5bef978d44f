package rocks

import (
	"context"
	"encoding/binary"
	"testing"

	"birthmark/storage"
)

// Blocks that one store has cached are available to the next store with the same cache.
func TestCacheOutlivesAnOpening(t *testing.T) {
	ctx, dir := t.Context(), t.TempDir()
	family := storage.Declaration{Family: 1, Name: "family", Access: storage.Lookup}
	const rows = 20_000
	keys := make([][]byte, rows)
	for i := range keys {
		keys[i] = binary.BigEndian.AppendUint32(nil, uint32(i))
	}
	s, err := Open(dir, Options{WAL: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Declare(family); err != nil {
		t.Fatal(err)
	}
	err = s.Update(ctx, func(_ storage.Reader, b storage.Batch) error {
		for _, k := range keys {
			b.Put(1, k, make([]byte, 100))
		}
		return nil
	})
	if err == nil {
		err = s.Compact(context.Background())
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}

	cache := NewCache(64 << 20)
	defer cache.Close()
	var used [2]int64
	for i := range used {
		r, err := Open(dir, Options{ReadOnly: true, Cache: cache})
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Declare(family); err != nil {
			t.Fatal(err)
		}
		err = r.View(ctx, func(v storage.Reader) error {
			values, err := v.GetMany(1, keys)
			if err == nil && (len(values) != rows || len(values[rows-1]) != 100) {
				t.Errorf("opening %d finds %d values", i, len(values))
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := r.Metrics(); err != nil {
			t.Error(err)
		}
		if used[i] = cache.Used(); used[i] == 0 {
			t.Errorf("opening %d does not use the cache", i)
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
		if left := cache.Used(); left < used[i]/2 {
			t.Errorf("opening %d used %d bytes of the cache, and left %d", i, used[i], left)
		}
	}
	if used[1] > used[0]*5/4 {
		t.Errorf("the second opening filled the cache again: %d bytes, then %d", used[0], used[1])
	}
}
