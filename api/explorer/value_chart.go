package explorer

import (
	"cmp"
	"context"
	"strconv"

	"birthmark/api/explorer/charts"
	"birthmark/api/explorer/format"
	"birthmark/core/query"
	"birthmark/internal/humanize"
	"birthmark/model"
)

// chartPoints is the maximum number of points of a balance chart.
const chartPoints = 400

// chartTxs is the maximum number of transactions that a balance chart reads. Reading them takes up to 0.2 s.
var chartTxs = 400_000

// chart draws the balance over the life of the value, or over the period.
func (r *valueReader) chart() error {
	b := r.body
	switch {
	case b.Unlisted != "":
		b.ChartNote = "No balance chart: the history is not available."
		return nil
	case len(b.History) == 0 && !b.Period.Set():
		return nil
	case !r.keeps("history") && r.count > chartOutputs:
		b.ChartNote = "No balance chart: the history is too long."
		return nil
	}
	var a *query.BalanceSamples
	late, err := r.kept("history", func(ctx context.Context) (err error) {
		a, err = r.BalanceSamples(ctx, r.index.Name, r.value, b.Period.Range, query.SampleLimits{Points: chartPoints, Txs: chartTxs})
		return err
	})
	if _, code := model.KindOf(err); code == "empty_range" { // the chain has no block in the period
		return nil
	}
	if b.Period.Set() && !b.Filter.Set() && b.CSVRows == "" && err == nil && !late && (a.Whole || a.Within > 0) {
		if b.CSVRows = humanize.Plural(a.Within, "transaction"); !a.Whole {
			b.CSVRows = "more than " + b.CSVRows
		}
	}
	switch {
	case err != nil:
		return err
	case late || len(a.Points) == 0 && !a.Whole:
		b.ChartNote = "No balance chart: the history is too long."
		return nil
	case len(a.Points) == 0:
		return nil
	case !a.Whole:
		b.ChartNote = "The chart starts at block " + humanize.Count(a.Points[0].Height) + ": the newest " + humanize.Count(a.Txs) + " transactions."
	}
	points := make([]charts.Point, len(a.Points))
	for i, p := range a.Points {
		held := strconv.FormatUint(p.Balance, 10)
		points[i] = charts.Point{X: float64(p.Height), Y: format.Scaled(format.Integer(held), r.unit), At: humanize.Count(p.Height),
			Value: r.Amount(held).String(), Link: r.HeightLink(p.Height).URL}
	}
	c := charts.Chart{ID: "balance", Title: "Balance over time", Kind: charts.Steps, Points: points,
		X: charts.Axis{Name: "Block", Label: r.dates(points[0].X, points[len(points)-1].X), Whole: true}, Y: charts.Axis{Name: "Balance"}}
	if r.unit.Symbol != "" {
		c.Title = "Balance over time, in " + r.unit.Symbol
	}
	b.Chart, err = c.HTML()
	return err
}

// dates returns a function that formats a height as the time of its block, with a precision for the given range. A
// height without a time is formatted as a number.
func (v *visit) dates(from, to float64) func(float64) string {
	unix := func(height float64) float64 {
		at, err := v.blockTime(uint32(height)) // 0: unknown
		v.fault = cmp.Or(v.fault, err)
		return float64(at)
	}
	write := charts.Times(unix(from), unix(to))
	return func(height float64) string {
		if at := unix(height); at > 0 {
			return write(at)
		}
		return charts.Whole(height)
	}
}
