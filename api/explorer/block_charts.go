package explorer

import (
	"cmp"
	"context"
	"slices"
	"strconv"

	"birthmark/api/explorer/charts"
	"birthmark/core/query"
	"birthmark/internal/humanize"
	"birthmark/model"
)

// Charts of the transactions in blocks, which are read for them.
const (
	feeRateSeries  = "feerates"
	fullnessSeries = "fullness"

	filledBlocks = 144 // a day of Bitcoin
)

// newestSpan is the newest blocks, all of which are read. In the longer spans, blocks at equal distances are.
var newestSpan = chartSpan{"newest", "Newest", 0}

var blockSpans = append([]chartSpan{newestSpan}, chartSpans...)

// blockCharts are charts of the blocks that are known, or that there was time for.
type blockCharts struct {
	charts   []*charts.Chart // none: not on this chain, or no blocks
	blocks   int
	distance model.HeightPk
}

// blockCharts returns the charts of the blocks of a span on chains whose miners fill blocks by fee rate, if raw
// transactions, which have the sizes, are stored. They have the blocks that are known, or that read has time for.
func (v *visit) blockCharts(span chartSpan, read func(func(context.Context) error) (late bool, err error)) (c blockCharts, err error) {
	limit := v.chain.Model.Traits().BlockVSize
	if limit == 0 || v.Tip.IsOrigin() {
		return c, nil
	}
	if orders, err := v.TxOrders(v.ctx); err != nil || !slices.Contains(orders, query.OrderBySize) {
		return c, err
	}
	first := v.Tip.Height - min(v.Tip.Height, filledBlocks-1)
	r := query.Range{FromHeight: &first}
	if span != newestSpan {
		if r, _, err = v.chartRange(span, "day"); err != nil {
			return c, err
		}
	}
	blocks, distance, err := v.samples(r, filledBlocks)
	if err != nil {
		return c, err
	}
	fillings, err := v.fillings(blocks, read)
	if err != nil {
		return c, err
	}
	c.blocks, c.distance = len(blocks), distance
	rates := &charts.Chart{ID: "series-" + feeRateSeries, Band: true, Y: charts.Axis{Name: "Fee rate, " + v.rateUnit()}}
	full := &charts.Chart{ID: "series-" + fullnessSeries, Y: charts.Axis{Name: "Fullness, percent"}}
	for i, b := range blocks {
		f := fillings[i]
		if f == nil {
			continue
		}
		height := v.HeightLink(uint32(b.height))
		p := charts.Point{X: float64(b.height), At: height.Text, Link: height.URL}
		if span != newestSpan {
			p.X = float64(b.Time)
		}
		percent := 100 * float64(f.Size) / float64(limit)
		p.Y, p.Value = percent, strconv.FormatFloat(percent, 'f', 1, 64)+"%"
		full.Points = append(full.Points, p)
		if f.Paid {
			p.Y, p.Low, p.High = f.Rates[1], f.Rates[0], f.Rates[2]
			p.Value = v.rateOf(p.Y) + " (" + charts.Short(p.Low) + " to " + charts.Short(p.High) + ")"
			rates.Points = append(rates.Points, p)
		}
	}
	rates.Title = "Fee rates in " + humanize.Plural(len(rates.Points), "block") + ", " + v.rateUnit()
	full.Title = "Fullness of " + humanize.Plural(len(full.Points), "block") + ", in percent"
	c.charts = []*charts.Chart{rates, full}
	for _, one := range c.charts {
		one.Kind, one.Hover, one.X = charts.Area, true, charts.Axis{Name: "Block", Whole: true}
		one.X.Label = func(h float64) string { return humanize.Count(int64(h)) }
		if n := len(one.Points); n > 0 && span != newestSpan {
			slices.SortStableFunc(one.Points, func(a, b charts.Point) int { return cmp.Compare(a.X, b.X) })
			one.X.Label = charts.Times(one.Points[0].X, one.Points[n-1].X)
		}
	}
	return c, nil
}

// blockSeries is the page of a chart of the transactions in blocks.
func (v *visit) blockSeries(name string) (*page, error) {
	span, err := v.span(blockSpans, newestSpan.name)
	if err != nil {
		return nil, err
	}
	if v.chain.Model.Traits().BlockVSize == 0 {
		return nil, model.Errorf(model.NotFound, "unknown_series", "%s has no chart %s: its miners do not select transactions by fee rate",
			titleOf(v.chain.Model), name)
	}
	c, err := v.blockCharts(span, func(ask func(context.Context) error) (bool, error) { return v.within(blockPatience, ask) })
	if err != nil {
		return nil, err
	}
	b := &seriesBody{Title: "Fee rates", Description: "The fee rates in blocks: the median, and the area between the rates " +
		"below which a tenth and nine tenths of the bytes are."}
	if name == fullnessSeries {
		b.Title, b.Description = "Fullness of blocks", "The part of the maximum size that the transactions of blocks have."
	}
	b.Spans = choicesOfSpan(blockSpans, v.URL("charts", name), span, "")
	n := 0
	for _, one := range c.charts {
		if one.ID == "series-"+name {
			n = len(one.Points)
			if b.Chart, err = one.HTML(); err != nil {
				return nil, err
			}
		}
	}
	lacks := v.lacksRaw()
	switch {
	case lacks:
	case len(c.charts) == 0:
		b.Note = "No blocks yet, or their transactions are only in the node."
	case n == 0:
		b.Note = "The blocks are not read yet, or pay no fees: reload the page."
	case v.late:
		b.Note = humanize.Plural(n, "block") + " of " + humanize.Count(c.blocks) + " are read so far: reload the page for more."
	case c.distance > 1:
		b.Note = "A sample: the blocks whose height is a multiple of " + humanize.Count(c.distance) + "."
	}
	return &page{Kind: "series", Title: b.Title, LacksRaw: lacks, Section: "charts", Body: b, Crumbs: []link{{v.URL("charts"), "Charts"}, {Text: b.Title}},
		Description: b.Title + " of " + titleOf(v.chain.Model) + " over time, as a chart and a table."}, nil
}
