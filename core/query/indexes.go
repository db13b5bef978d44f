package query

import (
	"context"

	"birthmark/core/schema"
)

// IndexState is an index of the database, and what is being done to it.
type IndexState struct {
	IndexAnswer
	Adding   []string `json:"adding,omitempty"` // values, or options
	AddedTo  *uint32  `json:"added_to,omitempty"`
	Of       *uint32  `json:"of,omitempty"`
	Dropping bool     `json:"dropping,omitempty"`
}

// IndexStates are the indexes of the database in the order of their numbers, those that are being added or dropped
// included.
func (ask Queries) IndexStates(ctx context.Context) (states []IndexState, err error) {
	err = ask.From(ctx, func(q *Query) error {
		for _, x := range q.All {
			s := IndexState{IndexAnswer: indexAnswer(x, &q.Totals), Dropping: x.Dropped(), Adding: x.Building.Names()}
			if w := q.work; w != nil && w.Index == x && x.Building != 0 {
				of := uint32(q.Tip.Height)
				s.Of = &of
				if to := uint32(w.BuiltTo.Height); !w.BuiltTo.IsOrigin() {
					s.AddedTo = &to
				}
				if x.Building.Has(schema.FeatureValues) {
					s.Values = w.Rows[x.Family(schema.IndexValue)]
				}
			}
			states = append(states, s)
		}
		return nil
	})
	return states, err
}
