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

// ancestors are points of the chain, newest first: p, the dense ones below it, then thinning out.
func (ask Queries) ancestors(ctx context.Context, p model.Point, dense int) ([]model.Point, error) {
	points := []model.Point{p}
	step := model.HeightPk(1)
	for h := p.Height; h >= step; {
		h -= step
		p, err := ask.PointAt(ctx, h)
		if kind, _ := model.KindOf(err); kind == model.NotFound {
			break // the chain begins above h
		}
		if err != nil {
			return nil, err
		}
		if points = append(points, p); len(points) > dense {
			step *= 2
		}
	}
	return points, nil
}
