package rocks_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"runtime/debug"
	"testing"

	"birthmark/storage"
	"birthmark/storage/rocks"
)

var raceDetector bool

// resident returns the process's resident memory in bytes after Go has returned its unused memory.
func resident(t *testing.T) int64 {
	t.Helper()
	debug.FreeOSMemory()
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		t.Skipf("resident memory is unknown: %v", err)
	}
	var size, pages int64
	if _, err := fmt.Sscan(string(text), &size, &pages); err != nil {
		t.Fatal(err)
	}
	return pages * int64(os.Getpagesize())
}

const (
	rows     = 20_000
	rowBytes = 500

	// 100,000 leaked values of 500 bytes are 50 MB, leaked iterators far more; malloc itself keeps a few MB.
	mostGrowth = 32 << 20
)

func key(i int) []byte { return fmt.Appendf(nil, "key %06d", i%rows) }

// wantFlat runs work repeatedly to fill caches and buffers, and then again the same number of times. It fails if memory
// grows the second time.
func wantFlat(t *testing.T, times int, work func(i int)) {
	t.Helper()
	for i := range times {
		work(i)
	}
	before := resident(t)
	for i := range times {
		work(times + i)
	}
	if grown := resident(t) - before; grown > mostGrowth {
		t.Errorf("resident memory grew by %d bytes in %d rounds, more than %d", grown, times, mostGrowth)
	} else {
		t.Logf("resident memory grew by %d bytes in %d rounds", grown, times)
	}
}

// All memory that RocksDB returns is freed.
func TestResidentMemoryIsFlat(t *testing.T) {
	if testing.Short() || raceDetector {
		t.Skip("takes seconds, and tests the memory of a plain build")
	}
	ctx := context.Background()
	s := open(t, t.TempDir(), rocks.Options{BlockCache: 4 << 20, WriteBuffers: 4 << 20})
	if err := declare(s, 3); err != nil {
		t.Fatal(err)
	}
	value := bytes.Repeat([]byte("v"), rowBytes)
	writeRows := func(first, count int) {
		err := s.Update(ctx, func(_ storage.Reader, b storage.Batch) error {
			for i := first; i < first+count; i++ {
				b.Put(storage.Family(i%3), key(i), value)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	read := func(fn func(storage.Reader) error) {
		if err := s.View(ctx, fn); err != nil {
			t.Fatal(err)
		}
	}
	writeRows(0, rows)
	if err := s.Compact(ctx); err != nil {
		t.Fatal(err)
	}
	t.Run("Get", func(t *testing.T) {
		wantFlat(t, 100_000, func(i int) {
			i *= 7919
			read(func(r storage.Reader) error {
				_, err := r.Get(storage.Family(i%rows%3), key(i))
				return err
			})
		})
	})
	t.Run("GetMany", func(t *testing.T) {
		wantFlat(t, 100_000, func(i int) {
			i *= 7919
			read(func(r storage.Reader) error {
				values, err := r.GetMany(0, [][]byte{key(i), key(i + 1), key(i + 2)})
				if err == nil && values[0] == nil && values[1] == nil && values[2] == nil {
					err = storage.ErrNotFound
				}
				return err
			})
		})
	})
	t.Run("Scan", func(t *testing.T) {
		wantFlat(t, 100_000, func(i int) {
			read(func(r storage.Reader) error {
				for _, err := range r.Scan(1, key(i*7919), nil, i%2 == 0) {
					return err // stops early, like most callers
				}
				return nil
			})
		})
	})
	t.Run("Update", func(t *testing.T) {
		wantFlat(t, 5000, func(i int) { writeRows(i*20, 20) }) // 50 MB of values
	})
}
