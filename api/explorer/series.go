package explorer

import (
	"cmp"
	"context"
	"html/template"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"birthmark/api/explorer/charts"
	"birthmark/api/explorer/format"
	"birthmark/api/served"
	"birthmark/core/query"
	"birthmark/internal/humanize"
	"birthmark/model"
)

// The series of statistics that the charts of a chain show first, by subject. Those of indexes follow.
var chartSubjects = []struct {
	title string
	names []string
}{
	{"Activity", []string{"transactions", "blocks", "size", "fees", "inputs", "outputs"}},
	{"Value", []string{"output_value", "input_value", "supply", "unspent_outputs"}},
	{"Assets", []string{"new_assets", "mints", "burns"}},
}

// maxBars is the maximum number of points that are drawn as bars.
const maxBars = 62

// chartSpan is a range of charts up to the tip.
type chartSpan struct {
	name, title string
	days        int // 0: all
}

var chartSpans = []chartSpan{{"month", "30 days", 30}, {"year", "1 year", 365}, {"all", "All", 0}}

// chartsBody is the charts of a chain.
type chartsBody struct {
	Spans    []choice
	Subjects []chartSubject
	Missing  bool // the database has no statistics

	Kinds     []template.HTML // outputs by value of indexes with few values
	Producers template.HTML   // of the newest blocks; empty: unknown
}

type chartSubject struct {
	ID, Title string
	Charts    []template.HTML
}

// choice is a link of a list in which one is selected.
type choice struct {
	link
	Current bool
}

// seriesBody is one chart.
type seriesBody struct {
	Title       string
	Description string
	Spans       []choice
	Units       []choice
	Chart       template.HTML
	Note        string
	CSV         string // empty: none
}

// charts is the overview of all series of statistics.
func (v *visit) charts() (*page, error) {
	names, err := v.StatisticsNames(v.ctx)
	if err != nil {
		return nil, err
	}
	span, err := v.span(chartSpans, "year")
	if err != nil {
		return nil, err
	}
	unit := "week"
	switch span.name {
	case "month":
		unit = "day"
	case "all":
		unit = ""
	}
	r, unit, err := v.chartRange(span, unit)
	if err != nil {
		return nil, err
	}
	b := &chartsBody{Missing: len(names.Series) == 0}
	var list []string
	for _, s := range names.Series {
		list = append(list, s.Name)
	}
	all, err := v.StatisticsOf(v.ctx, list, unit, r)
	if err != nil {
		return nil, err
	}
	shown := map[string]template.HTML{}
	for i := range all {
		if isZero(all[i].Values) {
			continue
		}
		c := v.seriesChart(&all[i])
		c.Title, c.Brief, c.Link = v.seriesTitle(all[i].Name), true, v.URL("charts", all[i].Name)+"?span="+span.name
		if all[i].Unit == "amount" && v.unit.Symbol != "" {
			c.Title += ", in " + v.unit.Symbol
		}
		if shown[all[i].Name], err = c.HTML(); err != nil {
			return nil, err
		}
	}
	ofBlocks, err := v.mining(r)
	if err != nil {
		return nil, err
	}
	for _, c := range ofBlocks {
		c.query = "?span=" + span.name
	}
	newest, err := v.fullBlocks(newestSpan, func(read func(context.Context) error) (bool, error) {
		return v.within(patience/5, read) // the next visits read the remaining blocks
	})
	if err != nil {
		return nil, err
	}
	for _, c := range append(ofBlocks, newest...) {
		if len(c.numbers) == 0 {
			continue
		}
		one := c.chart()
		one.Brief, one.Link = true, v.URL("charts", c.name)+c.query
		if shown[c.name], err = one.HTML(); err != nil {
			return nil, err
		}
	}
	b.subjects(list, shown)
	if b.Kinds, err = v.kinds(); err != nil {
		return nil, err
	}
	if b.Producers, err = v.producers(); err != nil {
		return nil, err
	}
	if len(b.Subjects) > 0 {
		b.Spans = choicesOfSpan(chartSpans, v.URL("charts"), span, "")
	}
	return &page{Kind: "charts", Title: "Charts", JSON: v.api("stats"), Section: "charts", Body: b, Crumbs: []link{{Text: "Charts"}},
		LacksRaw:    v.chain.Model.Traits().BlockVSize > 0 && v.lacksRaw(),
		Description: "Charts of " + titleOf(v.chain.Model) + ": transactions, fees, values, unspent outputs and indexes over time."}, nil
}

// isZero reports whether no number of a series is known and above zero.
func isZero(values []query.StatisticAnswer) bool {
	return !slices.ContainsFunc(values, func(a query.StatisticAnswer) bool { return a.Value != nil && *a.Value != "0" })
}

// subjects sorts the charts that have a value into subjects.
func (b *chartsBody) subjects(names []string, shown map[string]template.HTML) {
	add := func(title string, names ...string) {
		s := chartSubject{ID: strings.ToLower(strings.ReplaceAll(title, " ", "-")), Title: title}
		for _, name := range names {
			if shown[name] != "" {
				s.Charts = append(s.Charts, shown[name])
			}
		}
		if len(s.Charts) > 0 {
			b.Subjects = append(b.Subjects, s)
		}
	}
	for _, s := range chartSubjects {
		add(s.title, s.names...)
	}
	var indexes []string
	for _, name := range names {
		if index, _, ok := strings.Cut(name, "."); ok && !slices.Contains(indexes, index) {
			indexes = append(indexes, index)
		}
	}
	for _, index := range indexes {
		add(format.Capital(format.ManyOf(index)), index+".active", index+".new")
	}
	add("Mining", difficultySeries, hashRateSeries)
	add("Newest blocks", feeRateSeries, fullnessSeries)
}

// series is the page of one chart.
func (v *visit) series() (*page, error) {
	name := v.req.PathValue("series")
	if _, ok := blockSeries[name]; ok {
		return v.blockSeries(name)
	}
	span, err := v.span(chartSpans, "year")
	if err != nil {
		return nil, err
	}
	b := &seriesBody{Title: v.seriesTitle(name)}
	base := v.URL("charts", name)
	p := &page{Kind: "series", Title: b.Title, Section: "charts", Body: b, Crumbs: []link{{v.URL("charts"), "Charts"}, {Text: b.Title}},
		Description: b.Title + " of " + titleOf(v.chain.Model) + " over time, as a chart and a table."}
	by := v.query("by")
	r, unit, err := v.chartRange(span, by)
	if err != nil {
		return nil, err
	}
	b.Spans = choicesOfSpan(chartSpans, base, span, by)
	list, err := v.StatisticsOf(v.ctx, []string{name}, unit, r)
	if err != nil {
		return nil, err
	}
	names, err := v.StatisticsNames(v.ctx)
	if err != nil {
		return nil, err
	}
	for _, s := range names.Series {
		if s.Name == name {
			b.Description = format.Capital(s.Description) + "."
		}
	}
	for _, u := range query.StatisticsUnits[1:] {
		b.Units = append(b.Units, choice{link{base + "?" + url.Values{"span": {span.name}, "by": {u}}.Encode(), "by " + u}, u == unit})
	}
	c := v.seriesChart(&list[0])
	c.Hover = true
	c.Title = b.Title + " by " + unit
	if list[0].Unit == "amount" && v.unit.Symbol != "" {
		c.Title += ", in " + v.unit.Symbol
	}
	if b.Chart, err = c.HTML(); err != nil {
		return nil, err
	}
	switch {
	case len(list[0].Values) == 0:
		b.Note = "No blocks yet."
	case len(c.Points) == 0:
		b.Note = "The numbers of this series are unknown on this chain."
	default:
		b.Note = "Times are in UTC. The last " + unit + " may not have ended."
	}
	q := url.Values{"by": {unit}}
	if r.FromTime != nil {
		q.Set("time_from", time.Unix(*r.FromTime, 0).UTC().Format(time.DateOnly))
	}
	p.JSON, b.CSV = v.api("stats", name)+"?"+q.Encode(), base+"/numbers.csv?"+q.Encode()
	return p, nil
}

// span returns the requested one of the spans.
func (v *visit) span(spans []chartSpan, def string) (chartSpan, error) {
	name := cmp.Or(v.query("span"), def)
	var names []string
	for _, s := range spans {
		if s.name == name {
			return s, nil
		}
		names = append(names, s.name)
	}
	return chartSpan{}, model.Errorf(model.Usage, "bad_value", "span %q: expected %s", name, strings.Join(names, ", "))
}

// chartRange returns the times of a span up to the tip, and the unit of its numbers. It begins with a whole period. An
// empty unit is chosen by the length of the span.
func (v *visit) chartRange(span chartSpan, unit string) (r query.Range, _ string, err error) {
	if unit != "" && !slices.Contains(query.StatisticsUnits[1:], unit) {
		return r, "", model.Errorf(model.Usage, "bad_value", "by %q: expected %s", unit, strings.Join(query.StatisticsUnits[1:], ", "))
	}
	if v.Tip.IsOrigin() {
		return r, cmp.Or(unit, "day"), nil
	}
	tip, err := v.header(v.Tip.Height)
	if err != nil {
		return r, "", err
	}
	if span.days == 0 {
		first, err := v.Blocks(v.ctx, query.Range{}, query.Page{Limit: 1})
		if err != nil || unit != "" {
			return r, unit, err
		}
		switch age := tip.Time - first.Blocks[0].Time; {
		case age < 100*86400:
			return r, "day", nil
		case age < 3*365*86400:
			return r, "week", nil
		}
		return r, "month", nil
	}
	unit = cmp.Or(unit, "day")
	from := time.Unix(tip.Time, 0).UTC().AddDate(0, 0, -span.days)
	switch unit {
	case "week":
		from = from.AddDate(0, 0, -(int(from.Weekday())+6)%7)
	case "month":
		from = from.AddDate(0, 0, 1-from.Day())
	}
	at := from.Truncate(24 * time.Hour).Unix()
	r.FromTime = &at
	return r, unit, nil
}

// choicesOfSpan returns the links to the spans of a page.
func choicesOfSpan(spans []chartSpan, base string, span chartSpan, by string) (list []choice) {
	for _, s := range spans {
		q := url.Values{"span": {s.name}}
		if by != "" {
			q.Set("by", by)
		}
		list = append(list, choice{link{base + "?" + q.Encode(), s.title}, s == span})
	}
	return list
}

// seriesTitle returns the name of a series in words, such as Active addresses.
func (v *visit) seriesTitle(name string) string {
	if index, of, ok := strings.Cut(name, "."); ok && index != "" && of != "" {
		return format.Capital(of) + " " + format.ManyOf(index)
	}
	switch name {
	case "size":
		return "Size of blocks, in bytes"
	case "output_value":
		return "Value of outputs"
	case "input_value":
		return "Value of inputs"
	}
	return format.Capital(format.Words(name))
}

// seriesChart draws the numbers of a series; without points if none is known.
func (v *visit) seriesChart(a *query.StatisticsAnswer) charts.Chart {
	c := charts.Chart{ID: "series-" + strings.NewReplacer(".", "-", "_", "-").Replace(a.Name), Kind: charts.Bars,
		X: charts.Axis{Name: format.Capital(a.By)}, Y: charts.Axis{Name: v.seriesTitle(a.Name), Whole: a.Unit != "amount"}}
	layout := time.DateOnly
	if a.By == "month" {
		layout = "Jan 2006"
	}
	for _, s := range a.Values {
		if s.Value == nil {
			continue
		}
		n := format.Integer(*s.Value)
		p := charts.Point{X: float64(s.From), At: time.Unix(s.From, 0).UTC().Format(layout), Value: humanize.Thousands(*s.Value)}
		switch a.Unit {
		case "amount":
			p.Y, p.Value = format.Scaled(n, v.unit), v.Amount(*s.Value).String()
		default:
			p.Y, _ = n.Float64()
		}
		c.Points = append(c.Points, p)
	}
	if len(c.Points) > maxBars || a.Name == "supply" || a.Name == "unspent_outputs" {
		c.Kind = charts.Area
	}
	if n := len(c.Points); n > 0 {
		c.X.Label = charts.Times(c.Points[0].X, c.Points[n-1].X)
	}
	return c
}

// seriesCSV serves the numbers of a series as CSV.
func (s *site) seriesCSV(chain *served.Chain) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if _, ok := blockSeries[r.PathValue("value")]; ok {
			s.blockCSV(w, r, chain)
			return
		}
		q := url.Values{}
		for _, name := range []string{"by", "time_from", "time_to", "raw_amounts", "after"} {
			if text := r.URL.Query().Get(name); text != "" {
				q.Set(name, text)
			}
		}
		s.askAPI(w, r, chain, []string{"stats"}, q, "text/csv")
	}
}
