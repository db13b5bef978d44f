package query

import (
	"context"
	"encoding/binary"
	"math/big"
	"slices"
	"strings"
	"time"

	"birthmark/core/schema"
	"birthmark/model"
	"birthmark/storage"
)

// StatisticsUnits are the units of [Queries.Statistics]. Periods are in UTC, and weeks begin on Monday.
var StatisticsUnits = []string{"block", "day", "week", "month"}

// Units of the values of a series.
const (
	unitCount  = "count"
	unitBytes  = "bytes"
	unitAmount = "amount" // in the smallest unit of the coin
)

// point is the numbers of a block or of a period.
type point struct {
	schema.DayStatistics
	unspent *big.Int // outputs after it
	supply  *big.Int // their value
	values  schema.DayValues
	days    uint64 // with values
}

// series is a number of blocks and periods.
type series struct {
	name, unit, doc string
	of              func(p *point) *big.Int // nil: unknown
}

func counted(of func(p *point) uint64) func(p *point) *big.Int {
	return func(p *point) *big.Int { return new(big.Int).SetUint64(of(p)) }
}

// chainSeries are the series of the index statistics.
var chainSeries = []series{
	{"blocks", unitCount, "blocks", counted(func(p *point) uint64 { return p.Blocks })},
	{"transactions", unitCount, "transactions", counted(func(p *point) uint64 { return p.Txs })},
	{"inputs", unitCount, "inputs that spend an output", counted(func(p *point) uint64 { return p.Inputs })},
	{"outputs", unitCount, "outputs", counted(func(p *point) uint64 { return p.Outputs })},
	{"size", unitBytes, "sizes of the blocks", counted(func(p *point) uint64 { return p.Bytes })},
	{"fees", unitAmount, "fees; unknown on chains whose fees are outputs", func(p *point) *big.Int {
		if p.FeesUnknown > 0 {
			return nil
		}
		return p.Fees.Big()
	}},
	{"input_value", unitAmount, "value of the inputs", func(p *point) *big.Int { return p.Spent.Big() }},
	{"output_value", unitAmount, "value of the outputs", func(p *point) *big.Int { return p.Created.Big() }},
	{"unspent_outputs", unitCount, "outputs that are unspent at the end", func(p *point) *big.Int { return p.unspent }},
	{"supply", unitAmount, "value of the outputs that are unspent at the end", func(p *point) *big.Int { return p.supply }},
	{"new_assets", unitCount, "assets that are born", counted(func(p *point) uint64 { return p.Assets })},
	{"mints", unitCount, "mints of an asset by a transaction", counted(func(p *point) uint64 { return p.Mints })},
	{"burns", unitCount, "burns of an asset by a transaction", counted(func(p *point) uint64 { return p.Burns })},
}

// assetSeries are the series that rules change while they are being added to a database.
var assetSeries = []string{"new_assets", "mints", "burns"}

// valueSeries are the series of the option statistics of an index; the name of the index precedes theirs.
var valueSeries = []series{
	{"new", unitCount, "values that occur for the first time", counted(func(p *point) uint64 { return p.values.New })},
	{"active", unitCount, "values in outputs that are created or spent; of weeks and months the mean of the days with values",
		counted(func(p *point) uint64 { return p.values.Active / max(1, p.days) })},
}

// StatisticsNames returns the series of the database.
func (qs Queries) StatisticsNames(ctx context.Context) (*StatisticsNamesAnswer, error) {
	return read(ctx, qs, func(q *Query) (*StatisticsNamesAnswer, error) {
		a := &StatisticsNamesAnswer{Chain: q.Chain.Name(), Series: []StatisticsNameAnswer{}}
		if q.Layout.Statistics != nil {
			for _, s := range chainSeries {
				a.Series = append(a.Series, StatisticsNameAnswer{s.name, s.unit, s.doc})
			}
		}
		for _, x := range q.Layout.Indexes {
			if x.Active.Has(schema.FeatureStatistics) {
				for _, s := range valueSeries {
					a.Series = append(a.Series, StatisticsNameAnswer{x.Name + "." + s.name, s.unit, s.doc})
				}
			}
		}
		return a, nil
	})
}

// Statistics returns a page of a series: its numbers per block or period of r. Unit is one of [StatisticsUnits]. A block
// belongs to the day of its own time. Errors of kind [model.Usage]: unknown_series, no_statistics, bad_value; of kind
// [model.Refused]: index_building.
func (qs Queries) Statistics(ctx context.Context, name, unit string, r Range, p Page) (*StatisticsAnswer, error) {
	return read(ctx, qs, func(q *Query) (*StatisticsAnswer, error) {
		if !slices.Contains(StatisticsUnits, unit) {
			return nil, model.Errorf(model.Usage, "bad_value", "unit %q: expected %s", unit, strings.Join(StatisticsUnits, ", "))
		}
		x, s, err := q.series(name)
		if err != nil {
			return nil, err
		}
		l, err := q.list(p, "statistics", name, unit, r.String())
		if err != nil {
			return nil, err
		}
		a := &StatisticsAnswer{Chain: q.Chain.Name(), Name: name, By: unit, Unit: s.unit, Values: []StatisticAnswer{}}
		if q.Tip.IsOrigin() {
			return a, nil
		}
		if unit == StatisticsUnits[0] {
			return a, l.byBlock(a, x, s, r)
		}
		return a, l.byPeriod(a, x, s, r)
	})
}

// StatisticsOf returns the numbers of several series per day, week or month of r, in the order of the names. It reads the
// rows of each index once. Errors: those of [Queries.Statistics].
func (qs Queries) StatisticsOf(ctx context.Context, names []string, unit string, r Range) ([]StatisticsAnswer, error) {
	return read(ctx, qs, func(q *Query) ([]StatisticsAnswer, error) {
		if !slices.Contains(StatisticsUnits[1:], unit) {
			return nil, model.Errorf(model.Usage, "bad_value", "unit %q: expected %s", unit, strings.Join(StatisticsUnits[1:], ", "))
		}
		all := make([]StatisticsAnswer, len(names))
		known := map[int][]period{} // by number of the index
		for i, name := range names {
			x, s, err := q.series(name)
			if err != nil {
				return nil, err
			}
			all[i] = StatisticsAnswer{Chain: q.Chain.Name(), Name: name, By: unit, Unit: s.unit, Values: []StatisticAnswer{}}
			if q.Tip.IsOrigin() {
				continue
			}
			periods, ok := known[x.Number]
			if !ok {
				first, last, err := q.daysOf(r)
				if err != nil {
					return nil, err
				}
				if periods, err = q.periods(x, unit, first, last); err != nil {
					return nil, err
				}
				known[x.Number] = periods
			}
			all[i].add(s, periods)
		}
		return all, nil
	})
}

// add adds the numbers of periods.
func (a *StatisticsAnswer) add(s *series, periods []period) {
	for i := range periods {
		p := &periods[i]
		a.Values = append(a.Values, StatisticAnswer{From: p.from.Begin(), To: (p.to + 1).Begin() - 1, Value: text(s.of(&p.point))})
	}
}

// series returns the index and the definition of a series.
func (q *Query) series(name string) (*schema.Index, *series, error) {
	index, rest, ofValues := strings.Cut(name, ".")
	part, list, feature := schema.Features(schema.FeatureValues), chainSeries, model.StatisticsIndex
	if ofValues {
		part, list, feature = schema.FeatureStatistics, valueSeries, index
	} else {
		rest = name
	}
	i := slices.IndexFunc(list, func(s series) bool { return s.name == rest })
	x := q.Layout.Entry(feature)
	switch {
	case i < 0 || ofValues && (x == nil || !x.Kind.Valid()):
		return nil, nil, model.Errorf(model.Usage, "unknown_series", "unknown series %q: expected one of %s, or INDEX.new or INDEX.active",
			name, strings.Join(seriesNames(), ", "))
	case x != nil && x.Active.Has(part) && !ofValues && q.Change.OfRules() && slices.Contains(assetSeries, rest):
		unknown := list[i] // rows have the sums of the blocks that the rules have
		unknown.of = func(*point) *big.Int { return nil }
		return x, &unknown, nil
	case x != nil && x.Active.Has(part):
		return x, &list[i], nil
	case x != nil && x.Building.Has(part):
		return nil, nil, model.Errorf(model.Refused, "index_building", "the statistics of %s are being added: try again later", x.Name)
	case ofValues:
		return nil, nil, model.Errorf(model.Usage, "no_statistics", "index %s has no statistics: set statistics for it in the settings, and run birthmark index add %s", index, index)
	}
	return nil, nil, model.Errorf(model.Usage, "no_statistics", "the database has no statistics: add them with birthmark index add %s",
		model.StatisticsIndex)
}

func seriesNames() (names []string) {
	for _, s := range chainSeries {
		names = append(names, s.name)
	}
	return names
}

// byBlock adds a page of blocks.
func (l *list) byBlock(a *StatisticsAnswer, x *schema.Index, s *series, r Range) error {
	span, err := l.blockSpan(r)
	if err != nil || span.Empty() {
		return err
	}
	q := l.q
	blocks, next, err := l.blocks(span)
	if err != nil {
		return err
	}
	if err := q.Pass(2 * len(blocks)); err != nil {
		return err
	}
	keys := make([][]byte, len(blocks))
	for i := range blocks {
		keys[i] = blocks[i].height.AppendTo(nil)
	}
	stored, err := q.R.GetMany(x.Family(schema.StatisticsOf(x)), keys) // a block can have no values
	if err != nil {
		return err
	}
	for i := range blocks {
		p, err := pointOfBlock(x, stored[i])
		if err != nil {
			return err
		}
		height := uint32(blocks[i].height)
		a.Values = append(a.Values, StatisticAnswer{Height: &height, From: blocks[i].Time, To: blocks[i].Time, Value: text(s.of(&p))})
	}
	a.Next = next
	return nil
}

// pointOfBlock decodes the row of a block; nil: it has no values.
func pointOfBlock(x *schema.Index, row []byte) (p point, err error) {
	p.Blocks, p.days = 1, 1
	switch {
	case x.Kind == model.Sums:
		b, err := schema.ParseBlockStatistics(row)
		p.Statistics = b.Statistics
		p.unspent, p.supply = new(big.Int).SetUint64(b.Unspent), b.Supply.Big()
		return p, err
	case row != nil:
		v, err := schema.ParseBlockValues(row)
		p.values.New, p.values.Active = v.New, v.Active
		return p, err
	}
	return p, nil
}

func text(n *big.Int) *string {
	if n == nil {
		return nil
	}
	s := n.String()
	return &s
}

// period is the first and the last day of a period, and its numbers.
type period struct {
	from, to schema.Day
	point
}

// byPeriod adds a page of days, weeks or months. It reads the rows of all days up to the last one for series of what is
// unspent at the end, and otherwise those of the range.
func (l *list) byPeriod(a *StatisticsAnswer, x *schema.Index, s *series, r Range) error {
	first, last, err := l.q.daysOf(r)
	if err != nil {
		return err
	}
	periods, err := l.q.periods(x, a.By, first, last)
	if err != nil {
		return err
	}
	if l.Descending {
		slices.Reverse(periods)
	}
	c, err := l.cursor(model.PkSize)
	if err != nil {
		return err
	}
	if c != nil {
		day, err := schema.ParseDay(c.position[4:])
		if err != nil {
			return err
		}
		after := func(p period) bool { return (p.from > day) != l.Descending && p.from != day }
		from := slices.IndexFunc(periods, after)
		if from < 0 {
			from = len(periods)
		}
		periods = periods[from:]
	}
	more := len(periods) > l.limit
	periods = periods[:min(len(periods), l.limit)]
	a.add(s, periods)
	if more {
		day := periods[len(periods)-1].from
		a.Next, err = l.next(position{0, day.AppendTo(binary.BigEndian.AppendUint32(nil, 0))})
	}
	return err
}

// daysOf returns the days of a range: by its times, or those of its first and last block.
func (q *Query) daysOf(r Range) (first, last schema.Day, err error) {
	s, err := q.Span(r)
	if err != nil {
		return 0, 0, err
	}
	first, last = schema.FirstDay, schema.LastDay
	day := func(h model.HeightPk) (schema.Day, error) {
		row, err := schema.BlockAt(q.R, h)
		return schema.DayOf(row.Time), err
	}
	if r.FromHeight != nil {
		if first, err = day(s.First.Height()); err != nil {
			return 0, 0, err
		}
	}
	if r.ToHeight != nil {
		if last, err = day(min(s.Last.Height(), q.Tip.Height)); err != nil {
			return 0, 0, err
		}
	}
	if r.FromTime != nil {
		first = max(first, schema.DayOf(*r.FromTime))
	}
	if r.ToTime != nil {
		last = min(last, schema.DayOf(*r.ToTime))
	}
	return first, last, nil
}

// periods returns the periods with blocks that have days between first and last, in order. The numbers of a period are
// those of its days in the range.
func (q *Query) periods(x *schema.Index, unit string, first, last schema.Day) (all []period, err error) {
	f, from := x.Family(schema.IndexStatisticsDays), first
	unspent, supply := new(big.Int), new(big.Int)
	if x.Kind == model.Sums {
		f, from = x.Family(schema.IndexSumsDays), schema.FirstDay // the unspent outputs are a sum over all days
	}
	rows := 0
	for kv, err := range q.R.Scan(f, from.AppendTo(nil), append(last.AppendTo(nil), 0), false) {
		if err != nil {
			return nil, err
		}
		day, err := schema.ParseDay(kv.Key)
		if err != nil {
			return nil, err
		}
		p, err := pointOfDay(x, kv)
		if err != nil {
			return nil, err
		}
		if rows++; rows%passedDays == 0 {
			if err := q.Pass(passedDays); err != nil {
				return nil, err
			}
		}
		unspent.Add(unspent, new(big.Int).SetUint64(p.Outputs)).Sub(unspent, new(big.Int).SetUint64(p.Inputs))
		supply.Add(supply, p.Created.Big()).Sub(supply, p.Spent.Big())
		if day < first {
			continue
		}
		begin, end := periodOf(day, unit)
		if n := len(all); n == 0 || all[n-1].from != begin {
			all = append(all, period{from: begin, to: end})
		}
		to := &all[len(all)-1]
		to.Blocks += p.Blocks
		to.Add(&p.Statistics, 1)
		to.values.New, to.values.Active = to.values.New+p.values.New, to.values.Active+p.values.Active
		to.days++
		to.unspent, to.supply = new(big.Int).Set(unspent), new(big.Int).Set(supply)
	}
	return all, q.Pass(rows % passedDays)
}

// passedDays is the number of days after which their cost is paid.
const passedDays = 256

func pointOfDay(x *schema.Index, kv storage.KV) (p point, err error) {
	if x.Kind == model.Sums {
		p.DayStatistics, err = schema.ParseDayStatistics(kv.Value)
		return p, err
	}
	p.values, err = schema.ParseDayValues(kv.Value)
	return p, err
}

// periodOf returns the first and the last day of the period of a day.
func periodOf(day schema.Day, unit string) (from, to schema.Day) {
	switch unit {
	case "week":
		monday := day - (((day+3)%7 + 7) % 7) // 1970-01-01 was a Thursday
		return monday, monday + 6
	case "month":
		at := time.Unix(day.Begin(), 0).UTC()
		month := time.Date(at.Year(), at.Month(), 1, 0, 0, 0, 0, time.UTC)
		return schema.DayOf(month.Unix()), schema.DayOf(month.AddDate(0, 1, 0).Unix()) - 1
	}
	return day, day
}
