package query

import (
	"context"

	"birthmark/model"
)

// Locator is points of the database's chain, newest first: those that a fork can take off it, or the last ten, then
// thinning out towards its beginning.
func (ask Queries) Locator(ctx context.Context) (points []model.Point, err error) {
	err = ask.View(ctx, func(v *View) error {
		if !v.Tip.IsOrigin() {
			points, err = v.Ancestors(ctx, v.Tip, max(10, v.at.Traits.DeepestFork))
		}
		return err
	})
	return points, err
}
