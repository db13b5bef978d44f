package check

import (
	"bytes"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"

	"birthmark/core/schema"
	"birthmark/model"
	"birthmark/storage"
)

// statistics checks that the statistics of blocks and days follow from the transactions. It needs memory for the values
// of the newest days.
func (c *checker) statistics() error {
	for _, x := range c.All {
		if c.only != nil && c.only != x || !(x.Active | x.Building).Has(schema.FeatureOf(schema.StatisticsOf(x))) {
			continue
		}
		if err := c.statisticsOf(x); err != nil {
			return fmt.Errorf("index %s: %w", x.Name, err)
		}
	}
	return nil
}

// blockRow is the row of a block that its transactions determine; no value: none.
type blockRow struct{ key, value []byte }

// statisticsOf checks the statistics of an index.
func (c *checker) statisticsOf(x *schema.Index) error {
	byBlock, byDay := x.Family(schema.IndexStatistics), x.Family(schema.IndexStatisticsDays)
	days := map[string][]byte{}
	rows := c.valuesOfBlocks(x, days)
	if x.Kind == model.Sums {
		byBlock, byDay = x.Family(schema.IndexSums), x.Family(schema.IndexSumsDays)
		rows = c.sumsOfBlocks(x, days)
	}
	next, stop := iter.Pull2(rows)
	defer stop()
	var want blockRow
	var failed error
	more := true
	advance := func() {
		if want, failed, more = next(); failed != nil {
			more = false
		}
	}
	missing := func() { c.problem(byBlock, want.key, "the row of the block is missing") }
	advance()
	err := c.scan(byBlock, func(k, v []byte) error {
		for ; more && bytes.Compare(want.key, k) < 0; advance() {
			missing()
		}
		switch {
		case failed != nil:
		case !more || !bytes.Equal(want.key, k):
			c.problem(byBlock, k, "there is no block with values at its height")
		case !bytes.Equal(want.value, c.withoutAssetSums(byBlock, v)):
			c.problem(byBlock, k, "differs from the transactions of the block")
			advance()
		default:
			advance()
		}
		return nil
	})
	for ; err == nil && more; advance() {
		missing()
	}
	if _, unread := errors.AsType[*unreadError](failed); unread || c.ctx.Err() != nil {
		return errors.Join(failed, c.ctx.Err())
	}
	if failed != nil { // damaged rows are problems of other checks, too
		c.problem(byBlock, nil, "cannot be computed from the transactions: %v", failed)
	}
	if err != nil {
		return err
	}
	err = c.scan(byDay, func(k, v []byte) error {
		if row := days[string(k)]; failed == nil && !bytes.Equal(row, c.withoutAssetSums(byDay, v)) {
			c.problem(byDay, k, "differs from the sums of the blocks of the day")
		}
		delete(days, string(k))
		return nil
	})
	if err == nil && failed == nil {
		for _, day := range slices.Sorted(maps.Keys(days)) {
			c.problem(byDay, []byte(day), "the row of the day is missing")
		}
	}
	return err
}

// withoutAssetSums returns a row of the index statistics without the sums of assets, if rules are being added or dropped: it
// can have those of the blocks that the rules have.
func (c *checker) withoutAssetSums(f storage.Family, row []byte) []byte {
	if c.Layout.Statistics == nil || !c.Change.OfRules() {
		return row
	}
	switch f {
	case c.Layout.Statistics.Family(schema.IndexSums):
		if s, err := schema.ParseBlockStatistics(row); err == nil {
			s.ClearAssets()
			return schema.AppendBlockStatistics(nil, &s)
		}
	case c.Layout.Statistics.Family(schema.IndexSumsDays):
		if s, err := schema.ParseDayStatistics(row); err == nil {
			s.ClearAssets()
			return schema.AppendDayStatistics(nil, &s)
		}
	}
	return row
}

// blocksOf returns the range of the heights that an index covers.
func (c *checker) blocksOf(x *schema.Index, part schema.Features) (from, to model.HeightPk) {
	switch {
	case c.Tip.IsOrigin():
		return 0, 0
	case x.Active.Has(part):
		return 0, c.Tip.Height + 1
	case c.builtTo == nil:
		return 0, 0
	}
	return 0, *c.builtTo + 1
}

// sumsOfBlocks yields the rows of blocks in the index statistics. When it ends, days has the rows of days.
func (c *checker) sumsOfBlocks(x *schema.Index, days map[string][]byte) iter.Seq2[blockRow, error] {
	return func(yield func(blockRow, error) bool) {
		var last schema.BlockStatistics
		sums := map[schema.Day]*schema.DayStatistics{}
		from, to := c.blocksOf(x, schema.FeatureValues)
		for b, err := range schema.SumsOfRows(c.ctx, c.Layout, c.r, from, to) {
			if err != nil {
				yield(blockRow{}, err)
				return
			}
			supply, _ := last.Supply.Add(b.Created)
			supply, _ = supply.Sub(b.Spent)
			last = schema.BlockStatistics{Statistics: b.Statistics, Unspent: last.Unspent + b.Outputs - b.Inputs, Supply: supply}
			if sums[b.Day] == nil {
				sums[b.Day] = &schema.DayStatistics{}
			}
			sums[b.Day].Blocks++
			sums[b.Day].Add(&b.Statistics, 1)
			if !yield(blockRow{b.Height.AppendTo(nil), schema.AppendBlockStatistics(nil, &last)}, nil) {
				return
			}
		}
		for day, s := range sums {
			days[string(day.AppendTo(nil))] = schema.AppendDayStatistics(nil, s)
		}
	}
}

// checkedDays is the number of days whose values valuesOfBlocks has. A block of an earlier day, which only hostile times
// lead to, is not checked.
const checkedDays = 8

// valuesOfBlocks yields the rows of blocks of the option statistics of x. When it ends, days has the rows of days.
func (c *checker) valuesOfBlocks(x *schema.Index, days map[string][]byte) iter.Seq2[blockRow, error] {
	return func(yield func(blockRow, error) bool) {
		sums := map[schema.Day]*schema.DayValues{}
		active := map[schema.Day]map[model.BirthPk]bool{}
		from, to := c.blocksOf(x, schema.FeatureStatistics)
		for b, err := range schema.DaysOfRows(c.r, from, to) {
			var values map[model.BirthPk]bool
			if err == nil {
				values, err = c.valuesIn(x, b.Height)
			}
			if err != nil {
				yield(blockRow{}, err)
				return
			}
			if len(values) == 0 {
				continue
			}
			if active[b.Day] == nil {
				active[b.Day] = map[model.BirthPk]bool{}
				for day := range active {
					if day < b.Day-checkedDays {
						delete(active, day)
					}
				}
			}
			n := schema.BlockValues{Active: uint64(len(values))}
			for birth, born := range values {
				if born {
					n.New++
				}
				if !active[b.Day][birth] {
					n.First++
				}
				active[b.Day][birth] = true
			}
			s := sums[b.Day]
			if s == nil {
				s = &schema.DayValues{First: b.Height}
				sums[b.Day] = s
			}
			s.New, s.Active = s.New+n.New, s.Active+n.First
			if !yield(blockRow{b.Height.AppendTo(nil), schema.AppendBlockValues(nil, n)}, nil) {
				return
			}
		}
		for day, s := range sums {
			days[string(day.AppendTo(nil))] = schema.AppendDayValues(nil, *s)
		}
	}
}

// valuesIn returns the values of x that occur in outputs which the block at h creates or spends, and whether they are
// born in it.
func (c *checker) valuesIn(x *schema.Index, h model.HeightPk) (map[model.BirthPk]bool, error) {
	from, to, err := c.BlockRange(c.r, h)
	if err != nil {
		return nil, err
	}
	values := map[model.BirthPk]bool{}
	for txs, err := range c.ScanTxs(c.ctx, c.r, from, to, false) {
		if err != nil {
			return nil, err
		}
		for i := range txs {
			for _, outputs := range [][]schema.Output{txs[i].Spent, txs[i].Created} {
				for j := range outputs {
					for _, o := range outputs[j].Occurrences {
						if o.Index == x {
							values[o.Birth] = bytes.Compare(o.Birth.Utxo.AppendTo(nil), from) >= 0
						}
					}
				}
			}
		}
	}
	return values, nil
}
