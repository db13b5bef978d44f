package ledger

import (
	"fmt"
	"maps"
	"slices"

	"birthmark/core/schema"
	"birthmark/model"
	"birthmark/storage"
)

// Statistics adds the sums of blocks to the rows of x, an index of kind [model.Sums]. The blocks are consecutive.
func (a *Applier) Statistics(x *schema.Index, blocks []schema.BlockSums) error {
	if len(blocks) == 0 {
		return nil
	}
	last, err := a.sumsBefore(x, blocks[0].Height)
	if err != nil {
		return err
	}
	days := map[schema.Day]*schema.DayStatistics{}
	for i := range blocks {
		b := &blocks[i]
		outputs, spent := last.Unspent+b.Outputs, b.Inputs
		supply, fits := last.Supply.Add(b.Created)
		rest, positive := supply.Sub(b.Spent)
		if outputs < spent || !fits || !positive {
			return invalid(nil, "the unspent outputs after block %d", b.Height)
		}
		last = schema.BlockStatistics{Statistics: b.Statistics, Unspent: outputs - spent, Supply: rest}
		a.put(x.Family(schema.IndexSums), b.Height.AppendTo(nil), schema.AppendBlockStatistics(nil, &last))
		if days[b.Day] == nil {
			days[b.Day] = &schema.DayStatistics{}
		}
		days[b.Day].Blocks++
		if !days[b.Day].Add(&b.Statistics, 1) {
			return fmt.Errorf("the sums of the day of block %d do not fit 128 bits", b.Height)
		}
	}
	return a.addDays(x, days, 1)
}

// AddAssetSums adds the sums of derived assets to the rows of blocks in x, an index of kind [model.Sums], which exist, and
// to those of their days.
func (a *Applier) AddAssetSums(x *schema.Index, blocks []schema.BlockSums) error {
	blocks = slices.DeleteFunc(slices.Clone(blocks), func(b schema.BlockSums) bool { return !b.HasAssets() })
	keys := make([][]byte, len(blocks))
	for i := range blocks {
		keys[i] = blocks[i].Height.AppendTo(nil)
	}
	f := x.Family(schema.IndexSums)
	rows, err := a.Reader.GetMany(f, keys)
	if err != nil {
		return err
	}
	days := map[schema.Day]*schema.DayStatistics{}
	for i := range blocks {
		b := &blocks[i]
		row, err := schema.ParseBlockStatistics(rows[i])
		if err != nil || !row.Add(&b.Statistics, 1) {
			return invalid(err, "the statistics of block %d", b.Height)
		}
		a.Batch.Put(f, keys[i], schema.AppendBlockStatistics(nil, &row))
		if days[b.Day] == nil {
			days[b.Day] = &schema.DayStatistics{}
		}
		days[b.Day].Add(&b.Statistics, 1) // numbers of a few blocks
	}
	return a.addDays(x, days, 1)
}

// sumsBefore returns the row of the block before the one at h; zero for the first block.
func (a *Applier) sumsBefore(x *schema.Index, h model.HeightPk) (last schema.BlockStatistics, err error) {
	if h == 0 {
		return last, nil
	}
	rows, err := a.Reader.GetMany(x.Family(schema.IndexSums), [][]byte{(h - 1).AppendTo(nil)})
	if err != nil || rows[0] == nil {
		return last, err
	}
	return schema.ParseBlockStatistics(rows[0])
}

func (a *Applier) put(f storage.Family, key, row []byte) {
	a.Batch.Put(f, key, row)
	a.Totals.Rows[f]++
}

// addDays adds the sums of days to their rows, or subtracts them.
func (a *Applier) addDays(x *schema.Index, days map[schema.Day]*schema.DayStatistics, sign int64) error {
	f, sorted := x.Family(schema.IndexSumsDays), slices.Sorted(maps.Keys(days))
	return a.updateDays(f, sorted, func(day schema.Day, row []byte) ([]byte, error) {
		sums, err := parse(row, schema.ParseDayStatistics)
		if err != nil {
			return nil, invalid(err, "the statistics of day %d", day)
		}
		change := days[day]
		if sign < 0 && sums.Blocks < change.Blocks {
			return nil, invalid(nil, "the blocks of day %d", day)
		}
		sums.Blocks += uint64(sign) * change.Blocks
		if !sums.Add(&change.Statistics, sign) {
			return nil, invalid(nil, "the statistics of day %d", day)
		}
		if sums.Blocks == 0 {
			return nil, nil
		}
		return schema.AppendDayStatistics(nil, &sums), nil
	})
}

// updateDays replaces the rows of days. next returns the new row, or nil to delete it; row is the stored one, or nil.
func (a *Applier) updateDays(f storage.Family, days []schema.Day, next func(day schema.Day, row []byte) ([]byte, error)) error {
	return update(a, f, slices.Clone(days),
		func(b []byte, day *schema.Day) ([]byte, bool) { return day.AppendTo(b), false },
		func(day *schema.Day, b, row []byte) ([]byte, error) {
			row, err := next(*day, row)
			return append(b, row...), err
		})
}

// RemovedSums are the statistics of removed blocks, by day.
type RemovedSums struct {
	sums   map[schema.Day]*schema.DayStatistics
	values map[*schema.Index]map[schema.Day]*schema.DayValues
}

// AddBlock adds the removed row of a block in the index statistics.
func (s *RemovedSums) AddBlock(day schema.Day, block *schema.BlockStatistics) error {
	if s.sums == nil {
		s.sums = map[schema.Day]*schema.DayStatistics{}
	}
	if s.sums[day] == nil {
		s.sums[day] = &schema.DayStatistics{}
	}
	s.sums[day].Blocks++
	if !s.sums[day].Add(&block.Statistics, 1) {
		return fmt.Errorf("the statistics of the removed blocks of day %d do not fit 128 bits", day)
	}
	return nil
}

// AddValues adds the removed row of a block of the option statistics of x.
func (s *RemovedSums) AddValues(x *schema.Index, day schema.Day, block schema.BlockValues) {
	if s.values == nil {
		s.values = map[*schema.Index]map[schema.Day]*schema.DayValues{}
	}
	if s.values[x] == nil {
		s.values[x] = map[schema.Day]*schema.DayValues{}
	}
	if s.values[x][day] == nil {
		s.values[x][day] = &schema.DayValues{}
	}
	s.values[x][day].New += block.New
	s.values[x][day].Active += block.First
}

// RemoveSums subtracts removed blocks from the rows of the days of x.
func (a *Applier) RemoveSums(x *schema.Index, s *RemovedSums) error {
	a.index = x
	if x.Kind == model.Sums {
		if err := a.addDays(x, s.sums, -1); err != nil {
			return err
		}
		return a.applyPending()
	}
	removed := s.values[x]
	f, sorted := x.Family(schema.IndexStatisticsDays), slices.Sorted(maps.Keys(removed))
	err := a.updateDays(f, sorted, func(day schema.Day, row []byte) ([]byte, error) {
		values, err := parse(row, schema.ParseDayValues)
		change := removed[day]
		if err != nil || values.New < change.New || values.Active < change.Active {
			return nil, invalid(err, "the values of day %d", day)
		}
		values.New, values.Active = values.New-change.New, values.Active-change.Active
		if values.Active == 0 {
			return nil, nil
		}
		return schema.AppendDayValues(nil, values), nil
	})
	if err != nil {
		return err
	}
	return a.applyPending()
}
