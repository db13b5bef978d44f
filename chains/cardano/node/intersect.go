package node

import (
	"context"
	"slices"

	"birthmark/chains/blocksource"
	"birthmark/chains/cardano/ouroboros"
	"birthmark/model"
)

const (
	// denseOffers is how many of the newest points a search offers without gaps. The gaps between older points grow by
	// a tenth of the distance to the newest.
	denseOffers = 50
	offerGap    = 10
)

// intersect returns how many of a chain's points, oldest first, the node has, and the node's tip. The connection then
// continues after the last of them. It offers points newest first, with growing gaps, in messages of bounded size; then
// the points between the newest common one and the oldest that the node lacks.
func intersect(ctx context.Context, c *ouroboros.Conn, points []model.Point) (n int, tip ouroboros.Tip, err error) {
	low, high := 0, len(points) // points[:low] are shared, points[high:] are not
	offered := thinOut(high)
	for {
		message := make([]ouroboros.Point, 0, len(offered)+2)
		for _, i := range offered {
			message = append(message, wirePoint(points[i]))
		}
		if low > 0 {
			message = append(message, wirePoint(points[low-1]))
		}
		at, tip, err := c.Intersect(ctx, append(message, ouroboros.Point{}))
		if err != nil {
			return 0, tip, err
		}
		found := slices.Index(message, at)
		if found < 0 {
			if low > 0 {
				return 0, tip, blocksource.Temporary(model.Errorf(model.BadSource, "unknown_point", "the node's chain changed while it was searched"))
			}
			found = len(offered)
		}
		if found < len(offered) {
			low = offered[found] + 1
		}
		if found > 0 {
			high = offered[found-1]
		}
		if low == high {
			return low, tip, nil
		}
		offered = spread(low, high)
	}
}

func wirePoint(p model.Point) ouroboros.Point { return ouroboros.Point{Slot: p.Slot, Hash: p.Hash} }

// thinOut returns positions below n, newest first: all of the newest ones, then fewer and fewer, and the first one.
func thinOut(n int) (at []int) {
	for i, back := n-1, 0; i >= 0; i = n - 1 - back {
		at = append(at, i)
		if i == 0 {
			break
		}
		back = min(back+max(1, (back-denseOffers)/offerGap), n-1)
	}
	return at
}

// spread returns positions from low on, below high, newest first: all of them, or as many as a message may have.
func spread(low, high int) (at []int) {
	step := (high-low-1)/ouroboros.MaxPoints + 1
	for i := high - 1; i >= low; i -= step {
		at = append(at, i)
	}
	return at
}
