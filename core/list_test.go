package core_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"birthmark/core"
	"birthmark/core/query"
)

// list is a paginated list of a database, with the entries that the reference expects.
type list struct {
	name    string
	entries []entry // ascending
	// filtered: if the remaining entries are filtered out, only the page after the last entry ends the list
	filtered bool
	page     func(db *core.DB, p query.Page) (entries []string, next *string, err error)
}

// entry is one entry of a list: its JSON, its position in the list (which does not change when the chain grows), and
// the height of the block that a cursor after it depends on.
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

// behind returns the entries that follow position at.
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

// lists returns every list of the reference's database.
func (r *reference) lists() (all []*list) {
	ctx := context.Background()
	txAt, outputAt, addressAt := map[string]int{}, map[*refOutput]int{}, map[string]int{}
	for i, t := range r.txs {
		txAt[fmt.Sprint(r.hash(t), t.height)] = i
	}
	for i, o := range r.outputs() {
		outputAt[o] = i
	}
	blocks := &list{name: "blocks", page: func(db *core.DB, p query.Page) ([]string, *string, error) {
		a, err := db.Blocks(ctx, query.Range{}, p)
		if err != nil {
			return nil, nil, err
		}
		return texts(a.Blocks), a.Next, nil
	}}
	for i, b := range r.blocks {
		a := r.block(b)
		summary := query.BlockSummaryAnswer{Height: a.Height, Hash: a.Hash, Time: a.Time, Size: a.Size, TxCount: a.TxCount}
		blocks.entries = append(blocks.entries, entry{text(summary), i, a.Height})
	}
	all = append(all, blocks)
	for i, x := range r.indexes {
		l := &list{name: "values of " + x.Name}
		for at, value := range r.values(i) {
			o := r.where(i, value)[0]
			a := query.ValueAnswer{Value: x.Format([]byte(value)), FirstSeen: query.FirstSeenAnswer{Tx: r.hash(o.tx), Index: o.index, Height: o.tx.height}}
			l.entries = append(l.entries, entry{text(a), at, o.tx.height})
		}
		l.page = func(db *core.DB, p query.Page) ([]string, *string, error) {
			a, err := db.Values(ctx, x.Name, p)
			if err != nil {
				return nil, nil, err
			}
			if a.Index != x.Name || a.Count != uint64(len(l.entries)) {
				return nil, nil, fmt.Errorf("%d values of %s, expected %d of %s", a.Count, a.Index, len(l.entries), x.Name)
			}
			return texts(a.Values), a.Next, nil
		}
		all = append(all, l)
		for at, value := range r.values(i) {
			index, value, found := x.Name, x.Format([]byte(value)), r.where(i, value)
			if index == "address" {
				addressAt[value] = at
			}
			for _, only := range []bool{false, true} {
				l := &list{name: fmt.Sprintf("find %s %s, unspent %t", index, value, only), filtered: only}
				for _, o := range found {
					if !only || o.spentBy == nil {
						l.entries = append(l.entries, entry{text(r.output(o, true)), outputAt[o], o.tx.height})
					}
				}
				l.page = func(db *core.DB, p query.Page) ([]string, *string, error) {
					a, err := db.Find(ctx, index, value, query.Terms{Unspent: only}, p)
					if err != nil {
						return nil, nil, err
					}
					return texts(a.Outputs), a.Next, nil
				}
				all = append(all, l)
			}
			l := &list{name: fmt.Sprintf("history %s %s", index, value)}
			for _, a := range r.history(found) {
				l.entries = append(l.entries, entry{text(a), txAt[fmt.Sprint(a.Hash, a.Height)], a.Height})
			}
			l.page = func(db *core.DB, p query.Page) ([]string, *string, error) {
				a, err := db.History(ctx, index, value, query.Range{}, p)
				if err != nil {
					return nil, nil, err
				}
				return texts(a.Txs), a.Next, nil
			}
			all = append(all, l)
		}
	}
	assets := &list{name: "assets"}
	for at, asset := range r.assetOrder() {
		id := r.chain.FormatAsset([]byte(asset))
		answer, events, holders := r.asset(asset)
		assets.entries = append(assets.entries, entry{text(answer), at, answer.FirstSeen.Height})
		finds := []*refFind{{base: refTerm{-1, asset}}, {base: refTerm{-1, asset}, or: []refTerm{{1, "\x01"}, {-1, r.assetOrder()[0]}}}}
		if keys := r.find(finds[0])[0].Keys; len(keys) > 0 {
			k := refTerm{keys[0].Index, string(keys[0].Value)}
			finds = append(finds, &refFind{base: refTerm{-1, asset}, and: []refTerm{k}}, &refFind{base: k, and: []refTerm{{-1, asset}}, unspent: true})
		}
		for _, f := range finds {
			base, terms := r.term(f.base), r.terms(f)
			l := &list{name: fmt.Sprintf("find %s %s, %+v", base.Index, base.Value, terms), filtered: f.unspent}
			for _, o := range r.find(f) {
				l.entries = append(l.entries, entry{text(r.output(o, true)), outputAt[o], o.tx.height})
			}
			l.page = func(db *core.DB, p query.Page) ([]string, *string, error) {
				a, err := db.Find(ctx, base.Index, base.Value, terms, p)
				if err != nil {
					return nil, nil, err
				}
				return texts(a.Outputs), a.Next, nil
			}
			all = append(all, l)
		}
		l := &list{name: "events of " + id}
		for _, a := range events {
			l.entries = append(l.entries, entry{text(a), txAt[fmt.Sprint(a.Tx, a.Height)], a.Height})
		}
		l.page = func(db *core.DB, p query.Page) ([]string, *string, error) {
			a, err := db.AssetEvents(ctx, id, query.Range{}, p)
			if err != nil {
				return nil, nil, err
			}
			return texts(a.Events), a.Next, nil
		}
		all = append(all, l)
		l = &list{name: "holders of " + id}
		for _, a := range holders {
			address, _ := r.indexes[0].Parse(a.Address)
			l.entries = append(l.entries, entry{text(a), addressAt[a.Address], r.where(0, string(address))[0].tx.height})
		}
		l.page = func(db *core.DB, p query.Page) ([]string, *string, error) {
			a, err := db.AssetHolders(ctx, id, p)
			if err != nil {
				return nil, nil, err
			}
			return texts(a.Holders), a.Next, nil
		}
		all = append(all, l)
	}
	assets.page = func(db *core.DB, p query.Page) ([]string, *string, error) {
		a, err := db.Assets(ctx, p)
		if err != nil {
			return nil, nil, err
		}
		if a.Count != uint64(len(assets.entries)) {
			return nil, nil, fmt.Errorf("%d assets, expected %d", a.Count, len(assets.entries))
		}
		return texts(a.Assets), a.Next, nil
	}
	return append(all, assets)
}

// walk reads page after page from p on, and fails if the entries of the pages differ from want.
func (l *list) walk(t testing.TB, db *core.DB, p query.Page, want []entry) {
	t.Helper()
	for {
		got, next, err := l.page(db, p)
		if err != nil {
			t.Fatalf("%.200s, %+v: %v", l.name, p, err)
		}
		n := min(len(want), p.Limit)
		for i := range max(n, len(got)) {
			if i >= n || i >= len(got) || got[i] != want[i].json {
				t.Fatalf("%.200s, %+v: a page of %d entries, expected %d; entry %d is\n%s, expected\n%s", l.name, p, len(got), n, i, at(got, i), at(want, i))
			}
		}
		want = want[n:]
		if next == nil && len(want) > 0 {
			t.Fatalf("%.200s, %+v: the list ends with %d entries missing", l.name, p, len(want))
		}
		if next != nil && len(want) == 0 && (!l.filtered || n == 0) {
			t.Fatalf("%.200s, %+v: a next page without entries", l.name, p)
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
