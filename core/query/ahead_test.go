package query_test

import (
	"reflect"
	"testing"

	"birthmark/core"
	"birthmark/core/coretest"
	"birthmark/core/meter"
	"birthmark/core/query"
	"birthmark/internal/testseed"
	"birthmark/model/modeltest"
	"birthmark/storage/memory"
)

type payer struct{}

func (payer) Pay(int64) error { return nil }
func (payer) Release()        {}

// The pages of a history that the index does not store are those of single requests, in any order and range, and a list of
// them reads the outputs of the value once for many pages.
func TestPagesThatAreComputedTogether(t *testing.T) {
	modeltest.Each(t, func(t *testing.T, v modeltest.Variant) {
		rng := testseed.Rand(t)
		db, err := core.Open(t.Context(), memory.New(), core.Options{Chain: v.Chain("one"), CacheBytes: 1 << 20})
		if err != nil {
			t.Fatal(err)
		}
		coretest.AppendAll(t, db, v.NewGenerator(testseed.Of(t, 930)).Blocks(60), 7)
		tip := int(db.Tip().Height)
		var most, more int64 // rows of all pages, each by itself and together
		for _, index := range db.Indexes() {
			values, err := db.Values(t.Context(), index, query.Page{Limit: 40})
			if err != nil {
				t.Fatal(err)
			}
			for _, value := range values.Values {
				restore := query.SetAheadTxs(1 + rng.IntN(40))
				p := query.Page{Limit: 1 + rng.IntN(4), Descending: rng.IntN(2) == 0}
				var in query.Range
				if middle := db.Tip().Height / 2; rng.IntN(2) == 0 {
					in.FromHeight = &middle
				} else if rng.IntN(2) == 0 {
					in.ToHeight = &middle
				}
				var budget *meter.Budget // nil: no limit
				list := func(together bool) (pages []*query.HistoryAnswer, rows int64) {
					m := meter.New(payer{}, 0, 1, budget)
					ctx, p := meter.With(t.Context(), m), p
					err := db.View(ctx, func(v *query.View) error {
						if together {
							v.ReadAhead(new(query.Ahead))
						}
						for {
							a, err := v.History(ctx, index, value.Value, in, p)
							if err != nil {
								return err
							}
							if pages = append(pages, a); a.Next == nil {
								return nil
							}
							p.After = *a.Next
						}
					})
					if err != nil {
						t.Fatal(err)
					}
					return pages, m.Cost().Rows
				}
				want, each := list(false)
				got, _ := list(true)
				if !reflect.DeepEqual(got, want) {
					t.Fatalf("%s %s, %+v of %d blocks: %d pages differ from %d", index, value.Value, p, tip, len(got), len(want))
				}
				budget = meter.NewBudget(1) // other answers need the memory
				if got, _ := list(true); !reflect.DeepEqual(got, want) {
					t.Fatalf("%s %s, without memory: %d pages differ from %d", index, value.Value, len(got), len(want))
				}
				budget = nil
				restore()
				if each > most && len(want) >= 10 {
					restore := query.SetAheadTxs(1 << 16)
					most = each
					_, more = list(true)
					restore()
				}
			}
		}
		if more > most/2 {
			t.Errorf("the longest history takes %d rows, expected at most half of %d", more, most)
		}
	})
}

// A history that was computed ahead does not continue after a block: the following pages are those of the new tip.
func TestPagesAheadEndWithTheTip(t *testing.T) {
	modeltest.Each(t, func(t *testing.T, v modeltest.Variant) {
		db, err := core.Open(t.Context(), memory.New(), core.Options{Chain: v.Chain("one"), CacheBytes: 1 << 20})
		if err != nil {
			t.Fatal(err)
		}
		blocks := v.NewGenerator(testseed.Of(t, 931)).Blocks(60)
		coretest.AppendAll(t, db, blocks[:40], 7)
		type list struct {
			index, value string
			page         query.Page
			ahead        *query.Ahead // nil: none
		}
		page := func(l *list) (a *query.HistoryAnswer) {
			err := db.View(t.Context(), func(v *query.View) (err error) {
				if l.ahead != nil {
					v.ReadAhead(l.ahead)
				}
				a, err = v.History(t.Context(), l.index, l.value, query.Range{}, l.page)
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			return a
		}
		var lists []*list
		for _, index := range db.Indexes() {
			values, err := db.Values(t.Context(), index, query.Page{Limit: 40})
			if err != nil {
				t.Fatal(err)
			}
			for _, value := range values.Values {
				for _, descending := range []bool{false, true} {
					l := &list{index, value.Value, query.Page{Limit: 1, Descending: descending}, new(query.Ahead)}
					if a := page(l); a.Next != nil {
						l.page = query.Page{Limit: 100, Descending: descending, After: *a.Next}
						lists = append(lists, l)
					}
				}
			}
		}
		coretest.AppendAll(t, db, blocks[40:], 7)
		for _, l := range lists {
			if got, want := page(l), page(&list{l.index, l.value, l.page, nil}); !reflect.DeepEqual(got, want) {
				t.Fatalf("%s %s, descending %t: %d transactions differ from %d", l.index, l.value, l.page.Descending, len(got.Txs), len(want.Txs))
			}
		}
		if len(lists) == 0 {
			t.Error("no history of several pages")
		}
	})
}
