package core_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"birthmark/core"
	"birthmark/model/modeltest"
)

// list is a paged list of a database, and what the reference says is in it.
type list struct {
	name    string
	entries []entry // ascending
	// filtered: only the page after the last entry knows that nothing follows, where what follows is filtered out
	filtered bool
	page     func(db *core.DB, p core.Page) (entries []string, next *string, err error)
}

// entry is one of a list: its JSON, its place in the order of the list, which stays when the chain grows, and the
// height a cursor that ends with it depends on.
type entry struct {
	json   string
	at     int
	height uint32
}

func (l *list) in(descending bool) []entry {
	entries := slices.Clone(l.entries)
	if descending {
		slices.Reverse(entries)
	}
	return entries
}

// behind is the entries that follow one at place at.
func behind(entries []entry, at int, descending bool) (rest []entry) {
	for _, e := range entries {
		if (descending && e.at < at) || (!descending && e.at > at) {
			rest = append(rest, e)
		}
	}
	return rest
}

func text(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}

func texts[T any](vs []T) []string {
	list := make([]string, len(vs))
	for i, v := range vs {
		list[i] = text(v)
	}
	return list
}

// lists is every list the reference's database has.
func (r *reference) lists() (all []*list) {
	ctx := context.Background()
	txAt, outputAt, valueAt := map[*refTx]int{}, map[*refOutput]int{}, map[string]int{}
	for i, t := range r.txs {
		txAt[t] = i
		for _, o := range t.outputs {
			outputAt[o] = len(outputAt)
		}
	}
	for i, v := range r.values {
		valueAt[r.text(v)] = i
	}
	for _, v := range r.values {
		index, value := modeltest.IndexNames[v.index], r.text(v)
		for _, only := range []bool{false, true} {
			l := &list{name: fmt.Sprintf("find %s %.40s, unspent %t", index, value, only), filtered: only}
			outputs := v.outputs
			if only {
				outputs = unspent(outputs)
			}
			for _, o := range outputs {
				l.entries = append(l.entries, entry{text(r.output(o)), outputAt[o], o.tx.height})
			}
			first := text(seen(v.outputs[0]))
			l.page = func(db *core.DB, p core.Page) ([]string, *string, error) {
				a, err := db.Find(ctx, index, value, only, p)
				if err != nil {
					return nil, nil, err
				}
				if a.Index != index || a.Value != value || text(a.FirstSeen) != first {
					return nil, nil, fmt.Errorf("answers for %s %s, first seen at %+v", a.Index, a.Value, a.FirstSeen)
				}
				return texts(a.Outputs), a.Next, nil
			}
			all = append(all, l)
		}
		l := &list{name: fmt.Sprintf("history %s %.40s", index, value)}
		for i, a := range r.history(v) {
			l.entries = append(l.entries, entry{text(a), txAt[v.moves[i].tx], a.Height})
		}
		l.page = func(db *core.DB, p core.Page) ([]string, *string, error) {
			a, err := db.History(ctx, index, value, p)
			if err != nil {
				return nil, nil, err
			}
			return texts(a.Txs), a.Next, nil
		}
		all = append(all, l)
	}
	for _, asset := range r.assets {
		id := r.chain.FormatAsset(asset.id)
		l := &list{name: "events of " + id}
		for i, a := range r.events(asset) {
			l.entries = append(l.entries, entry{text(a), txAt[asset.events[i]], a.Height})
		}
		l.page = func(db *core.DB, p core.Page) ([]string, *string, error) {
			a, err := db.AssetEvents(ctx, id, p)
			if err != nil {
				return nil, nil, err
			}
			return texts(a.Events), a.Next, nil
		}
		all = append(all, l)
		l = &list{name: "holders of " + id}
		for _, a := range r.holders(asset) {
			at := valueAt[a.Address]
			l.entries = append(l.entries, entry{text(a), at, r.values[at].outputs[0].tx.height})
		}
		l.page = func(db *core.DB, p core.Page) ([]string, *string, error) {
			a, err := db.AssetHolders(ctx, id, p)
			if err != nil {
				return nil, nil, err
			}
			return texts(a.Holders), a.Next, nil
		}
		all = append(all, l)
	}
	return all
}

// walk asks for page after page, from p on, and fails where the pages together are not want.
func (l *list) walk(t testing.TB, db *core.DB, p core.Page, want []entry) {
	t.Helper()
	for {
		got, next, err := l.page(db, p)
		if err != nil {
			t.Fatalf("%s, %+v: %v", l.name, p, err)
		}
		n := min(len(want), p.Limit)
		for i := range max(n, len(got)) {
			if i >= n || i >= len(got) || got[i] != want[i].json {
				t.Fatalf("%s, %+v: a page of %d entries, expected %d; entry %d is\n%s, expected\n%s", l.name, p, len(got), n, i, at(got, i), at(want, i))
			}
		}
		want = want[n:]
		if next == nil && len(want) > 0 {
			t.Fatalf("%s, %+v: ends, and %d entries are left", l.name, p, len(want))
		}
		if next != nil && len(want) == 0 && (!l.filtered || n == 0) {
			t.Fatalf("%s, %+v: goes on, and nothing is left", l.name, p)
		}
		if next == nil {
			return
		}
		p.After = *next
	}
}

func at[T any](list []T, i int) string {
	if i < len(list) {
		return fmt.Sprint(list[i])
	}
	return "(none)"
}
