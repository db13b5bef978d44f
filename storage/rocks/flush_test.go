package rocks_test

import (
	"context"
	"runtime"
	"testing"

	"birthmark/internal/testrun"
	"birthmark/storage"
	"birthmark/storage/rocks"
)

// Freed C memory may contain old addresses of Go's heap. The array that a flush passes to C is allocated there: the
// garbage collector must not treat its previous contents as pointers, or the process crashes.
func TestFlushDoesNotShowOldAddressesToTheCollector(t *testing.T) {
	ctx := context.Background()
	s, err := rocks.Open(t.TempDir(), rocks.Options{Holder: "test"})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	const count = 24
	if err := declare(s, count); err != nil {
		t.Fatal(err)
	}
	ballast := make([]*[2]*int, 300_000) // keeps the collector marking most of the time
	for i := range ballast {
		ballast[i] = new([2]*int)
	}
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			select {
			case <-stop:
				return
			default:
				runtime.GC()
			}
		}
	}()
	runtime.LockOSThread() // C keeps freed memory per thread
	defer runtime.UnlockOSThread()
	for i := range testrun.Amount(100, 10) {
		err := s.View(ctx, func(r storage.Reader) error {
			// The arrays for these keys have about the size of the array of handles.
			keys := make([][]byte, count/2+i%2)
			for j := range keys {
				keys[j] = rowKey(i)
			}
			_, err := r.GetMany(0, keys)
			return err
		})
		runtime.GC() // frees the keys
		if err == nil {
			err = s.Flush(ctx)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	close(stop)
	<-stopped
	runtime.KeepAlive(ballast)
}
