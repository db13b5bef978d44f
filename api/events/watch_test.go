package events_test

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"birthmark/api/events"
	"birthmark/api/served"
	"birthmark/api/watchlist"
	"birthmark/core/query"
	"birthmark/core/query/changes"
	"birthmark/internal/testrun"
	"birthmark/internal/testseed"
	"birthmark/model"
	"birthmark/model/modeltest"
)

// post adds a watch list and returns the status and the answer.
func post(t testing.TB, url, body string) (int, string) {
	t.Helper()
	a, err := http.Post(url, "text/plain", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer a.Body.Close()
	text, err := io.ReadAll(a.Body)
	if err != nil {
		t.Fatal(err)
	}
	return a.StatusCode, string(text)
}

// watched serves a world and its watch lists.
func watched(w *world) *httptest.Server {
	w.lists = watchlist.NewLists(1 << 20)
	s := httptest.NewServer(eventsAndLists(w.served()))
	w.t.Cleanup(s.Close)
	return s
}

// eventsAndLists serves the events of a chain, and its watch lists at /watch.
func eventsAndLists(chain *served.Chain) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/", events.Handler(chain, events.Options{}))
	mux.Handle("/watch", events.WatchHandler(chain))
	return mux
}

func watchOf(t testing.TB, url, query, body string) (a events.WatchAnswer) {
	t.Helper()
	status, text := post(t, url+"/watch?"+query, body)
	if err := json.Unmarshal([]byte(text), &a); err != nil || status != http.StatusOK {
		t.Fatalf("%d %s, %v", status, text, err)
	}
	return a
}

// selected returns the events of outputs whose value of the index is in values, and of their spends.
func selected(t testing.TB, index string, values map[string]bool, lines []string) (all []string) {
	t.Helper()
	outputs := map[string]bool{}
	for _, line := range lines {
		var o query.OutputAnswer
		var s changes.SpendAnswer
		if err := json.Unmarshal([]byte(line), &o); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal([]byte(line), &s); err != nil {
			t.Fatal(err)
		}
		at := fmt.Sprint(o.Tx, o.Index)
		if s.SpentBy.Tx == "" {
			switch v := o.Keys[index].(type) {
			case string:
				outputs[at] = values[v]
			case []any:
				outputs[at] = slices.ContainsFunc(v, func(v any) bool { return values[v.(string)] })
			}
		}
		if outputs[at] {
			all = append(all, line)
		}
	}
	return all
}

// The events of a watch list equal those of the whole index, filtered by the values of the list, in the same order.
// This holds after reorganizations, and for a client that disconnects and resumes after its last event id.
func TestEventsOfAWatchListAreAFilter(t *testing.T) {
	testrun.Slow(t)
	defer events.SetBatchSize(700)() // blocks are sent in several batches
	n := testseed.Of(t, 890)
	modeltest.Each(t, func(t *testing.T, v modeltest.Variant) {
		matched, passed := 0, 0
		for round := range uint64(testrun.Rounds(t, 2)) {
			rng := rand.New(rand.NewPCG(n, round))
			w := worldOf(t, v)
			s := watched(w)
			h := newHistory(w, v, n*10+round)
			position := rng.IntN(len(w.model.Indexes()))
			x := w.model.Indexes()[position]
			values, lines := map[string]bool{}, []string{"# a comment", ""}
			for _, b := range h.chain {
				for _, tx := range slices.Concat(b.Genesis, b.Txs) {
					for _, o := range tx.Outputs {
						for _, k := range o.Keys {
							if k.Index == position && rng.IntN(3) == 0 {
								values[x.Format(k.Value)] = true
								lines = append(lines, x.Format(k.Value)+"\r")
							}
						}
					}
				}
			}
			if len(values) == 0 {
				continue
			}
			if keep := rng.IntN(len(h.chain)); rng.IntN(2) == 0 { // some values are not in the chain yet
				h.branch, h.branchOff = slices.Clone(h.chain), slices.Clone(h.generators)
				h.cut(keep)
				h.chain, h.generators = h.chain[:keep:keep], h.generators[:keep+1:keep+1]
				h.grow(1)
			}
			list := watchOf(t, s.URL, "index="+x.Name, strings.Join(lines, "\n"))
			if list.Values != len(values) || list.Index != x.Name || list.Bytes <= 0 {
				t.Fatalf("%+v, expected %d values", list, len(values))
			}
			everything, watching := newWallet(), newWallet()
			whole := connect(t, s.URL, "from=origin&spends=true&follow="+x.Name, "")
			var reading sync.WaitGroup
			reading.Go(func() { follow(everything, whole) })
			terms := "from=origin&spends=true&watch=" + list.Watch
			if rng.IntN(2) == 0 {
				terms += "&sparse=true"
			}
			for range 8 {
				h.step()
				c := connect(t, s.URL, terms, watching.lastID())
				c.lines.Reset(&cutShort{c.body, rng.IntN(6000)})
				var cut sync.WaitGroup
				cut.Go(func() { follow(watching, c) })
				for range rng.IntN(3) {
					h.step()
				}
				c.close()
				cut.Wait()
				watching.stop()
			}
			if len(h.chain) == 0 {
				h.grow(3)
			}
			last := connect(t, s.URL, terms, watching.lastID())
			reading.Go(func() { follow(watching, last) })
			everything.arrives(t, w)
			watching.arrives(t, w)
			all := everything.texts()
			got, want := watching.texts(), selected(t, x.Name, values, all)
			if !slices.Equal(got, want) {
				t.Errorf("%s: %d events, expected %d of %d\n%s\n\n%s", x.Name, len(got), len(want), len(all),
					strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
			matched, passed = matched+len(got), passed+len(all)-len(got)
			whole.close()
			last.close()
			reading.Wait()
		}
		if matched == 0 || passed == 0 {
			t.Errorf("%d events matched, %d did not", matched, passed)
		}
	})
}

// Values that are added to a list apply to the blocks that are sent from then on.
func TestValuesAreAddedToAWatchList(t *testing.T) {
	v := modeltest.Variants()[3]
	w := worldOf(t, v)
	s := watched(w)
	blocks := v.NewGenerator(testseed.Of(t, 891)).Blocks(40)
	w.grow(blocks[:10]...)
	x := w.model.Indexes()[0]
	all := ""
	for _, b := range blocks {
		for _, tx := range b.Txs {
			for _, o := range tx.Outputs {
				for _, k := range o.Keys {
					if k.Index == 0 {
						all += x.Format(k.Value) + "\n"
					}
				}
			}
		}
	}
	list := watchOf(t, s.URL, "", "a00\n")
	c := connect(t, s.URL, "from=origin&watch="+list.Watch, "")
	defer c.close()
	wallet := newWallet()
	go follow(wallet, c)
	wallet.arrives(t, w)
	if texts := wallet.texts(); len(texts) > 0 {
		t.Fatalf("%d events of a value that does not occur", len(texts))
	}
	added := watchOf(t, s.URL, "watch="+list.Watch, all)
	if added.Watch != list.Watch || added.Values <= 1 || added.Bytes <= list.Bytes {
		t.Errorf("%+v after %+v", added, list)
	}
	w.grow(blocks[10:]...)
	wallet.arrives(t, w)
	want := 0
	for _, b := range blocks[10:] {
		for _, tx := range b.Txs {
			for _, o := range tx.Outputs {
				if slices.ContainsFunc(o.Keys, func(k model.Key) bool { return k.Index == 0 }) {
					want++
				}
			}
		}
	}
	if got := len(wallet.texts()); got != want || want == 0 {
		t.Errorf("%d events, expected %d", got, want)
	}
}

func TestErrorsOfWatchLists(t *testing.T) {
	testrun.Slow(t)
	w := worldOf(t, modeltest.Variants()[0])
	s := watched(w)
	w.grow(byHand(0, 3)...)
	long := strings.Repeat("a", 70_000)
	for _, c := range []struct {
		query, body, code, detail string
		status                    int
	}{
		{"", "", "bad_body", "the body has no values: expected one per line", 400},
		{"", "# only a comment\n\n", "bad_body", "the body has no values", 400},
		{"", "a01\n\nx02\n", "bad_value", "line 3: address: expected a and hex digits", 400},
		{"", "a01\n" + long, "bad_value", "line 2 has more than 66560 bytes", 400},
		{"index=colour", "a01", "unknown_index", "colour", 400},
		{"index=", "a01", "bad_value", "index: expected one value", 400},
		{"color=1", "a01", "unknown_parameter", "expected index, gap, watch", 400},
		{"gap=0", "a01", "bad_value", "gap: invalid value \"0\": expected a number from 1 to 1000", 400},
		{"watch=none", "a01", "unknown_watch", "create it again", 404},
		{"watch=none&gap=3", "a01", "bad_value", "expected no other parameter", 400},
		{"index=tag", many(60_000), "watch_full", "their 1 MiB of memory (setting watch)", 503},
	} {
		status, text := post(t, s.URL+"/watch?"+c.query, c.body)
		var p struct{ Code, Detail string }
		if err := json.Unmarshal([]byte(text), &p); err != nil || status != c.status || p.Code != c.code || !strings.Contains(p.Detail, c.detail) {
			t.Errorf("%s: %d %s, expected %d %s %s", c.query, status, text, c.status, c.code, c.detail)
		}
	}
	if n, bytes := w.lists.Stats(); n != 0 || bytes != 0 {
		t.Errorf("%d lists of %d bytes are left behind", n, bytes)
	}
	for query, code := range map[string]string{"watch=none": "unknown_watch", "watch=": "bad_value", "spends=true": "bad_value"} {
		a, err := http.Get(s.URL + "/?" + query)
		if err != nil {
			t.Fatal(err)
		}
		text, _ := io.ReadAll(a.Body)
		_ = a.Body.Close()
		if !strings.Contains(string(text), `"code":"`+code+`"`) {
			t.Errorf("%s: %s, expected %s", query, text, code)
		}
	}
	w.lists = nil
	without := httptest.NewServer(events.WatchHandler(w.served()))
	defer without.Close()
	if status, text := post(t, without.URL, "a01"); status != 404 || !strings.Contains(text, "no_watch") {
		t.Errorf("without lists: %d %s", status, text)
	}
}

// many returns different values of the index tag.
func many(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "t%032x\n", i)
	}
	return b.String()
}
