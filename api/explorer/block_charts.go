package explorer

import (
	"context"
	"slices"
	"strconv"

	"birthmark/api/explorer/charts"
	"birthmark/core/query"
	"birthmark/internal/humanize"
	"birthmark/model"
)

// Charts of the newest blocks, which are read for them.
const (
	feeRateSeries  = "feerates"
	fullnessSeries = "fullness"

	filledBlocks = 144 // a day of Bitcoin
)

// newestCharts returns the charts of the newest blocks on chains whose miners fill blocks by fee rate, if raw
// transactions, which have the sizes, are stored. They have the blocks that are known, or that read has time for.
func (v *visit) newestCharts(read func(func(context.Context) error) (late bool, err error)) (list []*charts.Chart, err error) {
	limit := v.chain.Model.Traits().BlockVSize
	if limit == 0 || v.Tip.IsOrigin() {
		return nil, nil
	}
	if orders, err := v.TxOrders(v.ctx); err != nil || !slices.Contains(orders, query.OrderBySize) {
		return nil, err
	}
	newest, err := v.Blocks(v.ctx, query.Range{}, query.Page{Limit: filledBlocks, Descending: true})
	if err != nil {
		return nil, err
	}
	fillings, err := v.fillings(newest.Blocks, read)
	if err != nil {
		return nil, err
	}
	x := charts.Axis{Name: "Block", Whole: true, Label: func(h float64) string { return humanize.Count(int64(h)) }}
	rates := &charts.Chart{ID: "series-" + feeRateSeries, Kind: charts.Area, Band: true, Hover: true, X: x,
		Y: charts.Axis{Name: "Fee rate, " + v.rateUnit()}}
	full := &charts.Chart{ID: "series-" + fullnessSeries, Kind: charts.Area, Hover: true, X: x,
		Y: charts.Axis{Name: "Fullness, percent"}}
	for i, b := range slices.Backward(newest.Blocks) {
		f := fillings[i]
		if f == nil {
			continue
		}
		height := v.HeightLink(b.Height)
		percent := 100 * float64(f.Size) / float64(limit)
		full.Points = append(full.Points, charts.Point{X: float64(b.Height), Y: percent, At: height.Text, Link: height.URL,
			Value: strconv.FormatFloat(percent, 'f', 1, 64) + "%"})
		if f.Paid {
			rates.Points = append(rates.Points, charts.Point{X: float64(b.Height), Y: f.Rates[1], Low: f.Rates[0], High: f.Rates[2],
				At: height.Text, Link: height.URL, Value: v.rateOf(f.Rates[1]) + " (" + charts.Short(f.Rates[0]) + " to " + charts.Short(f.Rates[2]) + ")"})
		}
	}
	rates.Title = "Fee rates in " + humanize.Plural(len(rates.Points), "block") + ", " + v.rateUnit()
	full.Title = "Fullness of " + humanize.Plural(len(full.Points), "block") + ", in percent"
	return []*charts.Chart{rates, full}, nil
}

// newestSeries is the page of a chart of the newest blocks.
func (v *visit) newestSeries(name string) (*page, error) {
	list, err := v.newestCharts(func(ask func(context.Context) error) (bool, error) { return v.within(blockPatience, ask) })
	if err != nil {
		return nil, err
	}
	if v.chain.Model.Traits().BlockVSize == 0 {
		return nil, model.Errorf(model.NotFound, "unknown_series", "%s has no chart %s: its miners do not select transactions by fee rate",
			titleOf(v.chain.Model), name)
	}
	b := &seriesBody{Title: "Fee rates", Description: "The fee rates in the newest blocks: the median, and the area between the rates " +
		"below which a tenth and nine tenths of the bytes are."}
	if name == fullnessSeries {
		b.Title, b.Description = "Fullness of blocks", "The part of the maximum size that the transactions of the newest blocks have."
	}
	n := 0
	for _, c := range list {
		if c.ID == "series-"+name {
			n = len(c.Points)
			if b.Chart, err = c.HTML(); err != nil {
				return nil, err
			}
		}
	}
	lacks := v.lacksRaw()
	switch {
	case lacks:
	case len(list) == 0:
		b.Note = "No blocks yet, or their transactions are only in the node."
	case n == 0:
		b.Note = "The newest blocks are not read yet, or pay no fees: reload the page."
	case v.late:
		b.Note = humanize.Plural(n, "block") + " of " + humanize.Count(filledBlocks) + " are read so far: reload the page for more."
	}
	return &page{Kind: "series", Title: b.Title, LacksRaw: lacks, Section: "charts", Body: b, Crumbs: []link{{v.URL("charts"), "Charts"}, {Text: b.Title}},
		Description: b.Title + " of " + titleOf(v.chain.Model) + " in the newest blocks, as a chart and a table."}, nil
}
