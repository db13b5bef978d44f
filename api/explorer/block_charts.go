package explorer

import (
	"cmp"
	"context"
	"encoding/csv"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"birthmark/api/explorer/charts"
	"birthmark/api/served"
	"birthmark/core/query"
	"birthmark/core/schema"
	"birthmark/internal/humanize"
	"birthmark/model"
)

// Charts of single blocks, which are read for them.
const (
	difficultySeries = "difficulty" // of headers
	hashRateSeries   = "hashrate"   // the same
	feeRateSeries    = "feerates"
	fullnessSeries   = "fullness"

	maxSamples   = 256 // headers of a chart
	ratedBlocks  = 72  // at least, between two points of the hash rate: their time varies by an eighth
	filledBlocks = 144 // whose transactions are read: a day of Bitcoin
)

// blockSeries are the titles and texts of these charts, and the columns of their files.
var blockSeries = map[string]struct {
	title, text string
	columns     []string
}{
	difficultySeries: {"Difficulty", "The difficulty of blocks.", []string{"difficulty"}},
	hashRateSeries: {"Hash rate", "The hashes per second of all miners, estimated from the difficulty and the time of at least 72 blocks.",
		[]string{"per_second"}},
	feeRateSeries: {"Fee rates", "The fee rates in blocks: the median, and the area between the rates below which a tenth and " +
		"nine tenths of the bytes are.", []string{"median", "tenth", "nine_tenths"}},
	fullnessSeries: {"Fullness of blocks", "The part of the maximum size that the transactions of blocks have.", []string{"percent"}},
}

// newestSpan is the newest blocks, all of which are read. In the longer spans, blocks at equal distances are.
var newestSpan = chartSpan{"newest", "Newest", 0}

// blockChart is a chart of blocks.
type blockChart struct {
	charts.Chart // without points
	name         string
	query        string         // of the URL of its page
	byHeight     bool           // X is the height of blocks; otherwise their time
	blocks       []sample       // also those without a number
	distance     model.HeightPk // of the blocks
	numbers      []blockNumbers // in the order of height
}

// blockNumbers are the numbers of a block, as in the columns of its series.
type blockNumbers struct {
	*sample
	n    []float64
	text string
	link link
}

// sample is a block of a chart.
type sample struct {
	height model.HeightPk
	schema.BlockRow
}

// add adds the numbers of a block.
func (c *blockChart) add(v *visit, b *sample, text string, n ...float64) {
	c.numbers = append(c.numbers, blockNumbers{b, n, text, v.HeightLink(uint32(b.height))})
}

// chart returns the chart with its points.
func (c *blockChart) chart() *charts.Chart {
	c.ID, c.Kind, c.Hover, c.X.Name = "series-"+c.name, charts.Area, true, "Block"
	c.Points = nil
	for _, b := range c.numbers {
		p := charts.Point{X: float64(b.Time), Y: b.n[0], At: b.link.Text, Value: b.text, Link: b.link.URL}
		if c.byHeight {
			p.X = float64(b.height)
		}
		if c.Band {
			p.Low, p.High = b.n[1], b.n[2]
		}
		c.Points = append(c.Points, p)
	}
	if c.byHeight {
		c.X.Whole, c.X.Label = true, func(h float64) string { return humanize.Count(int64(h)) }
	} else if n := len(c.Points); n > 0 {
		slices.SortStableFunc(c.Points, func(a, b charts.Point) int { return cmp.Compare(a.X, b.X) })
		c.X.Label = charts.Times(c.Points[0].X, c.Points[n-1].X)
	}
	return &c.Chart
}

// mining returns the charts of the difficulty of blocks of a range and of the hash rate; none if the chain has no
// difficulty.
func (v *visit) mining(r query.Range) ([]*blockChart, error) {
	d, ok := v.chain.Model.(model.DifficultyReporter)
	if !ok || v.Tip.IsOrigin() {
		return nil, nil
	}
	blocks, distance, err := v.samples(r, maxSamples)
	if err != nil {
		return nil, err
	}
	hashes, unit := d.Hashes()
	mined := &blockChart{name: difficultySeries, Chart: charts.Chart{Title: "Difficulty", Y: charts.Axis{Name: "Difficulty", Label: difficulty}}}
	rates := &blockChart{name: hashRateSeries, Chart: charts.Chart{Title: "Hash rate",
		Y: charts.Axis{Name: "Hash rate", Label: func(n float64) string { return hashRate(n, unit) }}}}
	work, from := 0.0, 0 // of the blocks after blocks[from]
	for i := range blocks {
		b := &blocks[i]
		n, err := d.Difficulty(b.Header)
		if err != nil {
			return nil, err
		}
		mined.add(v, b, difficulty(n), n)
		if i == 0 {
			continue
		}
		work += n * hashes * float64(b.height-blocks[i-1].height)
		if seconds := b.Time - blocks[from].Time; b.height-blocks[from].height >= ratedBlocks && seconds > 0 && work > 0 {
			rate := work / float64(seconds)
			rates.add(v, b, hashRate(rate, unit), rate)
			work, from = 0, i
		}
	}
	list := []*blockChart{mined, rates}
	for _, c := range list {
		c.blocks, c.distance = blocks, distance
	}
	return list, nil
}

// hashRate formats a number of hashes per second.
func hashRate(n float64, unit string) string {
	prefix := 0
	const prefixes = " kMGTPEZY"
	for ; n >= 1000 && prefix < len(prefixes)-1; prefix++ {
		n /= 1000
	}
	return charts.Short(n) + " " + strings.TrimSpace(prefixes[prefix:prefix+1]) + unit
}

// fullBlocks returns the charts of the transactions in the blocks of a span on chains whose miners fill blocks by fee
// rate, if raw transactions, which have the sizes, are stored; otherwise none. They have the blocks that are known, or
// that read has time for.
func (v *visit) fullBlocks(span chartSpan, read reader) (list []*blockChart, err error) {
	limit := v.chain.Model.Traits().BlockVSize
	if limit == 0 || v.Tip.IsOrigin() {
		return nil, nil
	}
	if orders, err := v.TxOrders(v.ctx); err != nil || !slices.Contains(orders, query.OrderBySize) {
		return nil, err
	}
	first := v.Tip.Height - min(v.Tip.Height, filledBlocks-1)
	r := query.Range{FromHeight: &first}
	if span != newestSpan {
		if r, _, err = v.chartRange(span, "day"); err != nil {
			return nil, err
		}
	}
	blocks, distance, err := v.samples(r, filledBlocks)
	if err != nil {
		return nil, err
	}
	fillings, err := v.fillings(blocks, read)
	if err != nil {
		return nil, err
	}
	rates := &blockChart{name: feeRateSeries, Chart: charts.Chart{Band: true, Y: charts.Axis{Name: "Fee rate, " + v.rateUnit()}}}
	full := &blockChart{name: fullnessSeries, Chart: charts.Chart{Y: charts.Axis{Name: "Fullness, percent"}}}
	for i := range blocks {
		f := fillings[i]
		if f == nil {
			continue
		}
		percent := 100 * float64(f.Size) / float64(limit)
		full.add(v, &blocks[i], strconv.FormatFloat(percent, 'f', 1, 64)+"%", percent)
		if f.Paid {
			text := v.rateOf(f.Rates[1]) + " (" + charts.Short(f.Rates[0]) + " to " + charts.Short(f.Rates[2]) + ")"
			rates.add(v, &blocks[i], text, f.Rates[1], f.Rates[0], f.Rates[2])
		}
	}
	rates.Title = "Fee rates in " + humanize.Plural(len(rates.numbers), "block") + ", " + v.rateUnit()
	full.Title = "Fullness of " + humanize.Plural(len(full.numbers), "block") + ", in percent"
	list = []*blockChart{rates, full}
	for _, c := range list {
		c.byHeight, c.blocks, c.distance = span == newestSpan, blocks, distance
	}
	return list, nil
}

// reader reads with a time limit; late: it was exceeded.
type reader func(read func(context.Context) error) (late bool, err error)

// ofHeaders reports whether a series of blocks needs their headers only.
func ofHeaders(name string) bool { return name == difficultySeries || name == hashRateSeries }

// spansOf returns the spans of a series of blocks, and the name of the default one.
func spansOf(name string) (spans []chartSpan, def string) {
	if ofHeaders(name) {
		return chartSpans, "year"
	}
	return append([]chartSpan{newestSpan}, chartSpans...), newestSpan.name
}

// blockChart returns the chart of a series of blocks; nil if there are no blocks, or their transactions are not stored.
func (v *visit) blockChart(name string, span chartSpan, read reader) (c *blockChart, err error) {
	var list []*blockChart
	if ofHeaders(name) {
		d, ok := v.chain.Model.(model.DifficultyReporter)
		if ok && name == hashRateSeries {
			_, unit := d.Hashes()
			ok = unit != ""
		}
		if !ok {
			return nil, model.Errorf(model.NotFound, "unknown_series", "%s has no %s", titleOf(v.chain.Model), strings.ToLower(blockSeries[name].title))
		}
		r, _, err := v.chartRange(span, "day")
		if err != nil {
			return nil, err
		}
		list, err = v.mining(r)
		if err != nil {
			return nil, err
		}
	} else {
		if v.chain.Model.Traits().BlockVSize == 0 {
			return nil, model.Errorf(model.NotFound, "unknown_series", "%s has no chart %s: its miners do not select transactions by fee rate",
				titleOf(v.chain.Model), name)
		}
		if list, err = v.fullBlocks(span, read); err != nil {
			return nil, err
		}
	}
	for _, one := range list {
		if one.name == name {
			c = one
		}
	}
	return c, nil
}

// blockSeries is the page of a chart of blocks.
func (v *visit) blockSeries(name string) (*page, error) {
	spans, def := spansOf(name)
	span, err := v.span(spans, def)
	if err != nil {
		return nil, err
	}
	c, err := v.blockChart(name, span, func(read func(context.Context) error) (bool, error) { return v.within(blockPatience, read) })
	if err != nil {
		return nil, err
	}
	of, base := blockSeries[name], v.URL("charts", name)
	b := &seriesBody{Title: of.title, Description: of.text, Spans: choicesOfSpan(spans, base, span, "")}
	p := &page{Kind: "series", Title: b.Title, Section: "charts", Body: b, Crumbs: []link{{v.URL("charts"), "Charts"}, {Text: b.Title}},
		LacksRaw:    !ofHeaders(name) && v.lacksRaw(),
		Description: b.Title + " of " + titleOf(v.chain.Model) + " over time, as a chart and a table."}
	switch {
	case p.LacksRaw:
		return p, nil
	case v.Tip.IsOrigin() || c != nil && len(c.blocks) == 0:
		b.Note = "No blocks yet."
		return p, nil
	case c == nil:
		b.Note = "The transactions of blocks are only in the node."
		return p, nil
	case len(c.numbers) == 0 && ofHeaders(name):
		b.Note = "Too few blocks."
	case len(c.numbers) == 0:
		b.Note = "The blocks are not read yet, or pay no fees: reload the page."
	case v.late:
		b.Note = humanize.Plural(len(c.numbers), "block") + " of " + humanize.Count(len(c.blocks)) + " are read so far: reload the page for more."
	case c.distance > 1 && name != hashRateSeries:
		b.Note = "A sample: the blocks whose height is a multiple of " + humanize.Count(c.distance) + "."
	}
	b.CSV = base + "/numbers.csv?span=" + span.name
	b.Chart, err = c.chart().HTML()
	return p, err
}

// blockCSV serves the numbers of a chart of blocks as CSV: all of them, or an error.
func (s *site) blockCSV(w http.ResponseWriter, r *http.Request, chain *served.Chain) {
	ctx, cancel := context.WithTimeout(r.Context(), s.Timeout)
	defer cancel()
	name, v := r.PathValue("value"), s.visit(ctx, r, chain)
	rows := [][]string{append([]string{"height", "time"}, blockSeries[name].columns...)}
	err := v.open(func(view *query.View) error {
		v.View = view
		span, err := v.span(spansOf(name))
		if err != nil {
			return err
		}
		c, err := v.blockChart(name, span, func(read func(context.Context) error) (bool, error) { return false, read(ctx) })
		if err != nil || c == nil {
			return err
		}
		for _, b := range c.numbers {
			row := []string{strconv.FormatUint(uint64(b.height), 10), time.Unix(b.Time, 0).UTC().Format(time.RFC3339)}
			for _, n := range b.n {
				row = append(row, strconv.FormatFloat(n, 'f', -1, 64))
			}
			rows = append(rows, row)
		}
		return v.fault
	})
	if err != nil {
		s.fail(w, r, err)
		return
	}
	w.Header().Set("Content-Type", "text/csv; charset=utf-8")
	w.Header().Set("Content-Disposition", `attachment; filename="`+chain.Name+"-"+name+`.csv"`)
	_ = csv.NewWriter(w).WriteAll(rows) // fails only if the client is gone
}

// samples returns at most most blocks of a range in the order of height, and their distance. It is a power of two, and
// divides the heights, so that most blocks remain the same when the range moves.
func (v *visit) samples(r query.Range, most int) (list []sample, distance model.HeightPk, err error) {
	err = v.From(v.ctx, func(q *query.Query) error {
		span, err := q.Span(r)
		if err != nil {
			return err
		}
		first, last := span.First.Height(), min(span.Last.Height(), v.Tip.Height)
		for distance = 1; int((last-first)/distance) >= most; {
			distance *= 2
		}
		if err := q.Pass(most); err != nil {
			return err
		}
		for h := (first + distance - 1) / distance * distance; h <= last; h += distance {
			row, err := schema.BlockAt(q.R, h)
			if kind, _ := model.KindOf(err); kind == model.NotFound {
				continue // the first block of some chains is higher
			}
			if err != nil {
				return err
			}
			list = append(list, sample{h, row})
		}
		return nil
	})
	if _, code := model.KindOf(err); code == "empty_range" {
		err = nil
	}
	return list, distance, err
}
