package core_test

import (
	"fmt"
	"slices"
	"testing"

	"birthmark/core/query"
	"birthmark/internal/testseed"
	"birthmark/model"
	"birthmark/model/modeltest"
	"birthmark/storage/memory"
)

// A sample is the balance after the last transaction up to its block. The samples are the last changes in equal parts
// of the heights.
func TestSamplesAreBalancesOfTheHistory(t *testing.T) {
	variants(t, func(t *testing.T, v modeltest.Variant) {
		r := testseed.Rand(t)
		blocks := v.NewGenerator(testseed.Of(t, 810)).Blocks(60)
		ref := newReference(v, blocks)
		db := open(t, memory.New(), v, 0)
		appendAll(t, db, blocks, 7)
		tip := uint32(blocks[len(blocks)-1].Height)
		coarse, cut := 0, 0
		for i, x := range ref.indexes {
			if x.Kind == model.OneToOne {
				continue
			}
			for _, value := range ref.values(i) {
				text := x.Format([]byte(value))
				history, err := db.History(t.Context(), x.Name, text, query.Range{}, query.Page{Limit: query.MaxLimit})
				if err != nil {
					t.Fatal(err)
				}
				at := func(height uint32) (balance string) {
					balance = "0"
					for _, tx := range history.Txs {
						if tx.Height <= height {
							balance = tx.Balance
						}
					}
					return balance
				}
				from, to := model.HeightPk(r.IntN(int(tip)+1)), model.HeightPk(r.IntN(int(tip)+1))
				for _, in := range []query.Range{{}, {FromHeight: &from}, {ToHeight: &to}, {FromHeight: &from, ToHeight: &to}} {
					if in.FromHeight != nil && in.ToHeight != nil && from > to {
						continue
					}
					first, last := uint32(0), tip
					if in.FromHeight != nil {
						first = uint32(from)
					}
					if in.ToHeight != nil {
						last = uint32(to)
					}
					l := query.SampleLimits{Points: 1 + r.IntN(30), Txs: 1 + r.IntN(2*len(history.Txs)+1)}
					name := fmt.Sprintf("%s %s, %s, %+v", x.Name, text, in, l)
					a, err := db.BalanceSamples(t.Context(), x.Name, text, in, l)
					if err != nil {
						t.Fatalf("%s: %v", name, err)
					}
					if a.Txs > l.Txs || len(a.Points) > l.Points+2 {
						t.Fatalf("%s: %d transactions, %d points", name, a.Txs, len(a.Points))
					}
					for n, p := range a.Points {
						if fmt.Sprint(p.Balance) != at(p.Height) || n > 0 && a.Points[n-1].Height >= p.Height {
							t.Fatalf("%s: point %d of %+v, expected the balance %s", name, n, a.Points, at(p.Height))
						}
					}
					if !a.Whole {
						if l.Txs >= len(history.Txs) {
							t.Fatalf("%s: truncated at %d of %d transactions", name, a.Txs, len(history.Txs))
						}
						cut++
						continue
					}
					if born := history.Txs[0].Height; born <= last && (len(a.Points) == 0 || a.Points[len(a.Points)-1].Height != last) {
						t.Fatalf("%s: %+v do not end with block %d", name, a.Points, last)
					} else if born < first && a.Points[0].Height != first-1 {
						t.Fatalf("%s: %+v do not begin before block %d", name, a.Points, first)
					}
					// Every change has a point, or a later point in the same part.
					width := uint32(1)
					for _, tx := range history.Txs {
						for tx.Height >= first && tx.Height <= last && !slices.ContainsFunc(a.Points, func(p query.BalancePoint) bool { return p.Height >= tx.Height && p.Height/width == tx.Height/width }) {
							if width *= 2; width > 2*tip {
								t.Fatalf("%s: no point for block %d: %+v", name, tx.Height, a.Points)
							}
							coarse++
						}
					}
					finer := map[uint32]bool{}
					for _, tx := range history.Txs {
						if tx.Height >= first && tx.Height <= last {
							finer[2*tx.Height/width] = true
						}
					}
					if width > 1 && len(finer) <= l.Points {
						t.Fatalf("%s: parts of %d blocks, but %d smaller ones fit", name, width, len(finer))
					}
				}
			}
		}
		if coarse == 0 || cut == 0 && !t.Failed() {
			t.Errorf("%d histories with fewer points than changes, %d longer than the limit", coarse, cut)
		}
	})
}

// The chart of a value reads a bounded number of rows, however long its history is.
func TestReadsOfSamplesAreBounded(t *testing.T) {
	v := modeltest.Variants()[1] // stores histories and balances
	s := &counting{Store: memory.New()}
	db := open(t, s, v, 0)
	blocks := v.NewGenerator(testseed.Of(t, 811)).Blocks(200)
	l := query.SampleLimits{Points: 10, Txs: 40}
	index, value, most := "tag", "", 0
	reads := func() int64 {
		before := s.steps.Load()
		a, err := db.BalanceSamples(t.Context(), index, value, query.Range{}, l)
		if err != nil {
			t.Fatal(err)
		}
		if most > l.Txs && (a.Whole || a.Txs != l.Txs) {
			t.Errorf("%+v of %d transactions", a, most)
		}
		return s.steps.Load() - before
	}
	var first int64
	for _, to := range []int{100, 200} {
		appendAll(t, db, blocks[to-100:to], 7)
		most = 0
		values, err := db.Values(t.Context(), index, query.Page{Limit: query.MaxLimit})
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range values.Values {
			b, err := db.Balance(t.Context(), index, x.Value)
			if err != nil {
				t.Fatal(err)
			}
			if int(b.TxCount) > most {
				most, value = int(b.TxCount), x.Value
			}
		}
		if most <= 2*l.Txs {
			t.Fatalf("the most used value has %d transactions", most)
		}
		if n := reads(); to == 100 {
			first = n
		} else if n > first+5 || n > int64(l.Txs)+20 {
			t.Errorf("%d reads with %d transactions, %d before", n, most, first)
		}
	}
}
