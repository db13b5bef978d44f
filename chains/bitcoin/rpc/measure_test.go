package rpc

import (
	"testing"

	"birthmark/model"
)

func TestMeasureCountsTransactions(t *testing.T) {
	f := newFake(t, 6)
	measures := func(what string, c *Client, after model.Point, to model.HeightPk, want model.Extent) {
		t.Helper()
		if got, err := c.Measure(t.Context(), after, to); err != nil || got != want {
			t.Errorf("%s: %+v (%v), expected %+v", what, got, err, want)
		}
	}
	measures("not Core", f.client("", nil), model.Point{}, 5, model.Extent{})
	f.set(func() { f.txs = []uint64{1, 2, 5, 9, 100, 300} })
	measures("from the origin", f.client("", nil), model.Point{}, 5, model.Extent{Txs: true, Total: 300})
	measures("a part", f.client("", nil), f.point(2), 4, model.Extent{Txs: true, Done: 5, Total: 100})
	measures("an unknown block", f.client("", nil), model.Point{Height: 2, Hash: model.Hash{7}}, 5, model.Extent{})
	measures("above the tip", f.client("", nil), model.Point{}, 6, model.Extent{})
	f.set(func() { f.rest, f.auth = true, "user:"+password })
	measures("REST", f.client("", nil), model.Point{}, 5, model.Extent{})
	measures("REST and RPC", f.client("user:"+password+"@", nil), model.Point{}, 5, model.Extent{Txs: true, Total: 300})
}
