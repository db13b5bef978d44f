package kupo

import (
	"net/http"

	"birthmark/core/query/setops"
	"birthmark/model"
)

// span returns the positions in the blocks of a range of slots.
func (q *request) span(b bounds) (s setops.Span, err error) {
	s = setops.Everywhere
	if b.from != nil {
		if err := q.verify(b.from); err != nil {
			return s, err
		}
		if b.from.slot > 0 {
			h, ok, err := q.LastUntil(b.from.slot - 1)
			if err != nil {
				return s, err
			}
			if ok {
				s.First = model.UtxoPk((h + 1).First())
			}
		}
	}
	if b.to != nil {
		if err := q.verify(b.to); err != nil {
			return s, err
		}
		h, ok, err := q.LastUntil(b.to.slot)
		if err != nil {
			return s, err
		}
		if !ok {
			return setops.Span{First: 1, Last: 0}, nil
		}
		s.Last = h.Last()
	}
	return s, nil
}

// verify returns an error if a bound names a block that the chain does not have.
func (q *request) verify(at *slotOrPoint) error {
	if at.hash == nil {
		return nil
	}
	h, ok, err := q.LastUntil(at.slot)
	if err != nil {
		return err
	}
	if !ok {
		return errPoint
	}
	p, err := q.Point(h)
	if err != nil || p.Slot == at.slot && p.Hash == *at.hash {
		return err
	}
	ancestor := map[string]any{"slot_no": p.Slot, "header_hash": p.Hash.String()}
	return &hint{
		status: http.StatusBadRequest,
		Text: "the chain has no block " + at.hash.String() + " at that slot: a fork may have replaced it; " +
			"details has the block before",
		Details: map[string]any{"ancestor": ancestor},
	}
}

// checkpoints answers some points of the chain, or the one at or before a slot.
func (q *request) checkpoints(args []string) error {
	if len(args) > 1 {
		return errNoEndpoint
	}
	if len(args) == 1 {
		return q.checkpoint(args[0])
	}
	if q.Q.Tip.IsOrigin() {
		q.add("[]")
		return nil
	}
	tip, err := q.Point(q.Q.Tip.Height)
	if err != nil {
		return err
	}
	q.add("[")
	last := model.HeightPk(model.MaxHeight)
	for _, distance := range checkpointDistances {
		h, err := q.FirstFrom(tip.Slot - min(tip.Slot, distance))
		if err != nil {
			return err
		}
		if h == last {
			continue
		}
		p, err := q.Point(h)
		if err != nil {
			return err
		}
		if last <= q.Q.Tip.Height {
			q.add(",")
		}
		last = h
		q.addPoint(p)
		q.add("}")
	}
	q.add("]")
	return nil
}

// checkpointDistances are the slots between the tip and the points that checkpoints lists: a few near the tip, then
// twice as far each, up to the depth of the deepest reorganization.
var checkpointDistances = func() []uint64 {
	const deepest = 129_600 // slots: 3 k / f
	distances := []uint64{0, 10, 20, 30}
	for d := uint64(deepest >> 11); d <= deepest; d *= 2 {
		distances = append(distances, d)
	}
	return append(distances, deepest)
}()

// checkpoint returns the newest block at or before a slot, or with strict the one at the slot; null without one.
func (q *request) checkpoint(text string) error {
	slot, ok := readSlot(text)
	if !ok {
		return errSlot
	}
	ps := parameters(q.r.URL.RawQuery)
	strict := len(ps) == 1 && ps[0] == parameter{name: "strict", flag: true}
	if len(ps) > 0 && !strict {
		return errStrict
	}
	h, ok, err := q.LastUntil(slot)
	if err != nil {
		return err
	}
	if ok {
		p, err := q.Point(h)
		if err != nil {
			return err
		}
		if !strict || p.Slot == slot {
			q.addPoint(p)
			q.add("}")
			return nil
		}
	}
	q.add("null")
	return nil
}
