package ergo

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"

	"birthmark/model"
)

// A canceled caller does not wait for another caller that reads the file. The other callers get their turn.
func TestACancelledLookupDoesNotWaitForItsTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l lookup
		if err := l.begin(t.Context(), 5); err != nil { // this caller reads
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended, next := make(chan error, 1), make(chan error, 1)
		go func() { ended <- l.begin(ctx, 6) }()
		go func() { next <- l.begin(t.Context(), 7) }()
		synctest.Wait()
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("the cancelled caller got %v", err)
		}
		l.end(5)
		if err := <-next; err != nil || !slices.Equal(l.wanted, []model.HeightPk{7}) {
			t.Errorf("the next caller got %v; requested are %v", err, l.wanted)
		}
	})
}
