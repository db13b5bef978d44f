package answertest_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"birthmark/api/compat/answertest"
	"birthmark/api/ratelimit"
	"birthmark/core/meter"
)

// cleaned is a test whose end is called.
type cleaned struct {
	failing
	end func()
}

func (c *cleaned) Cleanup(end func()) { c.end = end }

func TestLimitedFindsWhatRequestsLeave(t *testing.T) {
	hold := make(chan struct{})
	for _, c := range []struct {
		name, message string
		leave         func(http.ResponseWriter, *http.Request)
	}{
		{"nothing", "", func(w http.ResponseWriter, r *http.Request) {
			_ = ratelimit.Stream(w)
			_ = meter.Of(r.Context()).Hold(1)
			_ = meter.Of(r.Context()).Spend(2 * meter.Unit)
			panic("nothing is left")
		}},
		{"a goroutine", "goroutines", func(http.ResponseWriter, *http.Request) {
			for range 50 { // more than those of other tests that end meanwhile
				go func() { <-hold }()
			}
		}},
		{"a part", "a share of the expensive work", func(w http.ResponseWriter, r *http.Request) {
			ctx, _ := ratelimit.Part(w)(r.Context())
			_ = meter.Of(ctx).Spend(2 * meter.Unit)
		}},
		{"memory of a message", "bytes of the memory", func(w http.ResponseWriter, r *http.Request) {
			ctx, _, _ := ratelimit.Message(r.Context(), w)
			_ = meter.Of(ctx).Hold(1)
		}},
	} {
		of := &cleaned{failing: failing{TB: t}}
		h := answertest.Limited(of, 2, http.HandlerFunc(c.leave))
		ctx, leave := context.WithCancel(t.Context())
		h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(ctx, "GET", "/", nil))
		leave()
		if c.message == "" {
			of.end()
		} else {
			answertest.ForShort(10*time.Millisecond, of.end)
		}
		if got := strings.Join(of.errors, ";"); (got == "") != (c.message == "") || !strings.Contains(got, c.message) {
			t.Errorf("%s: %.300s", c.name, got)
		}
	}
	close(hold)
}
