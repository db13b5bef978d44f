package query

import (
	"fmt"
	"strings"
	"time"

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
func (q *Query) Span(r Range) (Span, error) {
	if r == (Range{}) {
		return everywhere, nil
	}
	if r.FromHeight != nil && r.ToHeight != nil && *r.FromHeight > *r.ToHeight || r.FromTime != nil && r.ToTime != nil && *r.FromTime > *r.ToTime {
		return Span{}, model.Errorf(model.Usage, "bad_range", "%s: the range ends before it begins", r)
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
		c, err := q.medianTimes()
		if err != nil {
			return Span{}, err
		}
		if r.FromTime != nil {
			h, ok, err := c.first(*r.FromTime)
			if err != nil {
				return Span{}, err
			}
			from, found = max(from, h), ok
		}
		if r.ToTime != nil {
			h, ok, err := c.last(*r.ToTime)
			if err != nil {
				return Span{}, err
			}
			to, found = min(to, h), found && ok
		}
	}
	if !found || from > to || from > q.Tip.Height {
		return Span{}, model.Errorf(model.Usage, "empty_range", "%s: the chain has no such block: %s", r, q.extent())
	}
	return Span{model.UtxoPk(from.First()), to.Last()}, nil
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

// Span is the positions from First to Last, both included; it is empty if First > Last.
type Span struct{ First, Last model.UtxoPk }

// everywhere contains every position.
var everywhere = Span{0, 1<<64 - 1}

func (s Span) Empty() bool { return s.First > s.Last }

func (s Span) has(pk model.UtxoPk) bool { return s.First <= pk && pk <= s.Last }

// after returns the part of s that follows pk in the given order.
func (s Span) after(pk model.UtxoPk, descending bool) Span {
	switch {
	case descending && pk == 0, !descending && pk == everywhere.Last:
		return Span{1, 0}
	case descending:
		s.Last = min(s.Last, pk-1)
	default:
		s.First = max(s.First, pk+1)
	}
	return s
}

// Spans of transactions start and end at transaction boundaries.

func (s Span) hasTx(tx model.TxPk) bool { return s.has(model.UtxoPk(tx)) }

// AfterTx returns the part of s that follows a transaction in the given order.
func (s Span) AfterTx(tx model.TxPk, descending bool) Span {
	if descending {
		return s.after(model.UtxoPk(tx), true)
	}
	return s.after(model.UtxoPk(tx)|model.MaxIndex, false)
}
