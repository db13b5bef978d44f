package node

import (
	"math/rand/v2"
	"testing"

	"birthmark/chains/cardano/ouroboros"
	"birthmark/internal/testnode/cardanotest"
	"birthmark/internal/testnode/ouroborostest"
	"birthmark/model"
)

func TestOfferedPointsThinOut(t *testing.T) {
	for _, n := range []int{0, 1, 2, 49, 50, 51, 60, 61, 100, 2161, 40_000, 13_000_000} {
		at := thinOut(n)
		if n == 0 {
			if len(at) > 0 {
				t.Errorf("no points: %v are offered", at)
			}
			continue
		}
		if at[0] != n-1 || at[len(at)-1] != 0 || len(at) > 300 {
			t.Fatalf("%d points: %d are offered, from %d to %d", n, len(at), at[0], at[len(at)-1])
		}
		for i := 1; i < len(at); i++ {
			gap, back := at[i-1]-at[i], n-1-at[i-1]
			if gap < 1 || gap > 1 && gap > back/offerGap {
				t.Errorf("%d points: point %d follows %d", n, at[i], at[i-1])
			}
		}
	}
	for _, c := range []struct{ low, high int }{{0, 1}, {5, 6}, {5, 1005}, {5, 1006}, {0, 100_000}} {
		at := spread(c.low, c.high)
		if at[0] != c.high-1 || at[len(at)-1] < c.low || len(at) > ouroboros.MaxPoints {
			t.Errorf("%v: %d points are offered, from %d to %d", c, len(at), at[0], at[len(at)-1])
		}
		if c.high-c.low <= ouroboros.MaxPoints && len(at) != c.high-c.low {
			t.Errorf("%v: %d points are offered", c, len(at))
		}
	}
}

// Finding an intersection takes two requests, for any selection of known points.
func TestIntersect(t *testing.T) {
	trunk := cardanotest.Branch(t, nil, 2200, 0)
	other := cardanotest.Branch(t, nil, 10, 9)
	n := ouroborostest.Start(t, 2, trunk)
	cardanotest.EachTransport(t, n, func(t *testing.T, uri string) {
		s := sourceOf(t, uri, model.SourceOptions{})
		c, _, err := s.conn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		r := rand.New(rand.NewPCG(7, 7))
		for range 60 {
			keep := r.IntN(len(trunk) + 1)
			n.Switch(0, cardanotest.Replace(trunk, keep, other...)...)
			var points []model.Point // a random selection of the chain
			shared := 0
			for i, b := range trunk {
				if r.IntN(4) == 0 {
					points = append(points, model.Point{Height: model.HeightPk(i), Slot: b.Slot, Hash: b.Hash})
					if i < keep {
						shared++
					}
				}
			}
			asked := n.Asked()["find intersect"]
			got, tip, err := intersect(t.Context(), c, points)
			if err != nil || got != shared || tip.Hash != other[len(other)-1].Hash {
				t.Errorf("%d of %d points are shared, expected %d, %v", got, len(points), shared, err)
			}
			if asked = n.Asked()["find intersect"] - asked; asked > 2 {
				t.Errorf("%d requests for %d points", asked, len(points))
			}
		}
		if got, _, err := intersect(t.Context(), c, nil); err != nil || got != 0 {
			t.Error(got, err)
		}
	})
}
