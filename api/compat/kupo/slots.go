package kupo

import (
	"net/http"

	"birthmark/core/query/setops"
	"birthmark/model"
)

// between returns the positions in the blocks of a range of slots.
func (v *view) between(b bounds) (s setops.Span, err error) {
	s = setops.Everywhere
	if b.from != nil {
		if err := v.verify(b.from); err != nil {
			return s, err
		}
		if b.from.slot > 0 {
			h, ok, err := v.LastUntil(b.from.slot - 1)
			if err != nil {
				return s, err
			}
			if ok {
				s.First = model.UtxoPk(v.Q.FirstPk(h + 1))
			}
		}
	}
	if b.to != nil {
		if err := v.verify(b.to); err != nil {
			return s, err
		}
		h, ok, err := v.LastUntil(b.to.slot)
		if err != nil {
			return s, err
		}
		if !ok {
			return setops.Span{First: 1, Last: 0}, nil
		}
		s.Last = v.Q.LastPk(h)
	}
	return s, nil
}

// verify returns an error if a bound names a block that the chain does not have.
func (v *view) verify(at *slotOrPoint) error {
	if at.hash == nil {
		return nil
	}
	h, ok, err := v.LastUntil(at.slot)
	if err != nil {
		return err
	}
	if !ok {
		return errPoint
	}
	p, err := v.Point(h)
	if err != nil || p.Slot == at.slot && p.Hash == *at.hash {
		return err
	}
	return &hint{
		status: http.StatusBadRequest,
		Text: "the chain has no block " + at.hash.String() + " at that slot: a fork may have replaced it; " +
			"details has the block before",
		Details: map[string]any{"ancestor": map[string]any{"slot_no": p.Slot, "header_hash": p.Hash.String()}},
	}
}

// checkpoints returns some points of the chain.
func checkpoints(*request) answer {
	return func(v *view) (any, error) {
		all := []pointValue{}
		if v.tip == nil {
			return all, nil
		}
		last := model.HeightPk(model.MaxHeight)
		for _, distance := range checkpointDistances {
			h, err := v.FirstFrom(v.tip.Slot - min(v.tip.Slot, distance))
			if err != nil {
				return nil, err
			}
			if h == last {
				continue
			}
			last = h
			p, err := v.Point(h)
			if err != nil {
				return nil, err
			}
			all = append(all, pointOf(p))
		}
		return all, nil
	}
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
func checkpoint(r *request) answer {
	slot, ps := slotArg(r), parameters(r.URL.RawQuery)
	strict := len(ps) == 1 && ps[0] == parameter{name: "strict", flag: true}
	if len(ps) > 0 && !strict {
		r.Refuse(errStrict)
	}
	return func(v *view) (any, error) {
		h, ok, err := v.LastUntil(slot)
		if !ok || err != nil {
			return nil, err
		}
		p, err := v.Point(h)
		if err != nil || strict && p.Slot != slot {
			return nil, err
		}
		found := pointOf(p)
		return &found, nil
	}
}
