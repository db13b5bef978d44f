package explorer

import (
	"math/big"

	"birthmark/api/explorer/charts"
	"birthmark/core/query"
	"birthmark/internal/humanize"
)

// chartTxs is the maximum number of transactions in a chart.
const chartTxs = 1000

// chart draws the balance over time, from the newest transactions back.
func (r *valueReader) chart() error {
	b := r.body
	switch {
	case b.Unlisted != "":
		b.ChartNote = "No balance chart: the history is not available."
		return nil
	case r.recent == nil || len(r.recent.Txs) == 0:
		return nil
	}
	txs, next := r.recent.Txs, r.recent.Next
	if next != nil && !r.keeps("history") && r.count > chartOutputs {
		b.ChartNote = "No balance chart: the history is too long."
		return nil
	}
	if next != nil {
		older, err := r.movements(query.Page{Limit: chartTxs - len(txs), After: *next, Descending: true})
		if err != nil {
			return err
		}
		if older != nil {
			txs, next = append(txs[:len(txs):len(txs)], older.Txs...), older.Next
		}
	}
	held := r.held
	switch {
	case next == nil && held == nil:
		held = new(big.Int) // the whole history is known
		for _, t := range txs {
			held.Add(held, change(t))
		}
	case held == nil:
		b.ChartNote = "No balance chart: the balance is not available."
		return nil
	case next != nil:
		b.ChartNote = "The chart starts at block " + humanize.Count(txs[len(txs)-1].Height) + ": the newest " + humanize.Count(len(txs)) + " transactions."
	}
	points := r.heldAfter(held, txs)
	c := charts.Chart{ID: "balance", Title: "Balance over time", Kind: charts.Steps, Points: points,
		X: charts.Axis{Name: "Block", Label: r.dates(points[0].X, points[len(points)-1].X), Whole: true}, Y: charts.Axis{Name: "Balance"}}
	if r.unit.Symbol != "" {
		c.Title = "Balance over time, in " + r.unit.Symbol
	}
	var err error
	b.Chart, err = c.HTML()
	return err
}

func change(t query.HistoryTxAnswer) *big.Int {
	return new(big.Int).Sub(integer(t.Received), integer(t.Sent))
}

// heldAfter returns the balance after each block of txs (newest first), and at the tip.
func (r *valueReader) heldAfter(held *big.Int, txs []query.HistoryTxAnswer) []charts.Point {
	held = new(big.Int).Set(held)
	newest := uint32(r.Tip.Height)
	points := make([]charts.Point, len(txs)+1, len(txs)+2)
	n := len(points)
	add := func(height uint32) {
		text := r.Amount(held.String())
		p := charts.Point{X: float64(height), Y: scaled(held, r.unit), At: humanize.Count(height), Value: text.String(), Link: r.HeightLink(height).URL}
		if n < len(points) && points[n].X == p.X { // only the last balance of a block
			return
		}
		n--
		points[n] = p
	}
	if txs[0].Height < newest {
		add(newest)
	}
	for _, t := range txs {
		add(t.Height)
		held.Sub(held, change(t))
	}
	return points[n:]
}

// scaled returns an amount in its unit, precise enough for a picture.
func scaled(n *big.Int, u humanize.Unit) float64 {
	places := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(u.Decimals)), nil)
	f, _ := new(big.Rat).SetFrac(n, places).Float64()
	return f
}

// dates returns a function that formats a height as the time of its block, with a precision for the given range. A
// height without a time is formatted as a number.
func (v *visit) dates(from, to float64) func(float64) string {
	unix := func(height float64) float64 {
		at, _ := v.blockTime(uint32(height)) // 0: unknown
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
