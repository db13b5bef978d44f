package events_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"birthmark/api/events"
	"birthmark/core/query"
	"birthmark/core/query/changes"
	"birthmark/internal/testrun"
	"birthmark/internal/testseed"
	"birthmark/model"
	"birthmark/model/modeltest"
)

// anyQuery returns a random query for values that occur in the chain, and its filter.
func anyQuery(rng *rand.Rand, c model.Chain, chain []*model.Block) (string, changes.Filter) {
	what := changes.Filter{Spends: rng.IntN(3) > 0}
	var terms []query.Term
	for range 1 + rng.IntN(4) {
		b := chain[rng.IntN(len(chain))]
		txs := append(slices.Clone(b.Genesis), b.Txs...)
		if len(txs) == 0 {
			continue
		}
		o := txs[rng.IntN(len(txs))].Outputs[0]
		switch {
		case len(o.Assets) > 0 && o.Assets[0].Amount > 0 && rng.IntN(3) == 0:
			terms = append(terms, query.Term{Index: query.AssetTerm, Value: c.FormatAsset(o.Assets[0].ID)})
		case len(o.Keys) > 0:
			k := o.Keys[rng.IntN(len(o.Keys))]
			x := c.Indexes()[k.Index]
			terms = append(terms, query.Term{Index: x.Name, Value: x.Format(k.Value)})
		}
	}
	if len(terms) == 0 || rng.IntN(4) == 0 {
		terms = append(terms, query.Term{Index: []string{"address", "tag", "label", query.AssetTerm}[rng.IntN(4)]})
	}
	q := url.Values{}
	for _, t := range terms {
		text := t.Index
		if t.Value != "" {
			text += "=" + t.Value
		}
		q.Add("follow", text)
	}
	if what.Spends {
		q.Set("spends", "true")
	}
	if rng.IntN(3) == 0 {
		q.Set("sparse", "true")
	}
	what.Term, what.Or = terms[0], terms[1:]
	return q.Encode(), what
}

// truth returns the expected events: the outputs that find returns, and their spenders. A query without values expects
// the events of a database that never had a reorganization.
// without reorganizations.
func truth(t *testing.T, w *world, what changes.Filter, chain []*model.Block) []string {
	t.Helper()
	db := w.now()
	terms := append([]query.Term{what.Term}, what.Or...)
	if slices.ContainsFunc(terms, func(t query.Term) bool { return t.Value == "" }) {
		fresh := newWorld(t, w.model, w.keep)
		fresh.grow(chain...)
		var all []string
		for e, err := range changes.Follow(t.Context(), fresh.now().Queries, nil, what) {
			switch {
			case err != nil:
				t.Fatal(err)
			case e.Output != nil:
				all = append(all, text(t, e.Output))
			case e.Spend != nil:
				all = append(all, text(t, e.Spend))
			}
		}
		return all
	}
	found := map[string]bool{}
	for _, term := range terms {
		for after := ""; ; {
			a, err := db.Find(t.Context(), term.Index, term.Value, query.Terms{}, query.Page{Limit: 7, After: after})
			if kind, _ := model.KindOf(err); kind == model.NotFound {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			for _, o := range a.Outputs {
				spent := o.SpentBy
				o.SpentBy, o.Confirmations, o.BlockTime = nil, 0, 0 // events do not have these fields
				found[text(t, o)] = true
				if what.Spends && spent.Value != nil {
					found[text(t, changes.SpendAnswer{Tx: o.Tx, Index: o.Index, Height: o.Height, SpentBy: *spent.Value})] = true
				}
			}
			if a.Next == nil {
				break
			}
			after = *a.Next
		}
	}
	var all []string
	for line := range found {
		all = append(all, line)
	}
	return all
}

func text(t *testing.T, v any) string {
	t.Helper()
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		t.Fatal(err)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// cutShort fails after a number of bytes, like a connection that breaks.
type cutShort struct {
	io.ReadCloser
	left int
}

func (c *cutShort) Read(b []byte) (int, error) {
	if c.left <= 0 {
		return 0, io.ErrUnexpectedEOF
	}
	n, err := c.ReadCloser.Read(b[:min(len(b), c.left)])
	c.left -= n
	return n, err
}

// A client that resumes after its last event id receives the same events in the same order as a client that was never
// disconnected. The events match the database.
// disconnected, and both match the database.
func TestReconnectingClientLosesNoEvents(t *testing.T) {
	defer events.SetBatchSize(700)() // blocks are sent in several batches
	n := testseed.Of(t, 840)
	modeltest.Each(t, func(t *testing.T, v modeltest.Variant) {
		killed, rollbacks, deep, back, origin := 0, 0, 0, 0, 0
		for round := range uint64(3) {
			rng := rand.New(rand.NewPCG(n, round))
			w := worldOf(t, v)
			h := newHistory(w, v, n*10+round)
			query, what := anyQuery(rng, w.model, h.chain)
			query += "&from=origin"
			s := w.serve(events.Options{})

			connected := newWallet()
			whole := connect(t, s.URL, query, "")
			var reading sync.WaitGroup
			reading.Go(func() { follow(connected, whole) })

			interrupted := newWallet()
			for range 14 {
				h.step()
				at := interrupted.lastID()
				c := connect(t, s.URL, query, at)
				c.lines.Reset(&cutShort{c.body, rng.IntN(6000)})
				var cut sync.WaitGroup
				// If the server has no more events, the limit on bytes is not reached: c.close ends the connection.
				cut.Go(func() { follow(interrupted, c) })
				for range rng.IntN(3) {
					h.step()
				}
				if rng.IntN(2) == 0 && len(h.chain) > 0 {
					h.grow(1)
				}
				c.close()
				cut.Wait()
				interrupted.stop()
				killed++
			}
			rollbacks += interrupted.back
			if len(h.chain) == 0 {
				h.grow(3)
			}
			last := connect(t, s.URL, query, interrupted.lastID())
			reading.Go(func() { follow(interrupted, last) })
			interrupted.arrives(t, w)
			connected.arrives(t, w)
			want, got := truth(t, w, what, h.chain), interrupted.texts()
			if uninterrupted := connected.texts(); !slices.Equal(got, uninterrupted) {
				t.Errorf("%s: interrupted client\n%s\nconnected client\n%s", query, strings.Join(got, "\n"), strings.Join(uninterrupted, "\n"))
			}
			slices.Sort(got)
			if slices.Sort(want); !slices.Equal(got, want) {
				t.Errorf("%s: received\n%s\nthe database has\n%s", query, strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
			whole.close()
			last.close()
			reading.Wait()
			deep, back, origin = deep+h.deep, back+h.back, origin+h.origin
			if _, wrong := connected.isAt(""); wrong != nil {
				t.Error(wrong)
			}
		}
		if killed == 0 || rollbacks <= killed/10 || deep+back+origin == 0 {
			t.Errorf("%d disconnections, %d rollbacks received; %d deep forks, %d returns, %d to the origin",
				killed, rollbacks, deep, back, origin)
		}
	})
}

// follow passes the events of a stream to a wallet until the stream ends.
func follow(w *wallet, s *stream) {
	for {
		e, err := s.next()
		if err != nil {
			return
		}
		w.take(e)
	}
}

// An event id from one server is valid at another server of the same chain, even if that server has other blocks.
func TestEventIDIsValidAtAnotherServer(t *testing.T) {
	n := testseed.Of(t, 860)
	v := modeltest.Variants()[2]
	g := v.NewGenerator(n)
	common := g.Blocks(60)
	here, there := worldOf(t, v), worldOf(t, v)
	here.grow(common...)
	here.grow(g.Fork(1).Blocks(4)...)
	there.grow(common...)
	there.grow(g.Fork(2).Blocks(9)...)
	one := connect(t, here.serve(events.Options{}).URL, "", "")
	defer one.close()
	tip, err := one.next()
	if err != nil || tip.name != "tip" || tip.id == "" {
		t.Fatalf("%+v, %v", tip, err)
	}
	two := connect(t, there.serve(events.Options{}).URL, "last_event_id="+tip.id, "")
	defer two.close()
	back, err := two.next()
	want := fmt.Sprintf(`{"to":{"height":%d,"hash":"%s"}}`, common[59].Height, common[59].Hash)
	if err != nil || back.name != "rollback" || back.data != want {
		t.Errorf("%+v, %v: expected a rollback %s", back, err, want)
	}
	for i := range 9 {
		e, err := two.next()
		if err != nil || e.name != "tip" || !strings.HasPrefix(e.data, fmt.Sprintf(`{"height":%d,`, 61+i)) {
			t.Fatalf("%+v, %v: expected block %d", e, err, 61+i)
		}
	}
	// The header takes precedence over the parameter: a browser that reconnects repeats the URL with its old parameter.
	three := connect(t, there.serve(events.Options{}).URL, "from=origin&last_event_id="+tip.id, back.id)
	defer three.close()
	if e, err := three.next(); err != nil || e != back {
		t.Errorf("%+v, %v: expected %+v", e, err, back)
	}
	if errors.Is(err, io.EOF) {
		t.Error("the stream ended")
	}
}

// Blocks that are orphaned between two batches of a client are rolled back.
func TestBlockRolledBackWhileItIsSent(t *testing.T) {
	testrun.Slow(t)
	defer events.SetBatchSize(400)()
	n := testseed.Of(t, 865)
	modeltest.Each(t, func(t *testing.T, v modeltest.Variant) {
		w := worldOf(t, v)
		h := newHistory(w, v, n)
		chain := w.served()
		view, left := chain.View, 40
		wallet := newWallet()
		var mu sync.Mutex
		chain.View = func(ctx context.Context, fn func(*query.View) error) error {
			mu.Lock()
			defer mu.Unlock()
			if left > 0 && wallet.height()+3 >= int64(w.now().Tip().Height) && h.rng.IntN(8) == 0 {
				left--
				gone := 1 + h.rng.IntN(2)
				keep := len(h.chain) - gone
				h.cut(keep)
				h.chain, h.generators = h.chain[:keep:keep], h.generators[:keep+1:keep+1]
				h.grow(gone)
			}
			return view(ctx, fn)
		}
		s := httptest.NewServer(events.Handler(chain, events.Options{}))
		defer s.Close()
		what := changes.Filter{Term: query.Term{Index: "address"}, Or: []query.Term{{Index: "label"}}, Spends: true}
		c := connect(t, s.URL, "from=origin&follow=address&follow=label&spends=true", "")
		var reading sync.WaitGroup
		reading.Go(func() { follow(wallet, c) })
		until(t, "the forks to end", func() bool {
			// View also causes a fork when the client sends no request.
			if err := chain.View(t.Context(), func(*query.View) error { return nil }); err != nil {
				t.Fatal(err)
			}
			mu.Lock()
			defer mu.Unlock()
			w.notify()
			return left == 0
		})
		wallet.arrives(t, w)
		c.close()
		reading.Wait()
		got, want := wallet.texts(), truth(t, w, what, h.chain)
		slices.Sort(got)
		if slices.Sort(want); !slices.Equal(got, want) {
			t.Errorf("received %d outputs and spends, the database has %d", len(got), len(want))
		}
	})
}
