package query

import (
	"context"

	"birthmark/model"
)

// Locator returns points of the database's chain, newest first: the blocks that a reorganization can orphan (at least
// ten), then blocks at doubling distances down to the first block.
func (qs Queries) Locator(ctx context.Context) (points []model.Point, err error) {
	err = qs.View(ctx, func(v *View) error {
		if !v.Tip.IsOrigin() {
			points, err = v.Ancestors(ctx, v.Tip, max(10, v.at.Traits.DeepestFork))
		}
		return err
	})
	return points, err
}
