package query

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"birthmark/core/query/blocktime"
	"birthmark/core/query/setops"
	"birthmark/core/schema"
	"birthmark/model"
)

// Range is a part of the chain, including both ends. The zero Range is the whole chain.
//
// Times are unix seconds. They select the blocks from the first whose time is not before FromTime to the last whose
// time is not after ToTime, including blocks between them whose time is out of order (Bitcoin). Genesis belongs to
// height 0.
type Range struct {
	FromHeight, ToHeight *model.HeightPk
	FromTime, ToTime     *int64
}

// String formats the range for errors and cursors. Different ranges have different texts.
func (r Range) String() string {
	var parts []string
	height := func(what string, h *model.HeightPk) {
		if h != nil {
			parts = append(parts, fmt.Sprintf("%s height %d", what, *h))
		}
	}
	at := func(what string, t *int64) {
		if t != nil {
			parts = append(parts, fmt.Sprintf("%s %s", what, time.Unix(*t, 0).UTC().Format(time.RFC3339)))
		}
	}
	height("from", r.FromHeight)
	height("to", r.ToHeight)
	at("from", r.FromTime)
	at("to", r.ToTime)
	return strings.Join(parts, ", ")
}

// Span returns the positions of a range. A range whose start is after its end (bad_range), or which contains no block
// (empty_range), is a Usage error.
func (q *Query) Span(r Range) (setops.Span, error) {
	if r == (Range{}) {
		return setops.Everywhere, nil
	}
	if r.FromHeight != nil && r.ToHeight != nil && *r.FromHeight > *r.ToHeight || r.FromTime != nil && r.ToTime != nil && *r.FromTime > *r.ToTime {
		return setops.Span{}, model.Errorf(model.Usage, "bad_range", "%s: the range ends before it begins", r)
	}
	from, to := model.HeightPk(0), model.HeightPk(model.MaxHeight)
	if r.FromHeight != nil {
		from = *r.FromHeight
	}
	if r.ToHeight != nil {
		to = *r.ToHeight
	}
	found := !q.Tip.IsOrigin()
	if found && (r.FromTime != nil || r.ToTime != nil) {
		c, err := blocktime.New(&q.Reader)
		if err != nil {
			return setops.Span{}, err
		}
		if r.FromTime != nil {
			h, ok, err := c.First(*r.FromTime)
			if err != nil {
				return setops.Span{}, err
			}
			from, found = max(from, h), ok
		}
		if r.ToTime != nil {
			h, ok, err := c.Last(*r.ToTime)
			if err != nil {
				return setops.Span{}, err
			}
			to, found = min(to, h), found && ok
		}
	}
	if !found || from > to || from > q.Tip.Height {
		return setops.Span{}, model.Errorf(model.Usage, "empty_range", "%s: the chain has no such block: %s", r, q.extent())
	}
	return setops.Span{First: model.UtxoPk(q.FirstPk(from)), Last: q.LastPk(to)}, nil
}

// extent describes the tip of the chain, for errors.
func (q *Query) extent() string {
	if q.Tip.IsOrigin() {
		return "the database has no blocks yet"
	}
	row, err := schema.BlockAt(q.R, q.Tip.Height)
	if err != nil {
		return fmt.Sprintf("its tip is %d", q.Tip.Height)
	}
	return fmt.Sprintf("its tip is %d, %s", q.Tip.Height, time.Unix(row.Time, 0).UTC().Format(time.RFC3339))
}

// ParseTime parses Unix seconds, a time in the format of RFC 3339, or a date in UTC. end selects the last second of a date,
// else it is the first.
func ParseTime(text string, end bool) (unix int64, ok bool) {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return n, n >= 0
	}
	if t, err := time.Parse(time.RFC3339, text); err == nil {
		return t.Unix(), true
	}
	t, err := time.Parse(time.DateOnly, text)
	if err == nil && end {
		t = t.Add(24*time.Hour - time.Second)
	}
	return t.Unix(), err == nil
}
