package pending

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"birthmark/core/coretest"
	"birthmark/core/pending/pendingtest"
	"birthmark/core/query"
	"birthmark/internal/testrun"
	"birthmark/internal/testseed"
	"birthmark/model"
	"birthmark/model/modeltest"
)

// amounts are the sums that a value receives and sends in a transaction.
type amounts struct {
	tx             model.Hash
	received, sent uint64
}

// answers returns the transactions of every value of the overlay, in the order of ids.
func answers(o *Overlay) map[Value][]amounts {
	all := map[Value][]amounts{}
	for t := range o.Arrivals(0) {
		own := map[Value]bool{}
		t.values(func(index int, value []byte) { own[Value{index, string(value)}] = true }, func([]byte) {})
		for v := range own {
			all[v] = nil
		}
	}
	for v := range all {
		for t := range o.Value(v.Index, []byte(v.Value)) {
			received, sent := t.Amounts(v.Index, []byte(v.Value))
			all[v] = append(all[v], amounts{t.ID, received, sent})
		}
		slices.SortFunc(all[v], func(a, b amounts) int { return cmp.Compare(string(a.tx[:]), string(b.tx[:])) })
	}
	return all
}

// dump returns the state that readers can see, one line per fact, independent of the order of arrival.
func dump(o *Overlay) []string {
	var lines []string
	for t := range o.Arrivals(0) {
		a := o.Ancestors(t)
		line := fmt.Sprintf("%v size %d %d %d fee %d %t ancestors %v parent %t seen %v first %d raw %q mints %s",
			t.ID, t.Size, t.VSize, t.Weight, t.Fee, t.FeeKnown, a, o.UnconfirmedParent(t), t.Seen().Unix(), t.FirstOutput, t.Raw(), mintsText(t.Mints))
		for i := range t.Inputs() {
			in := &t.Inputs()[i]
			line += fmt.Sprintf("\n  in %d %v:%d %s", in.Index, in.Outpoint.Tx, in.Outpoint.Index, outputText(in.Spends()))
			if o.Spender(in.Outpoint) != in || in.Tx != t {
				line += " has another spender"
			}
		}
		for i := range t.NumOutputs() {
			line += "\n  out " + outputText(t.Output(i))
			for _, a := range t.Output(i).Assets() {
				if found := slices.Collect(o.Asset(a.ID)); !slices.Contains(found, t) {
					line += " is not found by its asset"
				}
			}
		}
		if o.Tx(t.ID) != t {
			line += " is not found by its id"
		}
		lines = append(lines, line)
	}
	for v, list := range answers(o) {
		lines = append(lines, fmt.Sprintf("value %d %q %v", v.Index, v.Value, list))
	}
	i := o.Info()
	slices.Sort(lines)
	return append(lines, fmt.Sprintf("totals %d %d %d %d", i.Count, i.Size, i.VSize, i.Fees))
}

func mintsText(mints []model.Mint) string {
	var text []string
	for _, m := range mints {
		text = append(text, fmt.Sprintf("%q %v", m.Asset, m.Amount))
	}
	slices.Sort(text)
	return strings.Join(text, " ")
}

func outputText(o Output) string {
	text := []string{fmt.Sprint(o.Value)}
	for x, v := range o.Keys() {
		text = append(text, fmt.Sprintf("%d=%q", x, v))
	}
	for _, a := range o.Assets() {
		text = append(text, fmt.Sprintf("asset %q %v", a.ID, a.Amount))
	}
	slices.Sort(text[1:])
	return strings.Join(text, " ")
}

func same(t testing.TB, what string, got, want []string) {
	t.Helper()
	for i := range max(len(got), len(want)) {
		g, w := "(nothing)", "(nothing)"
		if i < len(got) {
			g = got[i]
		}
		if i < len(want) {
			w = want[i]
		}
		if g != w {
			t.Fatalf("%s: %d lines, expected %d; the first that differs:\n got %.2000s\nwant %.2000s", what, len(got), len(want), g, w)
		}
	}
}

// consistent checks an overlay against the chain and against itself.
// world is a generated history and the reference for the tests.
type world struct {
	*pendingtest.World
	t testing.TB
}

func newWorld(t testing.TB, v modeltest.Variant, seed uint64) *world {
	w := &world{pendingtest.New(t, v, seed), t}
	w.Wishes = v.Tokens
	return w
}

func (w *world) consistent(o *Overlay) {
	w.t.Helper()
	replaced := 0
	o.fates.Scan(func(r fateRow) bool {
		if r.Reason == Replaced {
			replaced++
			if !slices.Contains(slices.Collect(o.ReplacedBy(r.By)), r.Fate) {
				w.t.Fatalf("%v is not among the transactions that %v replaced", r.ID, r.By)
			}
		}
		return true
	})
	if n := o.replaced.Len(); n != replaced {
		w.t.Fatalf("%d rows of replacements, expected %d", n, replaced)
	}
	coins := w.Coins(nil)
	unspent := map[Outpoint]bool{}
	for _, c := range coins {
		unspent[Outpoint{c.Tx, c.Index}] = true
	}
	spent := map[Outpoint]model.Hash{}
	var size, vsize, fees uint64
	ids := map[model.Hash]bool{}
	inChain := map[model.Hash]bool{}
	for _, b := range w.Blocks {
		for i := range b.Txs {
			inChain[b.Txs[i].Hash] = true
		}
	}
	for t := range o.Arrivals(0) {
		if ids[t.ID] || inChain[t.ID] {
			w.t.Fatalf("transaction %v is twice in the overlay, or also in the chain", t.ID)
		}
		ids[t.ID] = true
		size, vsize, fees = size+uint64(t.Size), vsize+uint64(t.VSize), fees+t.Fee
		for i := range t.Inputs() {
			out := t.Inputs()[i].Outpoint
			if by, twice := spent[out]; twice {
				w.t.Fatalf("%v and %v spend the same output", by, t.ID)
			}
			spent[out] = t.ID
			parent := o.Tx(out.Tx)
			if parent == nil && !unspent[out] {
				w.t.Fatalf("%v spends %v:%d, which is neither unspent in the chain nor in the overlay", t.ID, out.Tx, out.Index)
			}
			if parent != nil {
				if made, ok := parent.OutputAt(out.Index); !ok || outputText(made) != outputText(t.Inputs()[i].Spends()) {
					w.t.Fatalf("%v spends %v:%d with a different output", t.ID, out.Tx, out.Index)
				}
			}
		}
		if got, want := o.Ancestors(t), recount(o, t); got != want {
			w.t.Fatalf("%v has ancestors %v, expected %v", t.ID, got, want)
		}
	}
	i := o.Info()
	if i.Size != size || i.VSize != vsize || i.Fees != fees || i.Count != len(ids) {
		w.t.Fatalf("totals %+v, expected %d %d %d %d", i, len(ids), size, vsize, fees)
	}
	last, n := -1.0, 0
	for t := range o.ByRate(nil) {
		if n++; last >= 0 && t.Rate() > last {
			w.t.Fatal("the order by rate is not descending")
		}
		last = t.Rate()
	}
	if n != len(ids) || o.spends.Len() != len(spent) {
		w.t.Fatalf("%d transactions by rate and %d spends, expected %d and %d", n, o.spends.Len(), len(ids), len(spent))
	}
}

// recount computes the ancestors of a transaction directly.
func recount(o *Overlay, t *Tx) Ancestors {
	all := map[*Tx]bool{t: true}
	for {
		n := len(all)
		for one := range maps.Clone(all) {
			for i := range one.Inputs() {
				if parent := o.Tx(one.Inputs()[i].Outpoint.Tx); parent != nil {
					all[parent] = true
				}
			}
		}
		if len(all) == n {
			break
		}
	}
	var a Ancestors
	for one := range all {
		a.Count++
		a.VSize += uint64(one.VSize)
		a.Fee += one.Fee
	}
	return a
}

// touchedExactly compares the touched values of a change with the values whose answers changed.
func touchedExactly(t testing.TB, before, after *Overlay, c *Change) (extra int) {
	t.Helper()
	text := func(o *Overlay) map[Value]string {
		texts := map[Value]string{}
		for v, list := range answers(o) {
			for _, a := range list {
				texts[v] += fmt.Sprint(a, o.UnconfirmedParent(o.Tx(a.tx)))
			}
		}
		return texts
	}
	was, is := text(before), text(after)
	for v := range c.Touched {
		if was[v] == is[v] {
			extra++
		}
	}
	for v := range is {
		if _, known := was[v]; !known {
			was[v] = ""
		}
	}
	for v, text := range was {
		if _, found := c.Touched[v]; text != is[v] && !found && !c.All {
			t.Fatalf("value %d %q is not touched, its answer changed from %s to %s", v.Index, v.Value, text, is[v])
		}
	}
	return extra
}

// mineEverything compares the answers of the overlay with those of the database after a block of its transactions.
func (w *world) mineEverything(o *Overlay) {
	w.t.Helper()
	ctx := context.Background()
	confirmed := func(v Value) (b *query.BalanceAnswer, h *query.HistoryAnswer) {
		x := w.DB.Chain().Indexes()[v.Index]
		err := w.DB.View(ctx, func(view *query.View) (err error) {
			if b, err = view.Balance(ctx, x.Name, x.Format([]byte(v.Value))); err == nil {
				h, err = view.History(ctx, x.Name, x.Format([]byte(v.Value)), query.Range{}, query.Page{Limit: 1000})
			}
			return err
		})
		if err != nil {
			w.t.Fatal(err)
		}
		return b, h
	}
	all := answers(o)
	before := map[Value]*query.BalanceAnswer{}
	entries := map[Value]int{}
	for v := range all {
		b, h := confirmed(v)
		before[v], entries[v] = b, len(h.Txs)
	}
	tip := w.DB.Tip()
	block := w.Block(w.Valid(w.fetchSorted(o)))
	if n := len(block.Txs); w.Variant.Coinbase {
		block.Txs[0].Outputs = []model.Output{{Value: 50_000}} // without values
		if n-1 != o.Count() {
			w.t.Fatalf("%d of %d transactions can be mined", n-1, o.Count())
		}
	}
	coretest.AppendAll(w.t, w.DB, []*model.Block{block}, 1)
	for v, list := range all {
		b, h := confirmed(v)
		var got []amounts
		for _, e := range h.Txs[entries[v]:] {
			id, err := w.DB.Chain().ParseHash(e.Hash)
			if err != nil {
				w.t.Fatal(err)
			}
			var a amounts
			a.tx = id
			if _, err := fmt.Sscan(e.Received, &a.received); err != nil {
				w.t.Fatal(err)
			}
			if _, err := fmt.Sscan(e.Sent, &a.sent); err != nil {
				w.t.Fatal(err)
			}
			got = append(got, a)
		}
		slices.SortFunc(got, func(a, b amounts) int { return cmp.Compare(string(a.tx[:]), string(b.tx[:])) })
		if !slices.Equal(got, list) {
			w.t.Fatalf("value %d %q: confirmed %v, unconfirmed %v", v.Index, v.Value, got, list)
		}
		var received, sent uint64
		if _, err := fmt.Sscan(before[v].Received, &received); err != nil {
			w.t.Fatal(err)
		}
		if _, err := fmt.Sscan(before[v].Sent, &sent); err != nil {
			w.t.Fatal(err)
		}
		for _, a := range list {
			received, sent = received+a.received, sent+a.sent
		}
		if b.Received != fmt.Sprint(received) || b.Sent != fmt.Sprint(sent) {
			w.t.Fatalf("value %d %q: received %s and sent %s after the block, expected %d and %d", v.Index, v.Value, b.Received, b.Sent, received, sent)
		}
	}
	if w.Variant.Tokens {
		w.derivedEqual(o, block)
	}
	coretest.Rollback(w.t, w.DB, tip)
}

// fetchSorted returns the transactions of an overlay as the node sends them, parents first.
func (w *world) fetchSorted(o *Overlay) (txs []*model.Unconfirmed) {
	for t := range o.Arrivals(0) {
		for _, u := range w.Known {
			if u.Hash == t.ID {
				txs = append(txs, u)
			}
		}
	}
	return txs
}

// list brings a pool to the list of the node. Nothing leaves if the database is behind the node.
func (w *world) list(q *query.Query, p *Pool, behind bool) error {
	tables := p.tables.copy()
	missing, gone := compare(&tables, w.IDs(), p.arrived)
	missing = p.wanting(missing, time.Now())
	if behind {
		gone = nil
	}
	if err := p.enter(q, w.Fetch(missing)); err != nil {
		return err
	}
	p.Drop(gone)
	return nil
}

// fresh returns the overlay of a new pool that reads the list of the node.
func (w *world) fresh() *Overlay {
	p := NewPool(w.DB.Chain().Traits(), 1<<30, time.Now)
	w.Query(func(q *query.Query) error { return p.Enter(q, w.Fetch(w.IDs())) })
	return p.Overlay()
}

// historyRounds is the number of rounds of a random history. A larger number means more histories, because the
// reference reads the whole chain in each round.
const historyRounds = 250

// After each round of a random history, the overlay has the transactions of the node. Its answers equal those of the
// chain after a block with exactly these transactions.
func TestOverlayOfRandomHistories(t *testing.T) {
	rounds, mineEvery := testrun.Rounds(t, testrun.Amount(historyRounds, 60)), 10
	if rounds > historyRounds {
		mineEvery = 1
	}
	for _, v := range pendingtest.Variants() {
		t.Run(v.Name, func(t *testing.T) {
			seed := testseed.New(t)
			var done counts
			for begun := 0; begun < rounds; begun += historyRounds {
				w := newWorld(t, v, seed+uint64(begun))
				w.randomHistory(min(historyRounds, rounds-begun), mineEvery, &done)
				t.Logf("a node with %+v", w.Counts)
			}
			t.Logf("BIRTHMARK_SEED=%d: %d rounds, %+v", seed, rounds, done)
		})
	}
}

// counts are the comparisons of random histories.
type counts struct {
	compared, mined   int // overlays that were compared with a new one, and with a block of their transactions
	touched, needless int // touched values, and those whose answers did not change
}

func (w *world) randomHistory(rounds, mineEvery int, done *counts) {
	t, p := w.t, NewPool(w.DB.Chain().Traits(), 1<<30, time.Now)
	old := p.Overlay()
	var kept *Overlay
	var keptText []string
	for n := range rounds {
		for range 1 + w.Rand.IntN(3) {
			w.Step()
		}
		if w.Rand.IntN(3) > 0 {
			w.Sync() // otherwise the database syncs in a later round
		}
		behind := w.DB.Tip() != w.Tip()
		w.Query(func(q *query.Query) error {
			if err := p.Advance(q); err != nil {
				return err
			}
			return w.list(q, p, behind)
		})
		now, change := p.Overlay(), p.takeChange()
		done.touched += len(change.Touched)
		done.needless += touchedExactly(t, old, now, &change)
		old = now
		if !behind {
			w.consistent(now)
			same(t, fmt.Sprintf("round %d: the overlay and a new one", n), dump(now), dump(w.fresh()))
			done.compared++
			if got := now.Count(); got != len(w.Pool) {
				t.Fatalf("round %d: %d transactions, the node has %d", n, got, len(w.Pool))
			}
			if n%mineEvery == 0 {
				w.mineEverything(now)
				done.mined++
			}
		}
		if n%50 == 0 {
			if kept != nil {
				same(t, "an overlay of 50 rounds ago", dump(kept), keptText)
			}
			kept, keptText = now, dump(now)
		}
	}
	coretest.Consistent(t, w.DB)
}
