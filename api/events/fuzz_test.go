package events_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"

	"birthmark/api/events"
	"birthmark/model"
	"birthmark/model/modeltest"
)

// Any event id and query result in events or an error, never in a failure of the server.
func FuzzRequests(f *testing.F) {
	v := modeltest.Variants()[0]
	w := worldOf(f, v)
	blocks := v.NewGenerator(3).Blocks(30)
	w.grow(blocks...)
	h := events.Handler(w.served(), events.Options{})
	var points []model.Point
	for i := range 20 {
		points = append(points, blocks[29-i].Point())
	}
	id := events.IDOf(w.model, points)
	f.Add("", id, []byte{})
	f.Add("last_event_id="+id, "", []byte{5, 1, 2, 3, 4, 5, 6, 7, 8, 1, 1, 2, 3, 4})
	f.Add("from=origin&follow=address&spends=true", "", []byte{0x80})
	f.Add("follow=asset=00&sparse=true&from=7", "AQ", []byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1, 1, 2, 3, 4, 5, 6, 7, 8})
	f.Fuzz(func(t *testing.T, query, id string, inner []byte) {
		for _, id := range []string{id, events.IDWith(w.model, inner)} {
			// The client disconnects after the tip event.
			ctx, leave := context.WithCancel(context.Background())
			r := httptest.NewRequestWithContext(ctx, http.MethodGet, "/", nil)
			r.URL.RawQuery = query
			r.Header.Set("Last-Event-ID", id)
			a := &leaving{httptest.NewRecorder(), leave}
			h.ServeHTTP(a, r)
			leave()
			if a.Code != http.StatusOK && a.Code != http.StatusBadRequest {
				t.Errorf("%q with id %q: %d %s", query, id, a.Code, a.Body)
			}
		}
	})
}

// leaving is a client that disconnects after the first event tip.
type leaving struct {
	*httptest.ResponseRecorder
	leave func()
}

func (l *leaving) FlushError() error {
	l.leave()
	return nil
}
