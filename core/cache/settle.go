package cache

import (
	"birthmark/core/cache/run"
	"birthmark/model"
)

// Settle must be called when a first sync has reached the tip: later blocks need no runs of births.
func (c *Caches) Settle() {
	c.leaveBirthRuns()
	c.spill() // tables may be above the bounds that the filter leaves to them
}

// Complete reports whether the caches have the births of all values: a first sync is running.
func (c *Caches) Complete() bool { return c.births == birthsComplete }

// leaveBirthRuns ends the use of overflow runs of births, at the end of a first sync. A filter of all values replaces
// them if it fits into its share of the memory.
func (c *Caches) leaveBirthRuns() {
	if c.births != birthsComplete {
		return
	}
	c.births, c.snapshotAt = birthsFiltered, model.Point{}
	c.each(func(s *shard) { // one by one, so that few shards have both runs and a filter
		s.filter.maxBytes = c.filterBytes()
		if err := s.fillFilter(); err != nil {
			s.fail(err)
		}
		s.removeBirthRuns()
		s.divide()
	})
	c.checkRuns()
}

// fillFilter adds all values of the shard to the filter.
func (s *shard) fillFilter() error {
	s.filter.clear()
	values := s.unspilled
	for _, r := range s.birthRuns {
		values += r.Len()
	}
	blocks := (values+values/8)*run.FilterBits/(run.FilterBlockSize*8) + 1
	if s.full = !s.filter.grow(max(firstBlocks, blocks)); s.full {
		return nil
	}
	for i := range s.births.entries {
		if e := &s.births.entries[i]; e.tag != 0 && e.pk >= s.spilled {
			s.filter.add(e.tag)
		}
	}
	for _, r := range s.birthRuns {
		for e, err := range r.All() {
			if err != nil {
				return err
			}
			s.filter.add(e.Tag)
		}
	}
	return nil
}
