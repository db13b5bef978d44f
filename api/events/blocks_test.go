package events_test

import (
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"testing"

	"birthmark/api/events"
	"birthmark/core/query"
	"birthmark/internal/testseed"
	"birthmark/model/modeltest"
)

// A client receives every block in order; clients at the same position receive the same bytes.
func TestEveryBlockIsSent(t *testing.T) {
	n := testseed.Of(t, 850)
	v := modeltest.Variants()[1]
	w := worldOf(t, v)
	h := newHistory(w, v, n)
	s := w.serve(events.Options{})
	var wallets []*wallet
	var streams []*stream
	var reading sync.WaitGroup
	lists := make([][]event, 4)
	for i := range lists {
		query := "from=origin"
		if i > 0 {
			query = ""
		}
		c, wallet := connect(t, s.URL, query, ""), newWallet()
		streams, wallets = append(streams, c), append(wallets, wallet)
		reading.Go(func() {
			for {
				e, err := c.next()
				if err != nil {
					return
				}
				wallet.take(e)
				lists[i] = append(lists[i], e)
			}
		})
	}
	for range 40 {
		h.step()
	}
	h.grow(2)
	for _, wallet := range wallets {
		wallet.arrives(t, w)
	}
	for _, c := range streams {
		c.close()
	}
	reading.Wait()
	for i, list := range lists {
		var chain []string // chain according to the events
		for n, e := range list {
			var a struct {
				Height uint32
				Hash   string
				To     *query.PointAnswer
			}
			if err := json.Unmarshal([]byte(e.data), &a); err != nil {
				t.Fatal(err)
			}
			if e.name == "rollback" {
				end := 0
				if a.To != nil {
					end = slices.Index(chain, a.To.Hash) + 1
					if end == 0 && i > 0 {
						end, chain = 1, []string{a.To.Hash} // below the first block of this client
					}
				}
				chain = chain[:end]
				continue
			}
			if n > 0 && len(chain) > 0 && a.Height != heightOf(t, list[:n])+1 {
				t.Fatalf("client %d: block %d comes after block %d", i, a.Height, heightOf(t, list[:n]))
			}
			chain = append(chain, a.Hash)
		}
		var want []string
		for _, b := range h.chain {
			want = append(want, w.model.FormatHash(b.Hash))
		}
		if i > 0 {
			want = want[max(0, len(want)-len(chain)):]
		}
		if !slices.Equal(chain, want) {
			t.Errorf("client %d received\n%s\nexpected\n%s", i, strings.Join(chain, "\n"), strings.Join(want, "\n"))
		}
	}
}

// heightOf returns the height of the last event of the list.
func heightOf(t *testing.T, list []event) uint32 {
	t.Helper()
	var a struct {
		Height uint32
		To     *query.PointAnswer
	}
	if err := json.Unmarshal([]byte(list[len(list)-1].data), &a); err != nil {
		t.Fatal(err)
	}
	if a.To != nil {
		return a.To.Height
	}
	return a.Height
}
