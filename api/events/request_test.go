package events_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"birthmark/api/events"
	"birthmark/api/problem"
	"birthmark/core/query"
	"birthmark/internal/testseed"
	"birthmark/model/modeltest"
)

func TestInvalidRequestsAreRejected(t *testing.T) {
	w := small(t)
	s := w.serve(events.Options{})
	other := modeltest.Variants()[0].Chain("two")
	empty := worldOf(t, modeltest.Variants()[0]).serve(events.Options{})
	for _, c := range []struct {
		method, query, id string
		status            int
		code, detail      string
	}{
		{"POST", "", "", 405, "method_not_allowed", "method POST is not allowed"},
		{"GET", "folow=address", "", 400, "unknown_parameter", `unknown parameter "folow": expected follow, watch, spends, sparse, mempool, confirmations, from, last_event_id`},
		{"GET", "follow=address;spends=true", "", 400, "bad_value", "invalid query"},
		{"GET", "follow=", "", 400, "bad_value", "expected INDEX=VALUE or INDEX"},
		{"GET", "follow=address%3D", "", 400, "bad_value", "expected INDEX=VALUE or INDEX"},
		{"GET", "follow=colour", "", 400, "unknown_index", `"colour"`},
		{"GET", "follow=address&follow=tag=t01&follow=colour=red", "", 400, "unknown_index", `"colour"`},
		{"GET", "follow=address=x", "", 400, "bad_value", `address: expected a and hex digits`},
		{"GET", "follow=asset=x", "", 400, "bad_value", "asset: expected hex digits"},
		{"GET", "follow=tag" + strings.Repeat("&follow=tag", 100), "", 400, "too_many_terms", "101 values to follow, expected at most 100"},
		{"GET", "follow=tag&spends=yes", "", 400, "bad_value", "expected true or false"},
		{"GET", "spends=true", "", 400, "bad_value", "spends needs follow"},
		{"GET", "sparse=true", "", 400, "bad_value", "sparse needs follow"},
		{"GET", "mempool=include", "", 404, "no_mempool", "its setting node is the URL of a node"},
		{"GET", "follow=tag&mempool=true", "", 400, "bad_value", `mempool: invalid value "true": expected include or exclude`},
		{"GET", "follow=tag&mempool=include", "", 404, "no_mempool", "its setting node is the URL of a node"},
		{"GET", "from=1&from=2", "", 400, "bad_value", "from: given 2 times"},
		{"GET", "from=-1", "", 400, "bad_value", "expected a height, origin or tip"},
		{"GET", "from=4294967296", "", 400, "bad_value", "expected a height, origin or tip"},
		{"GET", "from=12", "", 400, "empty_range", "the tip is 11"},
		{"GET", "", "x", 400, "bad_event_id", `event id "x" is not valid`},
		{"GET", "last-event-id=x", "", 400, "bad_event_id", `event id "x" is not valid`},
		{"GET", "last-event-id=x&last_event_id=x", "", 400, "bad_value", "last_event_id: given 2 times"},
		{"GET", "last_event_id=x", "", 400, "bad_event_id", `event id "x" is not valid`},
		{"GET", "", strings.Repeat("A", 5000), 400, "bad_event_id", "is not valid"},
		{"GET", "", events.IDOf(other, nil), 400, "bad_event_id", "is of another chain or network"},
		{"GET", "", events.IDWith(w.model, []byte{1, 2}), 400, "bad_event_id", "is damaged"},
		{"GET", "", damaged(events.IDOf(w.model, nil)), 400, "bad_event_id", "is damaged"},
	} {
		r, err := http.NewRequest(c.method, s.URL+"?"+c.query, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Last-Event-ID", c.id)
		isProblem(t, r, c.status, c.code, c.detail)
	}
	r, _ := http.NewRequest("GET", empty.URL+"?from=3", nil)
	isProblem(t, r, 400, "empty_range", "the database has no blocks yet")
}

// damaged returns the id with a different last character of its checksum.
func damaged(id string) string {
	last := byte('A')
	if id[len(id)-1] == last {
		last = 'Q'
	}
	return id[:len(id)-1] + string(last)
}

func isProblem(t *testing.T, r *http.Request, status int, code, detail string) {
	t.Helper()
	a, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Body.Close()
	if a.StatusCode == http.StatusOK { // the body of a stream has no end
		t.Errorf("%s %s: expected %d %s", r.Method, r.URL, status, code)
		return
	}
	var p problem.Problem
	err = json.NewDecoder(a.Body).Decode(&p)
	if err != nil || a.StatusCode != status || p.Status != status || p.Code != code || !strings.Contains(p.Detail, detail) || a.Header.Get("Content-Type") != problem.ContentType {
		t.Errorf("%s %s: %s %+v %v, expected %d %s %s", r.Method, r.URL, a.Status, p, err, status, code, detail)
	}
}

// The parameter from selects the first event.
func TestFirstEventsOfAClient(t *testing.T) {
	v := modeltest.Variants()[2] // its first block has height 1
	w := worldOf(t, v)
	s := w.serve(events.Options{})
	first := func(query string, n int) (list []string) {
		t.Helper()
		c := connect(t, s.URL, query, "")
		defer c.close()
		for range n {
			e, err := c.next()
			if err != nil {
				t.Fatal(err)
			}
			list = append(list, e.name+" "+e.data)
		}
		return list
	}
	expect := func(query string, want ...string) {
		t.Helper()
		if got := first(query, len(want)); strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Errorf("%q: received\n%s\nexpected\n%s", query, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
	expect("", `rollback {"to":null}`)
	expect("from=0", `rollback {"to":null}`)
	blocks := v.NewGenerator(testseed.Of(t, 880)).Blocks(9)
	w.grow(blocks...)
	tip := func(i int) string {
		b := blocks[i]
		return "tip " + text(t, query.BlockSummaryAnswer{Height: uint32(b.Height), Hash: b.Hash.String(), Time: b.Time, Size: b.Size, TxCount: len(b.Txs)})
	}
	back := func(i int) string {
		return fmt.Sprintf(`rollback {"to":{"height":%d,"hash":"%s"}}`, i+1, blocks[i].Hash)
	}
	expect("", tip(8))
	expect("from=tip", tip(8))
	expect("from=9", back(7), tip(8))
	expect("from=2", back(0), tip(1), tip(2))
	for _, query := range []string{"from=1", "from=0", "from=origin"} {
		expect(query, `rollback {"to":null}`, tip(0), tip(1))
	}
}
