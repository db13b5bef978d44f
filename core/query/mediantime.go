package query

import (
	"fmt"
	"slices"
	"sort"

	"birthmark/core/schema"
	"birthmark/model"
)

// medianTimes finds blocks by their times.
//
// Bitcoin's times go back and forth. What never goes back is the median of eleven, that of a block and the ten before
// it, since a block's time must be after the median before it (BIP 113): so the median is searched for, and the block
// near it. On chains whose times only grow the median does too.
type medianTimes struct {
	q          *Query
	begin, end model.HeightPk // of the chain, both with a block
	times      map[model.HeightPk]int64
}

const (
	medianOf  = 11
	timesRead = 64 // at once

	// A block's time can be ahead of the medians that follow it, so what comes before the median that is sought is looked
	// through until eleven medians are a day behind it. A block from before those with such a time had, when it was made,
	// at most two hours' lead over the clocks of others: most of the eleven blocks after it would have to be made by clocks
	// that go 22 hours slow.
	maxClockSkew = 24 * 60 * 60
)

func (q *Query) medianTimes() (*medianTimes, error) {
	begin, err := q.FirstBlock()
	return &medianTimes{q: q, begin: begin, end: q.Tip.Height, times: map[model.HeightPk]int64{}}, err
}

// FirstBlock is where the chain begins. It must have a tip.
func (q *Query) FirstBlock() (model.HeightPk, error) {
	for kv, err := range q.R.Scan(schema.FamilyBlock, nil, nil, false) {
		if err != nil {
			return 0, err
		}
		return model.ParseHeightPk(kv.Key)
	}
	return 0, fmt.Errorf("the chain has a tip and no blocks: run check")
}

// time of the block at h. It reads those below h too, which are asked for next.
func (c *medianTimes) time(h model.HeightPk) (int64, error) {
	if t, ok := c.times[h]; ok {
		return t, nil
	}
	var heights []model.HeightPk
	for at := h; len(heights) < timesRead; at-- {
		if heights = append(heights, at); at == c.begin {
			break
		}
	}
	rows, err := c.q.many(schema.FamilyBlock, schema.Keys(heights))
	if err != nil {
		return 0, err
	}
	for i, b := range rows {
		row, err := schema.ParseBlockRow(b)
		if err != nil {
			return 0, fmt.Errorf("block at height %d: %w", heights[i], err)
		}
		c.times[heights[i]] = row.Time
	}
	return c.times[h], nil
}

// median is that of the times of up to eleven blocks that end with the one at h.
func (c *medianTimes) median(h model.HeightPk) (int64, error) {
	var times []int64
	for at := h; len(times) < medianOf; at-- {
		t, err := c.time(at)
		if err != nil {
			return 0, err
		}
		if times = append(times, t); at == c.begin {
			break
		}
	}
	slices.Sort(times)
	return times[len(times)/2], nil
}

// search is the lowest block whose median is at least t, or the one behind the tip.
func (c *medianTimes) search(t int64) (model.HeightPk, error) {
	var failed error
	n := sort.Search(int(c.end-c.begin)+1, func(i int) bool {
		m, err := c.median(c.begin + model.HeightPk(i))
		if err != nil {
			failed = err
		}
		return m >= t
	})
	return c.begin + model.HeightPk(n), failed
}

// first is the first block whose time is not before t; not ok where there is none.
func (c *medianTimes) first(t int64) (found model.HeightPk, ok bool, err error) {
	h, err := c.search(t)
	if err != nil {
		return 0, false, err
	}
	// Where a median is at least t, so is the time of one of its blocks.
	for behind := 0; behind < medianOf; h-- {
		if h <= c.end {
			time, err := c.time(h)
			if err != nil {
				return 0, false, err
			}
			if time >= t {
				found, ok = h, true
			}
			m, err := c.median(h)
			if err != nil {
				return 0, false, err
			}
			if m+maxClockSkew <= t {
				behind++
			}
		}
		if h == c.begin {
			break
		}
	}
	return found, ok, nil
}

// last is the last block whose time is not after t; not ok where there is none. No block above the first whose median is at
// least t has such a time, and most of the eleven below it have.
func (c *medianTimes) last(t int64) (found model.HeightPk, ok bool, err error) {
	h, err := c.search(t)
	if err != nil {
		return 0, false, err
	}
	for h = min(h, c.end); ; h-- {
		time, err := c.time(h)
		if err != nil {
			return 0, false, err
		}
		if time <= t {
			return h, true, nil
		}
		if h == c.begin {
			return 0, false, nil
		}
	}
}
