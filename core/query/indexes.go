package query

import (
	"context"
	"slices"

	"birthmark/core/schema"
)

// IndexState is an index of the database and the state of its backfill or removal.
type IndexState struct {
	IndexAnswer
	Adding   []string `json:"adding,omitempty"` // features that are being backfilled
	AddedTo  *uint32  `json:"added_to,omitempty"`
	Of       *uint32  `json:"of,omitempty"`
	Dropping bool     `json:"dropping,omitempty"`
}

// IndexNames returns the names of the indexes of outputs.
func (v *View) IndexNames() []string { return v.at.Names() }

// IndexStates returns the indexes of the database in the order of their numbers, including indexes that are being
// added or dropped.
func (qs Queries) IndexStates(ctx context.Context) ([]IndexState, error) {
	return qs.indexStates(ctx, func(q *Query) []*schema.Index { return q.All })
}

// AssetsKind is the kind in [IndexState] of rules that derive assets.
const AssetsKind = "assets"

// IndexStatesWithRaw is IndexStates with raw transactions or their places, and rules that derive assets, if the database
// has them or they are being added or dropped.
func (qs Queries) IndexStatesWithRaw(ctx context.Context) ([]IndexState, error) {
	return qs.indexStates(ctx, func(q *Query) []*schema.Index {
		all := slices.Clip(q.All)
		for _, x := range []*schema.Index{q.Layout.RawTxs, q.Layout.RawPlaces, q.Layout.Rules} {
			if !x.Dropped() || q.Change != nil && q.Change.Index == x {
				all = append(all, x)
			}
		}
		return all
	})
}

func (qs Queries) indexStates(ctx context.Context, of func(*Query) []*schema.Index) ([]IndexState, error) {
	return read(ctx, qs, func(q *Query) (states []IndexState, err error) {
		for _, x := range of(q) {
			s := IndexState{IndexAnswer: indexAnswer(x, &q.Totals), Dropping: x.Dropped(), Adding: x.Building.Names()}
			if w := q.Change; w != nil && w.Index == x && x.Building != 0 {
				of := uint32(q.Tip.Height)
				s.Of = &of
				if to := uint32(w.BuiltTo.Height); !w.BuiltTo.IsOrigin() {
					s.AddedTo = &to
				}
				if x.IsRules() {
					s.Values = w.Rows[schema.FamilyAssetID]
				} else if x.IsRaw() {
					s.Values = w.Rows[schema.FamilyRaw]
				} else if x.Building.Has(schema.FeatureValues) {
					s.Values = w.Rows[x.Family(schema.IndexValue)] + w.Rows[x.Family(schema.IndexBlocks)] + w.Rows[x.Family(schema.IndexSums)]
				}
			}
			states = append(states, s)
		}
		return states, nil
	})
}
