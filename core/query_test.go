package core_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"birthmark/core"
	"birthmark/core/query"
	"birthmark/core/query/richest"
	"birthmark/internal/testseed"
	"birthmark/model"
	"birthmark/model/modeltest"
	"birthmark/storage/memory"
)

// agree compares two answers by their JSON.
func agree(t testing.TB, what string, got any, err error, want any) {
	t.Helper()
	if err != nil {
		t.Errorf("%s: %v", what, err)
		return
	}
	g, _ := json.Marshal(got)
	w, _ := json.Marshal(want)
	if string(g) != string(w) {
		t.Errorf("%s:\n got %.1500s\nwant %.1500s", what, g, w)
	}
}

// pages collects a list page by page.
func pages[T any](t testing.TB, what string, p query.Page, page func(query.Page) ([]T, *string, error)) (all []T) {
	t.Helper()
	for {
		entries, next, err := page(p)
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		if len(entries) > p.Limit || (next != nil && len(entries) < p.Limit) {
			t.Errorf("%s: a page of %d, the limit is %d", what, len(entries), p.Limit)
		}
		all = append(all, entries...)
		if next == nil {
			return all
		}
		p.After = *next
	}
}

// Every answer equals that of the reference, on every kind of chain and at every height.
func TestAnswersMatchTheReference(t *testing.T) {
	variants(t, func(t *testing.T, v modeltest.Variant) {
		answersOf(t, v, v.NewGenerator(testseed.Of(t, 200)).Blocks(30))
	})
}

// answersOf compares every answer of a database of blocks with the reference.
func answersOf(t *testing.T, v modeltest.Variant, blocks []*model.Block) {
	t.Helper()
	db := open(t, memory.New(), v, 1<<16)
	appendAll(t, db, blocks, 4)
	consistent(t, db)
	answersAre(t, db, v, blocks)
}

func (r *reference) blockTotals(b *model.Block) *query.BlockTotalsAnswer {
	a := &query.BlockTotalsAnswer{
		Chain: r.chain.Name(), Height: uint32(b.Height), Hash: r.chain.FormatHash(b.Hash), TxCount: len(b.Txs), Size: b.Size,
	}
	in, out, fees, known := new(big.Int), new(big.Int), new(big.Int), true
	sum := func(to *big.Int, outputs []*refOutput) (amount uint64) {
		for _, o := range outputs {
			to.Add(to, new(big.Int).SetUint64(o.Value))
			amount += o.Value
		}
		return amount
	}
	for _, t := range r.txs {
		if t.block != b {
			continue
		}
		a.Inputs, a.Outputs = a.Inputs+len(t.spends), a.Outputs+len(t.outputs)
		received, sent := sum(out, t.outputs), sum(in, t.spends)
		switch {
		case t.Fee.Stated:
			fees.Add(fees, new(big.Int).SetUint64(t.Fee.Amount))
		case len(t.spends) > 0 && (sent < received || r.traits.FeeOutputs):
			known = false
		case len(t.spends) > 0:
			fees.Add(fees, new(big.Int).SetUint64(sent-received))
		}
	}
	if a.InputValue, a.OutputValue = in.String(), out.String(); known {
		a.Fees = fees.String()
	}
	return a
}

// answersAre compares every answer of a database that contains exactly these blocks with the reference.
func answersAre(t *testing.T, db *core.DB, v modeltest.Variant, blocks []*model.Block) {
	t.Helper()
	ctx := context.Background()
	r := newReference(v, blocks)
	for _, b := range blocks {
		below := blocks[len(blocks)-1].Height - b.Height
		for _, ref := range []string{fmt.Sprint(b.Height), r.chain.FormatHash(b.Hash), fmt.Sprintf("tip-%d", below)} {
			got, err := db.Block(ctx, ref)
			agree(t, "block "+ref, got, err, r.block(b))
			hashes := got.Txs
			got.Txs = nil
			header, err := db.BlockHeader(ctx, ref)
			agree(t, "header of block "+ref, header, err, got)
			positions := rand.Perm(len(hashes))
			some, err := db.BlockTxHashes(ctx, got.Height, positions)
			for i, position := range positions {
				if err != nil || len(some) != len(hashes) || some[i] != hashes[position] {
					t.Fatalf("transactions %v of block %s: %v, %v, expected those of %v", positions, ref, some, err, hashes)
				}
			}
			if len(hashes) != got.TxCount {
				t.Errorf("block %s has %d transactions and the hashes of %d", ref, got.TxCount, len(hashes))
			}
			totals, err := db.BlockTotals(ctx, ref)
			agree(t, "totals of block "+ref, totals, err, r.blockTotals(b))
		}
	}
	got, err := db.Block(ctx, "tip")
	agree(t, "tip", got, err, r.block(blocks[len(blocks)-1]))
	for _, tx := range r.byHash {
		got, err := db.Tx(ctx, r.hash(tx))
		agree(t, "tx", got, err, r.tx(tx))
		for _, o := range tx.outputs {
			got, err := db.Output(ctx, fmt.Sprintf("%s:%d", r.hash(tx), o.index))
			agree(t, "output", got, err, r.output(o, true))
		}
	}
	for box, o := range r.byBox {
		got, err := db.Output(ctx, "b"+fmt.Sprintf("%x", box))
		agree(t, "output by box", got, err, r.output(o, true))
	}
	for i, x := range r.indexes {
		for _, limit := range []int{1, 5, 1000} {
			got, err := richest.Of(ctx, db.Queries, x.Name, "", limit)
			agree(t, "richest "+x.Name, got, err, r.richest(i, limit))
		}
		for n, value := range r.values(i) {
			text := x.Format([]byte(value))
			got, err := db.Balance(ctx, x.Name, text)
			agree(t, "balance", got, err, r.balance(i, value))
			if n%3 == 0 || i == 1 {
				lists(t, db, r, i, value)
			}
		}
	}
	for _, id := range r.assetOrder() {
		assets(t, db, r, id)
	}
}

// lists compares the paginated answers for one value.
func lists(t *testing.T, db *core.DB, r *reference, index int, value string) {
	t.Helper()
	ctx := context.Background()
	x := r.indexes[index]
	text := x.Format([]byte(value))
	found := r.where(index, value)
	all, unspent := []query.OutputAnswer{}, []query.OutputAnswer{}
	for _, o := range found {
		all = append(all, r.output(o, true))
		if o.spentBy == nil {
			unspent = append(unspent, r.output(o, true))
		}
	}
	history := r.history(found)
	first := query.FirstSeenAnswer{Tx: all[0].Tx, Index: all[0].Index, Height: all[0].Height}
	for _, descending := range []bool{false, true} {
		for _, limit := range []int{1, 2, 7, 25} {
			p := query.Page{Limit: limit, Descending: descending}
			for _, only := range []bool{false, true} {
				what := fmt.Sprintf("find %s %s, unspent %t, %d a page, descending %t", x.Name, text, only, limit, descending)
				got := pages(t, what, p, func(p query.Page) ([]query.OutputAnswer, *string, error) {
					a, err := db.Find(ctx, x.Name, text, query.Terms{Unspent: only}, p)
					if err != nil {
						return nil, nil, err
					}
					if a.FirstSeen == nil || *a.FirstSeen != first || a.Value != text || a.Index != x.Name {
						t.Errorf("%s: first seen %+v of %s %s, expected %+v", what, a.FirstSeen, a.Index, a.Value, first)
					}
					return a.Outputs, a.Next, nil
				})
				want := all
				if only {
					want = unspent
				}
				agree(t, what, got, nil, ordered(want, descending))
			}
			what := fmt.Sprintf("history %s %s, %d a page, descending %t", x.Name, text, limit, descending)
			got := pages(t, what, p, func(p query.Page) ([]query.HistoryTxAnswer, *string, error) {
				a, err := db.History(ctx, x.Name, text, query.Range{}, p)
				if err != nil {
					return nil, nil, err
				}
				if a.FirstSeen == nil || *a.FirstSeen != first || a.Value != text {
					t.Errorf("%s: first seen %+v of %s, expected %+v", what, a.FirstSeen, a.Value, first)
				}
				return a.Txs, a.Next, nil
			})
			agree(t, what, got, nil, ordered(history, descending))
		}
	}
}

// ordered returns a list in the requested order, or nil if the list is empty.
func ordered[T any](list []T, descending bool) []T {
	list = slices.Clone(list)
	if descending {
		slices.Reverse(list)
	}
	if len(list) == 0 {
		return nil
	}
	return list
}

func assets(t *testing.T, db *core.DB, r *reference, id string) {
	t.Helper()
	ctx := context.Background()
	text := r.chain.FormatAsset([]byte(id))
	want, events, holders := r.asset(id)
	got, err := db.Asset(ctx, text)
	agree(t, "asset", got, err, want)
	if want.Fingerprint != "" {
		got, err := db.Asset(ctx, want.Fingerprint)
		agree(t, "asset by fingerprint", got, err, want)
	}
	for _, descending := range []bool{false, true} {
		for _, limit := range []int{1, 3, 25} {
			p := query.Page{Limit: limit, Descending: descending}
			gotEvents := pages(t, "asset events", p, func(p query.Page) ([]query.AssetEventAnswer, *string, error) {
				a, err := db.AssetEvents(ctx, text, query.Range{}, p)
				if err != nil {
					return nil, nil, err
				}
				return a.Events, a.Next, nil
			})
			agree(t, "asset events", gotEvents, nil, ordered(events, descending))
			gotHolders := pages(t, "asset holders", p, func(p query.Page) ([]query.HolderAnswer, *string, error) {
				a, err := db.AssetHolders(ctx, text, p)
				if err != nil {
					return nil, nil, err
				}
				return a.Holders, a.Next, nil
			})
			agree(t, "asset holders", gotHolders, nil, ordered(holders, descending))
		}
	}
}

// Blocks that are appended between two pages do not repeat or remove entries. A page whose last block was rolled back
// returns an error.
func TestPagesDuringGrowthAndRollback(t *testing.T) {
	ctx := context.Background()
	v := modeltest.Variants()[0]
	blocks := v.NewGenerator(testseed.Of(t, 210)).Blocks(40)
	r := newReference(v, blocks)
	hot := r.indexes[1].Format([]byte{1})
	for _, descending := range []bool{false, true} {
		db := open(t, memory.New(), v, 0)
		appendAll(t, db, blocks[:30], 10)
		var seen []string
		next, p := 30, query.Page{Limit: 3, Descending: descending}
		for {
			a, err := db.Find(ctx, "tag", hot, query.Terms{}, p)
			if err != nil {
				t.Fatal(err)
			}
			for _, o := range a.Outputs {
				seen = append(seen, fmt.Sprintf("%s:%d at %d", o.Tx, o.Index, o.Height))
			}
			if next < len(blocks) {
				appendAll(t, db, blocks[next:next+1], 1)
				next++
			}
			if a.Next == nil {
				break
			}
			p.After = *a.Next
		}
		var want []string
		for _, o := range r.where(1, "\x01") {
			if !descending || int(o.tx.height) < 30 {
				want = append(want, fmt.Sprintf("%s:%d at %d", r.hash(o.tx), o.index, o.tx.height))
			}
		}
		agree(t, fmt.Sprintf("while blocks arrive, descending %t", descending), seen, nil, ordered(want, descending))

		a, err := db.Find(ctx, "tag", hot, query.Terms{}, query.Page{Limit: 1, Descending: true})
		if err != nil || a.Next == nil {
			t.Fatalf("%+v, %v", a, err)
		}
		height := int(a.Outputs[0].Height)
		rollback(t, db, blocks[height-1].Point())
		_, err = db.Find(ctx, "tag", hot, query.Terms{}, query.Page{Limit: 1, After: *a.Next, Descending: true})
		if k, code := model.KindOf(err); k != model.Usage || code != "cursor_rolled_back" {
			t.Errorf("a page after an orphaned block: %v", err)
		}
		consistent(t, db)
	}
}

func TestInvalidAndUnansweredQueries(t *testing.T) {
	ctx := context.Background()
	v := modeltest.Variants()[1]
	blocks := v.NewGenerator(testseed.Of(t, 220)).Blocks(20)
	db := open(t, memory.New(), v, 0)
	empty, err := db.Status(ctx)
	if err != nil || empty.Tip != nil || empty.Totals.UnspentValue != "0" {
		t.Errorf("status of an empty database: %+v, %v", empty, err)
	}
	if _, err := db.Block(ctx, "tip"); kind(err) != model.NotFound {
		t.Errorf("tip of an empty database: %v", err)
	}
	appendAll(t, db, blocks, 5)
	r := newReference(v, blocks)
	tag := r.indexes[1].Format([]byte{1})
	page, err := db.Find(ctx, "tag", tag, query.Terms{}, query.Page{Limit: 1})
	if err != nil || page.Next == nil {
		t.Fatal(err)
	}
	none := hash(200).String()
	for what, c := range map[string]struct {
		kind model.ErrorKind
		code string
		ask  func() error
	}{
		"height above the tip":     {model.NotFound, "unknown_block", func() error { _, err := db.Block(ctx, "999"); return err }},
		"height that no chain has": {model.NotFound, "unknown_block", func() error { _, err := db.Block(ctx, "99999999999"); return err }},
		"below the first":          {model.NotFound, "unknown_block", func() error { _, err := db.Block(ctx, "tip-99"); return err }},
		"below a word":             {model.Usage, "bad_value", func() error { _, err := db.Block(ctx, "tip-x"); return err }},
		"unknown block":            {model.NotFound, "unknown_block", func() error { _, err := db.Block(ctx, none); return err }},
		"no block":                 {model.Usage, "bad_value", func() error { _, err := db.Block(ctx, "abc"); return err }},
		"unknown tx":               {model.NotFound, "unknown_tx", func() error { _, err := db.Tx(ctx, none); return err }},
		"short hash":               {model.Usage, "bad_value", func() error { _, err := db.Tx(ctx, none[2:]); return err }},
		"unknown output":           {model.NotFound, "unknown_output", func() error { _, err := db.Output(ctx, r.hash(r.txs[3])+":999"); return err }},
		"output out of range":      {model.NotFound, "unknown_output", func() error { _, err := db.Output(ctx, r.hash(r.txs[3])+":4294967295"); return err }},
		"no output":                {model.Usage, "bad_value", func() error { _, err := db.Output(ctx, r.hash(r.txs[3])); return err }},
		"no number":                {model.Usage, "bad_value", func() error { _, err := db.Output(ctx, r.hash(r.txs[3])+":-1"); return err }},
		"unknown index":            {model.Usage, "unknown_index", func() error { _, err := db.Balance(ctx, "colour", "x"); return err }},
		"no value":                 {model.Usage, "bad_value", func() error { _, err := db.Balance(ctx, "tag", "x"); return err }},
		"unknown asset":            {model.NotFound, "unknown_asset", func() error { _, err := db.Asset(ctx, "ff"); return err }},
		"no asset":                 {model.Usage, "bad_value", func() error { _, err := db.AssetEvents(ctx, "x", query.Range{}, query.Page{}); return err }},
		"limit too large": {model.Usage, "bad_value", func() error {
			_, err := db.Find(ctx, "tag", tag, query.Terms{}, query.Page{Limit: query.MaxLimit + 1})
			return err
		}},
		"limit below 0": {model.Usage, "bad_value", func() error { _, err := db.History(ctx, "tag", tag, query.Range{}, query.Page{Limit: -1}); return err }},
		"no cursor":     {model.Usage, "bad_cursor", func() error { _, err := db.Find(ctx, "tag", tag, query.Terms{}, query.Page{After: "!"}); return err }},
		"cursor of another order": {model.Usage, "bad_cursor", func() error {
			_, err := db.Find(ctx, "tag", tag, query.Terms{}, query.Page{After: *page.Next, Descending: true})
			return err
		}},
		"cursor of another filter": {model.Usage, "bad_cursor", func() error {
			_, err := db.Find(ctx, "tag", tag, query.Terms{Unspent: true}, query.Page{After: *page.Next})
			return err
		}},
		"cursor of another list": {model.Usage, "bad_cursor", func() error {
			_, err := db.History(ctx, "tag", tag, query.Range{}, query.Page{After: *page.Next})
			return err
		}},
		"cursor of another value": {model.Usage, "bad_cursor", func() error {
			_, err := db.Find(ctx, "tag", r.indexes[1].Format([]byte{2}), query.Terms{}, query.Page{After: *page.Next})
			return err
		}},
	} {
		k, code := model.KindOf(c.ask())
		if k != c.kind || code != c.code {
			t.Errorf("%s: kind %d, code %s (%v), expected %d, %s", what, k, code, c.ask(), c.kind, c.code)
		}
	}
	consistent(t, db)
}
