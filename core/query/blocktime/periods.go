package blocktime

import (
	"slices"
	"time"

	"birthmark/model"
)

// Units are the units of [Periods]. They are in UTC, and weeks begin on Monday.
var Units = []string{"hour", "day", "week", "month"}

// Period is a part of the chain.
type Period struct {
	From, To    int64          // unix seconds, both included
	First, Last model.HeightPk // blocks
}

// Periods divides a chain by a unit. A period has the blocks after those of the period before, up to the last block whose
// time is not after its end. A block whose time is later than that of a block after it (Bitcoin) can therefore belong to
// the period before its own.
type Periods struct {
	*Times
	Unit  string   // one of [Units]
	known []Period // in order
}

// begin returns the first second of the period of t, and of the next one.
func (ps *Periods) begin(t int64) (from, next int64) {
	const day = 24 * 60 * 60
	size := int64(day)
	switch at := time.Unix(t, 0).UTC(); ps.Unit {
	case "hour":
		size = 60 * 60
	case "week":
		from = t - ((t/day+3)%7)*day - t%day // 1970-01-01 was a Thursday
		return from, from + 7*day
	case "month":
		month := time.Date(at.Year(), at.Month(), 1, 0, 0, 0, 0, time.UTC)
		return month.Unix(), month.AddDate(0, 1, 0).Unix()
	}
	from = t - t%size
	return from, from + size
}

// Of returns the period of the block at h. Genesis belongs to the first block.
func (ps *Periods) Of(h model.HeightPk) (Period, error) {
	h = max(h, ps.Begin())
	n, found := slices.BinarySearchFunc(ps.known, h, func(p Period, h model.HeightPk) int {
		switch {
		case p.Last < h:
			return -1
		case p.First > h:
			return 1
		}
		return 0
	})
	if found {
		return ps.known[n], nil
	}
	t, err := ps.At(h)
	if err != nil {
		return Period{}, err
	}
	p := Period{First: ps.Begin()}
	for p.From, p.To = ps.begin(t); ; p.From, p.To = ps.begin(p.From - 1) {
		before, ok, err := ps.Last(p.From - 1)
		if err != nil {
			return Period{}, err
		}
		if ok && before >= h { // a later block has a time before the period
			continue
		}
		if ok {
			p.First = before + 1
		}
		break
	}
	p.To--
	if p.Last, _, err = ps.Last(p.To); err != nil {
		return Period{}, err
	}
	ps.known = slices.Insert(ps.known, n, p)
	return p, nil
}
