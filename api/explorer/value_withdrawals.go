package explorer

import (
	"context"
	"html/template"
	"maps"
	"math/big"
	"slices"

	"birthmark/api/explorer/charts"
	"birthmark/api/explorer/format"
	"birthmark/core/query"
	"birthmark/internal/humanize"
	"birthmark/model"
)

// withdrawalsPart is the withdrawals of an account by epoch.
type withdrawalsPart struct {
	Chart template.HTML // empty: there are too many, or they take too long
	Count int
	Total amount
}

// withdrawalBars is the maximum number of epochs of the chart.
const withdrawalBars = 40

// withdrawals adds the withdrawals of an account by epoch, from the index of names. Blocks do not contain rewards.
func (r *valueReader) withdrawals() error {
	if len(r.body.Events) == 0 || r.governs() == nil || r.governs().VoterRole(r.value) != "" {
		return nil
	}
	if has, err := r.hasSubjects(); err != nil || !has {
		return err
	}
	sums, total, count, many := map[uint64]*big.Int{}, new(big.Int), 0, false
	late, err := r.patiently(func(ctx context.Context) error {
		at := query.Page{Limit: votesAtOnce, Descending: true}
		for n := 0; ; n += votesAtOnce {
			if many = n >= countedTxs; many {
				return nil
			}
			txs, next, err := r.txsNaming(ctx, r.value, at)
			if kind, _ := model.KindOf(err); kind == model.Usage {
				return nil // not a value of the index, or transactions that are too large together
			}
			if err != nil {
				return err
			}
			for _, tx := range txs {
				for _, w := range tx.Withdrawals {
					if w.Address != r.value {
						continue
					}
					epoch, ok, err := r.epochOf(tx.Height)
					if err != nil || !ok {
						return err
					}
					if sums[epoch.Number] == nil {
						sums[epoch.Number] = new(big.Int)
					}
					n := format.Integer(w.Amount)
					sums[epoch.Number].Add(sums[epoch.Number], n)
					total.Add(total, n)
					count++
				}
			}
			if next == nil {
				return nil
			}
			at.After = *next
		}
	})
	if err != nil || len(sums) == 0 && !late && !many {
		return err
	}
	r.body.Withdrawals = &withdrawalsPart{}
	if late || many {
		return nil // a part of the sums would be wrong
	}
	w := r.body.Withdrawals
	w.Count, w.Total = count, r.Amount(total.String())
	w.Chart, err = r.withdrawalsChart(sums)
	return err
}

// withdrawalsChart draws sums by epoch.
func (r *valueReader) withdrawalsChart(sums map[uint64]*big.Int) (template.HTML, error) {
	epochs := slices.Sorted(maps.Keys(sums))
	c := charts.Chart{ID: "withdrawals-chart", Title: "Withdrawals by epoch", Kind: charts.Bars,
		X: charts.Axis{Name: "Epoch", Whole: true, Label: func(n float64) string { return humanize.Count(int64(n)) }}, Y: charts.Axis{Name: "Withdrawn"}}
	if n := len(epochs); n > withdrawalBars {
		epochs = epochs[n-withdrawalBars:]
		c.Title = "Withdrawals in the newest " + humanize.Count(withdrawalBars) + " epochs that have any"
	}
	if r.unit.Symbol != "" {
		c.Title += ", in " + r.unit.Symbol
	}
	if first, last := epochs[0], epochs[len(epochs)-1]; last-first < withdrawalBars { // also epochs without withdrawals
		epochs = epochs[:0:0]
		for n := first; n <= last; n++ {
			epochs = append(epochs, n)
			if sums[n] == nil {
				sums[n] = new(big.Int)
			}
		}
	}
	for _, n := range epochs {
		c.Points = append(c.Points, charts.Point{X: float64(n), Y: format.Scaled(sums[n], r.unit), At: humanize.Count(n), Value: r.Amount(sums[n].String()).String()})
	}
	return c.HTML()
}
