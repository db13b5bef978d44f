// Package mediantime finds blocks by time.
package mediantime

import (
	"fmt"
	"slices"
	"sort"

	"birthmark/core/query/pointers"
	"birthmark/core/schema"
	"birthmark/model"
)

// Search finds blocks by time. It keeps the times that it read.
//
// Block times of Bitcoin are not monotonic. The median time of a block and the ten blocks before it is, because a
// block's time must be greater than the median before it (BIP 113). A binary search finds the median, and the block
// is near it. On chains with monotonic times the median is monotonic too.
type Search struct {
	q          *pointers.Reader
	begin, end model.HeightPk // first and last height of the chain
	times      map[model.HeightPk]int64
}

const (
	medianOf  = 11
	timesRead = 64 // number of block times read together

	// A block's time can be greater than the medians that follow it, so the search for the first block continues
	// downward until eleven medians are at least one day below the time. When an earlier block with such a time was
	// mined, its time was at most two hours ahead of network time: most of the eleven blocks after it would need
	// clocks that are 22 hours slow.
	maxClockSkew = 24 * 60 * 60
)

// New returns a search in a snapshot of a chain that has a tip.
func New(q *pointers.Reader) (*Search, error) {
	begin, err := q.FirstBlock()
	return &Search{q: q, begin: begin, end: q.Tip.Height, times: map[model.HeightPk]int64{}}, err
}

// time returns the time of the block at h. It reads the blocks below h in the same batch because they are usually
// needed next.
func (c *Search) time(h model.HeightPk) (int64, error) {
	if t, ok := c.times[h]; ok {
		return t, nil
	}
	var heights []model.HeightPk
	for at := h; len(heights) < timesRead; at-- {
		if heights = append(heights, at); at == c.begin {
			break
		}
	}
	rows, err := c.q.Many(schema.FamilyBlock, schema.Keys(heights))
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

// Median returns the median time of up to eleven blocks that end with the block at h.
func (c *Search) Median(h model.HeightPk) (int64, error) {
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

// search returns the lowest height whose median is at least t, or tip + 1 if there is none.
func (c *Search) search(t int64) (model.HeightPk, error) {
	var failed error
	n := sort.Search(int(c.end-c.begin)+1, func(i int) bool {
		m, err := c.Median(c.begin + model.HeightPk(i))
		if err != nil {
			failed = err
		}
		return m >= t
	})
	return c.begin + model.HeightPk(n), failed
}

// First returns the first block whose time is not before t; ok is false if there is none.
func (c *Search) First(t int64) (found model.HeightPk, ok bool, err error) {
	h, err := c.search(t)
	if err != nil {
		return 0, false, err
	}
	// If a median is at least t, so is the time of at least one of its blocks.
	for behind := 0; behind < medianOf; h-- {
		if h <= c.end {
			time, err := c.time(h)
			if err != nil {
				return 0, false, err
			}
			if time >= t {
				found, ok = h, true
			}
			m, err := c.Median(h)
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

// Last returns the last block whose time is not after t; ok is false if there is none. Blocks above the first block
// whose median is at least t are later than t, and most of the eleven blocks before it are not.
func (c *Search) Last(t int64) (found model.HeightPk, ok bool, err error) {
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
