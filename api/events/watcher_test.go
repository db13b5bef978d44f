package events_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http/httptest"
	"net/url"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"birthmark/api/compat/answertest"
	"birthmark/api/served"
	"birthmark/api/watchlist"
	"birthmark/core/pending"
	"birthmark/core/pending/answers"
	"birthmark/core/pending/pendingtest"
	"birthmark/core/query"
	"birthmark/model"
)

// mempool serves the events of a world with its mempool. later advances the clock of the mempool.
func mempool(t *testing.T, n *pendingtest.Node) (url string, pool *pending.Follower, later func(time.Duration)) {
	t.Helper()
	var offset atomic.Int64
	db := n.World.DB
	pool = answertest.Follow(t, db, func(context.Context, []string) (model.Source, error) { return n, nil }, func(o *pending.Options) {
		o.Interval, o.Now = 2*time.Millisecond, func() time.Time { return time.Now().Add(time.Duration(offset.Load())) }
	})
	chain := &served.Chain{
		Name: "test", Model: db.Chain(), View: db.View, Moved: db.Moved, Mempool: pool,
		State: func() served.State { return served.State{} }, Watch: watchlist.NewLists(1 << 20),
	}
	s := httptest.NewServer(eventsAndLists(chain))
	t.Cleanup(s.Close)
	return s.URL, pool, func(d time.Duration) { offset.Add(int64(d)) }
}

// want is a term with a value in its stored form.
type want struct {
	index int    // -1: assets
	value []byte // nil: any value
}

// filter selects outputs: by terms and by a watch list.
type filter struct {
	terms  []want
	list   map[string]bool // values of index 0 in the watch list; nil: no watch list
	spends bool
}

func anyFilter(rng *rand.Rand) (f filter) {
	for range 1 + rng.IntN(3) {
		switch rng.IntN(6) {
		case 0:
			f.terms = append(f.terms, want{index: rng.IntN(4)})
		case 1:
			f.terms = append(f.terms, want{index: -1})
		case 2:
			f.terms = append(f.terms, want{1, []byte{byte(rng.IntN(3))}})
		default:
			f.terms = append(f.terms, want{0, fmt.Appendf(nil, "address %d", rng.IntN(30))})
		}
	}
	if rng.IntN(2) == 0 {
		f.list = map[string]bool{}
		for n := rng.IntN(3); n < 40; n += 3 {
			f.list[fmt.Sprintf("address %d", n)] = true
		}
		if rng.IntN(2) == 0 { // the watch list alone
			f.terms = nil
		}
	}
	f.spends = rng.IntN(3) > 0
	return f
}

// watch creates the watch list of f, if it has one, and returns the query parameter.
func (f *filter) watch(t *testing.T, url string, c model.Chain) string {
	if f.list == nil {
		return ""
	}
	lines := ""
	for value := range f.list {
		lines += c.Indexes()[0].Format([]byte(value)) + "\n"
	}
	return "&watch=" + watchOf(t, url, "", lines).Watch
}

func (f *filter) query(c model.Chain) string {
	q := url.Values{"from": {"origin"}, "spends": {fmt.Sprint(f.spends)}}
	for _, w := range f.terms {
		text := query.AssetTerm
		if w.index >= 0 {
			text = c.Indexes()[w.index].Name
		}
		if w.value != nil {
			text += "=" + c.Indexes()[w.index].Format(w.value)
		}
		q.Add("follow", text)
	}
	return q.Encode()
}

func (f *filter) has(o *model.Output) bool {
	return slices.ContainsFunc(f.terms, func(w want) bool {
		if w.index < 0 {
			return slices.ContainsFunc(o.Assets, func(a model.Asset) bool { return a.Amount > 0 })
		}
		return slices.ContainsFunc(o.Keys, func(k model.Key) bool {
			return k.Index == w.index && (w.value == nil || string(k.Value) == string(w.value))
		})
	}) || slices.ContainsFunc(o.Keys, func(k model.Key) bool { return k.Index == 0 && f.list[string(k.Value)] })
}

// place is an output of a world.
type place struct {
	tx     string
	index  int
	output *model.Output
}

// expected returns the events of unconfirmed transactions, and the confirmed outputs and spends, that match f.
func (f *filter) expected(t *testing.T, w *pendingtest.World) (unconfirmed, confirmed []string) {
	c := w.DB.Chain()
	at := map[string]place{}
	key := func(in *model.Input) string {
		if in.Value != nil {
			return string(in.Value)
		}
		return fmt.Sprint(in.Tx, in.Index)
	}
	add := func(tx *model.Tx) (created, spent []place) {
		for i := range tx.Inputs {
			spent = append(spent, at[key(&tx.Inputs[i])])
		}
		for i := range tx.Outputs {
			o := &tx.Outputs[i]
			p := place{c.FormatHash(tx.Hash), tx.OutputIndex(i), o}
			created = append(created, p)
			at[fmt.Sprint(tx.Hash, p.index)] = p
			for _, k := range o.Keys {
				if k.Index == 2 {
					at[string(k.Value)] = p
				}
			}
		}
		return created, spent
	}
	for _, b := range w.Blocks {
		for _, txs := range [][]model.Tx{b.Genesis, b.Txs} {
			for i := range txs {
				created, spent := add(&txs[i])
				for _, p := range created {
					if f.has(p.output) {
						confirmed = append(confirmed, fmt.Sprintf("%s:%d of %d", p.tx, p.index, p.output.Value))
					}
				}
				for n, p := range spent {
					if f.spends && f.has(p.output) {
						confirmed = append(confirmed, fmt.Sprintf("%s:%d spent by %v input %d", p.tx, p.index, txs[i].Hash, n))
					}
				}
			}
		}
	}
	for _, u := range w.Pool {
		created, spent := add(&u.Tx)
		a := answers.Pending{Tx: c.FormatHash(u.Hash), FirstSeen: u.Seen.Unix(), Outputs: []query.PendingOutputAnswer{}}
		for _, p := range created {
			if f.has(p.output) {
				a.Outputs = append(a.Outputs, answerOf(c, p))
			}
		}
		for n, p := range spent {
			if f.spends && f.has(p.output) {
				a.Spends = append(a.Spends, query.PendingSpendAnswer{
					Tx: p.tx, Index: p.index, Value: fmt.Sprint(p.output.Value), SpentBy: query.PendingSpentByAnswer{Tx: a.Tx, Input: n},
				})
			}
		}
		if len(a.Outputs)+len(a.Spends) > 0 {
			unconfirmed = append(unconfirmed, text(t, a))
		}
	}
	slices.Sort(unconfirmed)
	slices.Sort(confirmed)
	return unconfirmed, confirmed
}

func answerOf(c model.Chain, p place) query.PendingOutputAnswer {
	a := query.PendingOutputAnswer{Tx: p.tx, Index: p.index, Value: fmt.Sprint(p.output.Value), Keys: map[string]any{}}
	for _, k := range p.output.Keys {
		x := c.Indexes()[k.Index]
		if x.Kind == model.ManyValued {
			list, _ := a.Keys[x.Name].([]string)
			a.Keys[x.Name] = append(list, x.Format(k.Value))
		} else {
			a.Keys[x.Name] = x.Format(k.Value)
		}
	}
	for _, asset := range p.output.Assets {
		a.Assets = append(a.Assets, query.PendingAssetAnswer{Asset: c.FormatAsset(asset.ID), Amount: fmt.Sprint(asset.Amount)})
	}
	return a
}

// watcher is a wallet that also follows unconfirmed transactions as docs/events.md describes.
type watcher struct {
	*wallet
	unconfirmed map[string]string // events by transaction
	confirmed   map[string]int64  // heights of the transactions of its outputs and spends
	complete    bool              // no event since the last event mempool
	reasons     map[string]int
	resets      int
	state       string
}

func newWatcher() *watcher {
	return &watcher{wallet: newWallet(), unconfirmed: map[string]string{}, confirmed: map[string]int64{}, reasons: map[string]int{}}
}

func (w *watcher) take(e event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.follow(e); err != nil && w.wrong == nil {
		w.wrong = fmt.Errorf("%w in %+v", err, e)
	}
}

func (w *watcher) follow(e event) error {
	w.complete = false
	switch e.name {
	case "pending":
		var a answers.Pending
		if err := json.Unmarshal([]byte(e.data), &a); err != nil {
			return err
		}
		w.unconfirmed[a.Tx] = e.data
		return nil
	case "gone":
		var a answers.Gone
		if err := json.Unmarshal([]byte(e.data), &a); err != nil {
			return err
		}
		if w.unconfirmed[a.Tx] == "" {
			return fmt.Errorf("not among the %d unconfirmed transactions", len(w.unconfirmed))
		}
		delete(w.unconfirmed, a.Tx)
		w.reasons[a.Reason]++
		return nil
	case "mempool":
		return w.mark(e)
	case "tip":
		for _, one := range w.pending {
			var a struct {
				Tx      string
				SpentBy *query.SpentByAnswer `json:"spent_by"`
			}
			if err := json.Unmarshal([]byte(one.text), &a); err != nil {
				return err
			}
			if a.SpentBy != nil {
				a.Tx = a.SpentBy.Tx
			}
			delete(w.unconfirmed, a.Tx)
			w.confirmed[a.Tx] = one.height
		}
	}
	if err := w.apply(e); err != nil {
		return err
	}
	maps.DeleteFunc(w.confirmed, func(_ string, height int64) bool { return height > w.at })
	return nil
}

// mark checks the state at the end of a series of events.
func (w *watcher) mark(e event) error {
	var a answers.Mempool
	if err := json.Unmarshal([]byte(e.data), &a); err != nil {
		return err
	}
	if a.Reset {
		clear(w.unconfirmed)
		w.resets++
	}
	switch {
	case a.Count != len(w.unconfirmed):
		return fmt.Errorf("there are %d unconfirmed transactions", len(w.unconfirmed))
	case a.Tip == nil && w.hash != "", a.Tip != nil && a.Tip.Hash != w.hash:
		return fmt.Errorf("the tip is %s", w.hash)
	}
	for id := range w.unconfirmed {
		if height, twice := w.confirmed[id]; twice && !a.Reset {
			return fmt.Errorf("%s is unconfirmed and in block %d", id, height)
		}
	}
	w.complete, w.state = !a.Reset, a.State
	return nil
}

// sets returns what the watcher has in the form of [filter.expected]; ok is false while events are missing.
func (w *watcher) sets(t *testing.T, tip string) (unconfirmed, confirmed []string, ok bool) {
	t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.wrong != nil {
		t.Fatal(w.wrong)
	}
	for _, e := range w.have {
		var a struct {
			query.OutputAnswer
			SpentBy *query.SpentByAnswer `json:"spent_by"`
		}
		if err := json.Unmarshal([]byte(e.text), &a); err != nil {
			t.Fatal(err)
		}
		line := fmt.Sprintf("%s:%d of %s", a.Tx, a.Index, a.Value)
		if a.SpentBy != nil {
			line = fmt.Sprintf("%s:%d spent by %s input %d", a.Tx, a.Index, a.SpentBy.Tx, a.SpentBy.Input)
		}
		confirmed = append(confirmed, line)
	}
	slices.Sort(confirmed)
	return slices.Sorted(maps.Values(w.unconfirmed)), confirmed, w.complete && w.hash == tip && w.state == "live"
}
