package rocks

import (
	"encoding/binary"
	"runtime"
	"sync"
	"testing"

	"birthmark/storage"
)

// The C heap has few arenas for any number of concurrent threads: memory freed in one arena is not available to the
// others.
func TestHeapHasFewArenas(t *testing.T) {
	ctx := t.Context()
	s, err := Open(t.TempDir(), Options{WAL: true})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.Declare(storage.Declaration{Family: 1, Name: "family", Access: storage.Lookup}); err != nil {
		t.Fatal(err)
	}
	const rows, threads = 2_000, 32
	keys := make([][]byte, rows)
	for i := range keys {
		keys[i] = binary.BigEndian.AppendUint32(nil, uint32(i))
	}
	err = s.Update(ctx, func(_ storage.Reader, b storage.Batch) error {
		for _, k := range keys {
			b.Put(1, k, make([]byte, 500))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Compact(ctx); err != nil {
		t.Fatal(err)
	}
	var readers sync.WaitGroup
	for range threads {
		readers.Go(func() {
			runtime.LockOSThread() // not unlocked, so that the thread ends with the goroutine
			for range 3 {
				if err := s.View(ctx, func(r storage.Reader) error {
					_, err := r.GetMany(1, keys)
					return err
				}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	readers.Wait()
	n, most := heapArenas()
	if n == 0 {
		t.Skip("the number of arenas is unknown")
	}
	if n > most {
		t.Errorf("%d threads have %d arenas, expected at most %d", threads, n, most)
	}
}
