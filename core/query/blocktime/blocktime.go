package blocktime

import (
	"fmt"
	"slices"
	"sort"

	"birthmark/core/query/pointers"
	"birthmark/core/schema"
	"birthmark/model"
)

// Times finds the blocks of one snapshot by time. It caches the times that it reads. It is not safe for concurrent use.
//
// Block times of Bitcoin are not monotonic. The median time of a block and the ten blocks before it is, because a
// block's time must be greater than the median before it (BIP 113). A binary search finds the median, and the block
// is near it. On chains with monotonic times the median is monotonic too. A bound takes some 300 rows of blocks, so
// that no family by time is needed.
type Times struct {
	r          *pointers.Reader
	begin, end model.HeightPk // first and last height of the chain
	near       model.HeightPk // where the next search starts: the result of the last one
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

// New returns the times of the blocks of a chain with a tip.
func New(r *pointers.Reader) (*Times, error) {
	begin, err := r.FirstBlock()
	return &Times{r: r, begin: begin, end: r.Tip.Height, near: r.Tip.Height, times: map[model.HeightPk]int64{}}, err
}

// Begin returns the height of the first block.
func (c *Times) Begin() model.HeightPk { return c.begin }

// At returns the time of the block at h. It reads the blocks below h in the same batch because they are usually
// needed next.
func (c *Times) At(h model.HeightPk) (int64, error) {
	if t, ok := c.times[h]; ok {
		return t, nil
	}
	var heights []model.HeightPk
	for at := h; len(heights) < timesRead; at-- {
		if heights = append(heights, at); at == c.begin {
			break
		}
	}
	rows, err := c.r.Many(schema.FamilyBlock, schema.Keys(heights))
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

// median returns the median time of up to eleven blocks that end with the block at h.
func (c *Times) median(h model.HeightPk) (int64, error) {
	var times []int64
	for at := h; len(times) < medianOf; at-- {
		t, err := c.At(at)
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

// search returns the lowest height whose median is at least t, or tip + 1 if there is none. It reads few blocks if the
// result is near that of the last search.
func (c *Times) search(t int64) (found model.HeightPk, failed error) {
	reached := func(h int64) bool {
		m, err := c.median(model.HeightPk(h))
		if err != nil {
			failed = err
		}
		return m >= t
	}
	begin, end := int64(c.begin), int64(c.end)
	low, high := begin, end+1 // the result is one of them, or between them
	if near := int64(c.near); reached(near) {
		high = near
		for step := int64(timesRead); failed == nil; step *= 2 {
			if low = max(begin, high-step); low == begin || !reached(low) {
				break
			}
			high = low
		}
	} else {
		low = near
		for step := int64(timesRead); failed == nil; step *= 2 {
			if high = min(end+1, low+step); high > end || reached(high) {
				break
			}
			low = high
		}
	}
	found = model.HeightPk(low) + model.HeightPk(sort.Search(int(high-low), func(i int) bool { return reached(low + int64(i)) }))
	c.near = min(found, c.end)
	return found, failed
}

// First returns the first block whose time is not before t; ok is false if there is none.
func (c *Times) First(t int64) (found model.HeightPk, ok bool, err error) {
	h, err := c.search(t)
	if err != nil {
		return 0, false, err
	}
	// If a median is at least t, so is the time of at least one of its blocks.
	for behind := 0; behind < medianOf; h-- {
		if h <= c.end {
			time, err := c.At(h)
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

// Last returns the last block whose time is not after t; ok is false if there is none. Blocks above the first block
// whose median is at least t are later than t, and most of the eleven blocks before it are not.
func (c *Times) Last(t int64) (found model.HeightPk, ok bool, err error) {
	h, err := c.search(t)
	if err != nil {
		return 0, false, err
	}
	for h = min(h, c.end); ; h-- {
		time, err := c.At(h)
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
