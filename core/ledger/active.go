package ledger

import (
	"context"
	"encoding/binary"
	"maps"
	"slices"

	"birthmark/core/schema"
	"birthmark/model"
	"birthmark/storage"
)

// Active has the values that occur on the newest days, by index, so that a value counts once per day. It contains what
// the rows of the blocks determine, so it can be empty: [Applier] then reads these rows. The zero value is empty.
type Active struct {
	indexes map[int]*activeIndex // by number
}

// activeIndex is the values of one index up to and including the last of points.
type activeIndex struct {
	points []model.Point // the newest blocks, in order
	days   []*activeDay  // the last used one last
}

const (
	activeDays   = 2  // the last block of a day can follow the first one of the next
	activePoints = 16 // removed blocks that need no reading
	activeRuns   = 16
)

// activeDay is the values of a day, divided into runs: a value is in the run of the first block in which it occurs.
type activeDay struct {
	day  schema.Day
	runs []activeRun
}

// activeRun is the values of consecutive blocks of a day: in ascending order, each as uvarint distance from the one
// before, and uvarint ordinal.
type activeRun struct {
	first, last model.HeightPk
	values      []byte
	end         model.UtxoPk // the last value
}

func (run *activeRun) append(birth model.BirthPk) {
	run.values = binary.AppendUvarint(run.values, uint64(birth.Utxo-run.end))
	run.values = binary.AppendUvarint(run.values, uint64(birth.Ordinal))
	run.end = birth.Utxo
}

// activeCursor reads a run.
type activeCursor struct {
	rest []byte
	at   model.BirthPk
	more bool
}

func (c *activeCursor) next() {
	if c.more = len(c.rest) > 0; c.more {
		distance, n := binary.Uvarint(c.rest)
		ordinal, m := binary.Uvarint(c.rest[n:])
		c.at = model.BirthPk{Utxo: c.at.Utxo + model.UtxoPk(distance), Ordinal: uint16(ordinal)}
		c.rest = c.rest[n+m:]
	}
}

// activeReader reports whether values, in ascending order, are in a day.
type activeReader []activeCursor

func (d *activeDay) reader() activeReader {
	r := make(activeReader, len(d.runs))
	for i := range r {
		r[i].rest = d.runs[i].values
		r[i].next()
	}
	return r
}

func (r activeReader) has(birth model.BirthPk) (found bool) {
	for i := range r {
		c := &r[i]
		for c.more && schema.CompareBirths(c.at, birth) < 0 {
			c.next()
		}
		found = found || c.more && c.at == birth
	}
	return found
}

// before returns the values of an index before the block, which has a parent; without days if they are not known.
func (v *Active) before(x *schema.Index, block model.HeightPk, parent model.Hash) *activeIndex {
	if v.indexes == nil {
		v.indexes = map[int]*activeIndex{}
	}
	a := v.indexes[x.Number]
	n := -1
	if a != nil {
		n = slices.IndexFunc(a.points, func(p model.Point) bool { return p.Hash == parent && p.Height+1 == block })
	}
	if n < 0 {
		a = &activeIndex{}
		v.indexes[x.Number] = a
		return a
	}
	a.points = a.points[:n+1]
	a.days = slices.DeleteFunc(a.days, func(d *activeDay) bool {
		for len(d.runs) > 0 && d.runs[len(d.runs)-1].last >= block {
			if d.runs[len(d.runs)-1].first < block {
				return true // it has values of blocks before too
			}
			d.runs = d.runs[:len(d.runs)-1]
		}
		return len(d.runs) == 0
	})
	return a
}

// day returns the values of a day; nil if they are not known.
func (a *activeIndex) day(day schema.Day) *activeDay {
	for _, d := range a.days {
		if d.day == day {
			return d
		}
	}
	return nil
}

// add adds runs of new blocks, and drops the days that were not used for the longest time.
func (a *activeIndex) add(blocks []schema.BlockSums, runs []*activeRun, days []schema.Day) {
	for i := max(0, len(blocks)-activePoints); i < len(blocks); i++ {
		a.points = append(a.points, blocks[i].Point)
	}
	a.points = slices.Delete(a.points, 0, max(0, len(a.points)-activePoints))
	for i, day := range days {
		d := a.day(day)
		a.days = slices.DeleteFunc(a.days, func(o *activeDay) bool { return o == d })
		if d == nil {
			d = &activeDay{day: day}
		}
		a.days = append(a.days, d)
		d.runs = append(d.runs, *runs[i])
		d.merge()
	}
	a.days = slices.Delete(a.days, 0, max(0, len(a.days)-activeDays))
}

// merge merges the oldest runs if there are too many.
func (d *activeDay) merge() {
	if len(d.runs) <= activeRuns {
		return
	}
	part := activeDay{runs: d.runs[:activeRuns/2]}
	merged := activeRun{first: part.runs[0].first, last: part.runs[len(part.runs)-1].last}
	for r := part.reader(); ; {
		least := -1
		for i := range r {
			if r[i].more && (least < 0 || schema.CompareBirths(r[i].at, r[least].at) < 0) {
				least = i
			}
		}
		if least < 0 {
			break
		}
		merged.append(r[least].at)
		r[least].next()
	}
	d.runs = append([]activeRun{merged}, d.runs[activeRuns/2:]...)
}

// values adds the numbers of values in added blocks to the rows of the option statistics of an index. d is sorted.
func (a *Applier) values(d *Deltas) error {
	if len(a.Blocks) == 0 {
		return nil
	}
	first, days := a.Blocks[0].Height, a.days()
	stored, err := a.storedDays(d.Index, days)
	if err != nil {
		return err
	}
	active := a.Active.before(d.Index, first, a.Parent)
	known := make([]activeReader, len(days)) // of the blocks before
	for i, day := range days {
		if stored[i] == nil {
			continue
		}
		row, err := schema.ParseDayValues(stored[i])
		if err != nil {
			return invalid(err, "the values of day %d", day)
		}
		of := active.day(day)
		if of == nil {
			if of, err = a.readDay(d.Index, day, row.First); err != nil {
				return err
			}
			active.days = append(active.days, of)
		}
		known[i] = of.reader()
	}
	oldest := max(0, len(days)-activeDays) // of the days that stay in memory
	runs := make([]*activeRun, len(days))
	dayAt := make([]int, len(a.Blocks)) // positions in days
	for i := range a.Blocks {
		n := slices.Index(days, a.Blocks[i].Day)
		if dayAt[i] = n; n < oldest {
			continue
		}
		if runs[n] == nil {
			runs[n] = &activeRun{first: a.Blocks[i].Height}
		}
		runs[n].last = a.Blocks[i].Height
	}
	counted := make([]schema.BlockValues, len(a.Blocks))
	seen := make([]int, len(days)) // number of the last value that occurs on a day
	n := 0
	for rest := d.Outputs; len(rest) > 0; {
		birth, last := rest[0].birth, -1
		n++
		for ; len(rest) > 0 && rest[0].birth == birth; rest = rest[1:] {
			at := int(max(rest[0].tx.Height(), first) - first) // outputs of a genesis have height 0
			if rest[0].utxo == birth.Utxo && !rest[0].spent {
				counted[at].New++
			}
			if at == last {
				continue
			}
			last = at
			counted[at].Active++
			day := dayAt[at]
			if seen[day] == n {
				continue
			}
			seen[day] = n
			if known[day].has(birth) {
				continue
			}
			counted[at].First++
			if run := runs[day]; run != nil {
				run.append(birth)
			}
		}
	}
	active.add(a.Blocks, runs[oldest:], days[oldest:])
	return a.putValues(d.Index, days, stored, counted)
}

// days returns the days of the added blocks, in the order of their last blocks.
func (a *Applier) days() (days []schema.Day) {
	for i := len(a.Blocks) - 1; i >= 0; i-- {
		if !slices.Contains(days, a.Blocks[i].Day) {
			days = append(days, a.Blocks[i].Day)
		}
	}
	slices.Reverse(days)
	return days
}

// readDays reads the rows of the days of the added blocks, of all indexes together: in a distant store, each read takes a
// round trip.
func (a *Applier) readDays(indexes []*Deltas) error {
	if len(a.Blocks) == 0 {
		return nil
	}
	var keys [][]byte
	for _, day := range a.days() {
		keys = append(keys, day.AppendTo(nil))
	}
	a.dayRows = map[*schema.Index]*storage.Read{}
	var reads []*storage.Read
	for _, d := range indexes {
		if d.Features.Has(schema.FeatureStatistics) {
			read := &storage.Read{Family: d.Index.Family(schema.IndexStatisticsDays), Keys: keys}
			a.dayRows[d.Index], reads = read, append(reads, read)
		}
	}
	if len(reads) == 0 {
		return nil
	}
	return storage.ReadTogether(a.Reader, reads...)
}

// storedDays returns the rows of days in the option statistics of x; nil for a day without a row.
func (a *Applier) storedDays(x *schema.Index, days []schema.Day) ([][]byte, error) {
	if read := a.dayRows[x]; read != nil {
		return read.Values, nil
	}
	keys := make([][]byte, len(days))
	for i, day := range days {
		keys[i] = day.AppendTo(nil)
	}
	return a.Reader.GetMany(x.Family(schema.IndexStatisticsDays), keys)
}

// putValues writes the rows of blocks and days.
func (a *Applier) putValues(x *schema.Index, days []schema.Day, stored [][]byte, counted []schema.BlockValues) error {
	changes := map[schema.Day]*schema.DayValues{}
	for i := range a.Blocks {
		n := counted[i]
		if n.Active == 0 {
			continue
		}
		a.put(x.Family(schema.IndexStatistics), a.Blocks[i].Height.AppendTo(nil), schema.AppendBlockValues(nil, n))
		c := changes[a.Blocks[i].Day]
		if c == nil {
			c = &schema.DayValues{First: a.Blocks[i].Height}
			changes[a.Blocks[i].Day] = c
		}
		c.New, c.Active = c.New+n.New, c.Active+n.First
	}
	f := x.Family(schema.IndexStatisticsDays)
	for i, day := range days {
		c := changes[day]
		if c == nil {
			continue
		}
		if stored[i] == nil {
			a.put(f, day.AppendTo(nil), schema.AppendDayValues(nil, *c))
			continue
		}
		row, err := schema.ParseDayValues(stored[i])
		if err != nil {
			return invalid(err, "the values of day %d", day)
		}
		row.New, row.Active = row.New+c.New, row.Active+c.Active
		a.Batch.Put(f, day.AppendTo(nil), schema.AppendDayValues(nil, row))
	}
	return nil
}

// readDay reads the values of a day from the rows of its blocks, from the first one with values up to the parent of the
// blocks that are added.
func (a *Applier) readDay(x *schema.Index, day schema.Day, first model.HeightPk) (*activeDay, error) {
	found := map[model.BirthPk]bool{}
	add := func(outputs []schema.Output) {
		for i := range outputs {
			for _, o := range outputs[i].Occurrences {
				if o.Index.Number == x.Number {
					found[o.Birth] = true
				}
			}
		}
	}
	end := a.Blocks[0].Height
	for kv, err := range a.Reader.Scan(schema.FamilyBlock, first.AppendTo(nil), end.AppendTo(nil), false) {
		if err != nil {
			return nil, err
		}
		h, err := model.ParseHeightPk(kv.Key)
		if err != nil {
			return nil, err
		}
		row, err := schema.ParseBlockRow(kv.Value)
		if err != nil {
			return nil, err
		}
		if schema.DayOf(row.Time) != day {
			continue
		}
		from, to, err := a.Layout.BlockRange(a.Reader, h)
		if err != nil {
			return nil, err
		}
		for txs, err := range a.Layout.ScanTxs(context.Background(), a.Reader, from, to, false) {
			if err != nil {
				return nil, err
			}
			for i := range txs {
				add(txs[i].Spent)
				add(txs[i].Created)
			}
		}
	}
	run := activeRun{first: first, last: end - 1}
	for _, birth := range slices.SortedFunc(maps.Keys(found), schema.CompareBirths) {
		run.append(birth)
	}
	return &activeDay{day: day, runs: []activeRun{run}}, nil
}
