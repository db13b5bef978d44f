package answertest

import (
	"context"
	"net/http"
	"net/http/httptest"
	"runtime"
	"testing"
	"time"

	"birthmark/api/ratelimit"
	"birthmark/core/meter"
)

// patience is how long a test waits for what happens within milliseconds on a machine that is not busy.
var patience = time.Minute

// Limited returns h with the limits of a server, which allow a number of streams at the same time. When the test ends,
// nothing of its requests may be left: all streams are free, and the expensive work, the memory for answers, and the
// goroutines. Requests and connections must have ended.
func Limited(t testing.TB, streams int, h http.Handler) http.Handler {
	t.Helper()
	const probe = "/probe"
	goroutines := runtime.NumGoroutine()
	o := ratelimit.Defaults()
	o.Streams, o.Expensive, o.Memory = streams, 2, meter.NewBudget(1<<30)
	var limited http.Handler
	free := func(ctx context.Context) bool {
		a := httptest.NewRecorder()
		limited.ServeHTTP(a, httptest.NewRequestWithContext(ctx, http.MethodGet, probe, nil))
		return a.Code == http.StatusOK
	}
	opened := 0
	limited = ratelimit.New(o, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != probe {
			h.ServeHTTP(w, r)
			return
		}
		err := ratelimit.Stream(w)
		if opened++; err == nil && opened < streams && !free(r.Context()) || opened == streams && meter.Of(r.Context()).Spend(2*meter.Unit) != nil {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}))
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		for opened = 0; !free(ctx) && ctx.Err() == nil; opened = 0 {
			time.Sleep(time.Millisecond)
		}
		if ctx.Err() != nil {
			t.Errorf("a stream or a share of the expensive work is still occupied")
		}
		for o.Memory.Used() != 0 && ctx.Err() == nil { // its end comes after that of the stream
			time.Sleep(time.Millisecond)
		}
		if n := o.Memory.Used(); n != 0 {
			t.Errorf("%d bytes of the memory for answers are still occupied", n)
		}
		for runtime.NumGoroutine() > goroutines && ctx.Err() == nil {
			time.Sleep(time.Millisecond)
		}
		if n := runtime.NumGoroutine(); n > goroutines {
			stacks := make([]byte, 1<<20)
			t.Errorf("%d goroutines, %d before: %s", n, goroutines, stacks[:runtime.Stack(stacks, true)])
		}
	})
	return limited
}
