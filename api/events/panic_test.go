package events_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"birthmark/api/compat/answertest"
	"birthmark/api/events"
	"birthmark/api/watchlist"
	"birthmark/core/query"
	"birthmark/internal/testseed"
	"birthmark/model/modeltest"
)

// A panic while a stream reads, or the batch that streams share, ends one stream. Another one continues, a new one begins, and
// nothing of the first one is left. A panic before the stream begins is an internal error.
func TestAPanicEndsItsStreamAlone(t *testing.T) {
	v := modeltest.Variants()[0]
	w := worldOf(t, v)
	g := v.NewGenerator(testseed.Of(t, 871))
	w.grow(g.Blocks(12)...)
	c := w.served()
	view := c.View
	var armed atomic.Bool
	c.View = func(ctx context.Context, fn func(*query.View) error) error {
		return view(ctx, func(v *query.View) error {
			err := fn(v)
			if armed.CompareAndSwap(true, false) {
				panic("injected")
			}
			return err
		})
	}
	var now atomic.Int64
	s := httptest.NewServer(answertest.Limited(t, 12, events.Handler(c, events.Options{Subscribed: counts(&now)})))
	client := s.Client()
	defer http.DefaultClient.CloseIdleConnections()
	defer s.Close()
	for _, q := range []string{"", "from=origin", "follow=address", "follow=tag=t01&spends=true&from=3"} {
		armed.Store(true)
		a, err := client.Get(s.URL + "?" + q)
		if err != nil {
			t.Fatal(err)
		}
		if a.Body.Close(); a.StatusCode != http.StatusInternalServerError {
			t.Errorf("%q: status %d", q, a.StatusCode)
		}
		// reads reports whether a stream gets the event of the tip.
		reads := func(c *stream, tip string) bool {
			for {
				if e, err := c.next(); err != nil || strings.Contains(e.data, tip) {
					return err == nil
				}
			}
		}
		tip := func() string { return w.model.FormatHash(w.now().Tip().Hash) }
		streams := []*stream{connect(t, s.URL, q, ""), connect(t, s.URL, q, "")}
		for _, c := range streams {
			if !reads(c, tip()) {
				t.Fatalf("%q: the stream ends", q)
			}
		}
		armed.Store(true)
		w.grow(g.Blocks(1)...)
		var both sync.WaitGroup
		var going atomic.Int64
		var ended atomic.Pointer[stream]
		for _, c := range streams {
			both.Go(func() {
				if reads(c, tip()) {
					going.Add(1)
				} else {
					ended.Store(c)
				}
			})
		}
		both.Wait()
		if going.Load() != 1 || ended.Load() == nil {
			t.Fatalf("%q: %d of two streams go on", q, going.Load())
		}
		again := connect(t, s.URL, q, "")
		if !reads(again, tip()) {
			t.Errorf("%q: no stream after the panic", q)
		}
		for _, c := range append(streams, again) {
			c.close()
		}
		until(t, "streams to end", func() bool { return now.Load() == 0 })
	}
}

// After a panic while a watch list is made nothing of it is left; values that were to be added to another list end that
// request alone.
func TestAPanicDiscardsANewWatchList(t *testing.T) {
	v := modeltest.Variants()[0]
	w := worldOf(t, v)
	w.grow(v.NewGenerator(testseed.Of(t, 872)).Blocks(12)...)
	w.lists = watchlist.NewLists(1 << 20)
	c := w.served()
	view := c.View
	var until atomic.Int64 // views until one panics
	c.View = func(ctx context.Context, fn func(*query.View) error) error {
		err := view(ctx, fn)
		if until.Add(-1) == 0 {
			panic("injected")
		}
		return err
	}
	h := answertest.Limited(t, 1, eventsAndLists(c))
	ask := func(query string, panics int64) (a events.WatchAnswer, panicked bool) {
		until.Store(panics)
		r := httptest.NewRecorder()
		h.ServeHTTP(r, httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/watch?"+query, strings.NewReader("t01\nt02\n")))
		if r.Code == http.StatusInternalServerError && until.Load() <= 0 {
			return a, true
		}
		if err := json.Unmarshal(r.Body.Bytes(), &a); err != nil || r.Code != http.StatusOK {
			t.Fatalf("%d %s, %v", r.Code, r.Body, err)
		}
		return a, false
	}
	for views := int64(1); ; views++ {
		_, panicked := ask("index=tag", views)
		if n, size := w.lists.Stats(); panicked && (n != 0 || size != 0) {
			t.Errorf("%d lists with %d bytes are left after a panic in view %d", n, size, views)
		}
		if !panicked {
			if views < 3 {
				t.Errorf("a watch list needs %d views", views-1)
			}
			break
		}
	}
	made, _ := ask("index=tag", 0)
	if _, panicked := ask("watch="+made.Watch, 1); !panicked {
		t.Error("no panic while values are added")
	}
	if n, _ := w.lists.Stats(); n != 2 {
		t.Errorf("%d lists, expected the two that were made", n)
	}
	if again, _ := ask("watch="+made.Watch, 0); again.Values != made.Values {
		t.Errorf("%+v, expected %+v", again, made)
	}
}
