package core

import (
	"context"

	"birthmark/model"
)

// Locator is points of the database's chain, newest first: those that a fork can take off it, or the last ten, then
// thinning out towards its beginning.
func (db *DB) Locator(ctx context.Context) ([]model.Point, error) {
	tip := db.Tip()
	if tip.IsOrigin() {
		return nil, nil
	}
	return db.ancestors(ctx, tip, max(10, db.chain.Traits().DeepestFork))
}
