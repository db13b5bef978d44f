package snapshot

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// A snapshot is created in each interval in which blocks were added, at the tip of the source, and again ten minutes after
// a failure.
func TestSnapshotsAreCreatedOnlyIfBlocksWereAdded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began, tip, ready := time.Now(), "", false
		var mu sync.Mutex // of what follows, and of tip and ready
		var fail error
		var made, failures []string
		at := func() string { return fmt.Sprint(tip, " ", time.Since(began).Round(time.Minute)) }
		s := Schedule{
			Every: time.Hour, Now: time.Now,
			Ready: func() bool { mu.Lock(); defer mu.Unlock(); return ready },
			Tip:   func() string { mu.Lock(); defer mu.Unlock(); return tip },
			Create: func() (string, error) {
				mu.Lock()
				defer mu.Unlock()
				if fail == nil {
					made = append(made, at())
				}
				return tip, fail
			},
			Failed: func(_ error, pause time.Duration) {
				mu.Lock()
				defer mu.Unlock()
				failures = append(failures, at()+" "+pause.String())
			},
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			s.Run(ctx, began.Add(30*time.Minute), "a")
		}()
		for _, step := range []func(){
			func() { tip, ready = "a", true }, // the tip of the last snapshot: none is created
			func() {},
			func() { tip, ready = "b", false }, // not at the tip of the source
			func() { ready = true },
			func() {}, // no new block
			func() { tip, fail = "c", errors.New("full") },
			func() { fail = nil },
		} {
			mu.Lock()
			step()
			mu.Unlock()
			synctest.Wait()
			time.Sleep(137 * time.Minute) // of the bubble's clock; no step is when a snapshot is due
		}
		cancel()
		<-ended
		if want := []string{"b 6h51m0s", "c 13h51m0s"}; !slices.Equal(made, want) {
			t.Errorf("snapshots %q, expected %q", made, want)
		}
		if len(failures) != 12 || failures[0] != "c 11h51m0s 10m0s" {
			t.Errorf("failures %q", failures)
		}
	})
}
