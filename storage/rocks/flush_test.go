package rocks_test

import (
	"context"
	"runtime"
	"testing"

	"birthmark/storage"
	"birthmark/storage/rocks"
)

// Memory that C gave back may hold addresses of Go's, long free. What a flush hands to C is made in such memory, while
// the garbage collector runs: it must not take them for pointers, or it ends the process.
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
	ballast := make([]*[2]*int, 300_000) // so that the collector is marking most of the time
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
	runtime.LockOSThread() // memory that C gives back is kept for the thread
	defer runtime.UnlockOSThread()
	for i := range 100 {
		err := s.View(ctx, func(r storage.Reader) error {
			// The slices of about as many keys take as much memory of C as the handles of all families.
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
