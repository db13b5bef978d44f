package core_test

import (
	"math/big"
	"slices"
	"testing"

	"birthmark/core/query"
	"birthmark/core/query/richest"
	"birthmark/internal/testrun"
	"birthmark/internal/testseed"
	"birthmark/model"
	"birthmark/model/modeltest"
	"birthmark/storage/memory"
)

// richestOf returns the largest holders of an asset, computed from all outputs.
func (r *reference) richestOf(index int, asset string, limit int) *query.RichestAnswer {
	x := r.indexes[index]
	a := &query.RichestAnswer{Index: x.Name, Asset: r.chain.FormatAsset([]byte(asset)), Values: []query.RichestValueAnswer{}}
	type holder struct {
		value string
		held  *big.Int
		n     uint64
	}
	var holders []holder
	for _, value := range r.values(index) {
		h := holder{value: x.Format([]byte(value)), held: new(big.Int)}
		for _, o := range r.where(index, value) {
			has := false
			for _, e := range o.Assets {
				if o.spentBy == nil && string(e.ID) == asset && e.Amount > 0 {
					h.held.Add(h.held, new(big.Int).SetUint64(e.Amount))
					has = true
				}
			}
			if has {
				h.n++
			}
		}
		if h.n > 0 {
			holders = append(holders, h)
		}
	}
	slices.SortStableFunc(holders, func(a, b holder) int { return b.held.Cmp(a.held) })
	for _, h := range holders[:min(limit, len(holders))] {
		a.Values = append(a.Values, query.RichestValueAnswer{Value: h.value, Balance: h.held.String(), UnspentCount: &h.n})
	}
	return a
}

func TestRichestOfAnAssetAreItsHolders(t *testing.T) {
	testrun.Slow(t)
	variants(t, func(t *testing.T, v modeltest.Variant) {
		blocks := v.NewGenerator(testseed.Of(t, 780)).Blocks(20)
		r := newReference(v, blocks)
		db := open(t, memory.New(), v, 0)
		appendAll(t, db, blocks, 7)
		found := 0
		for _, asset := range r.assetOrder() {
			for i, x := range r.indexes {
				for _, limit := range []int{1, 3, 1000} {
					want := r.richestOf(i, asset, limit)
					found += len(want.Values)
					got, err := richest.Of(t.Context(), db.Queries, x.Name, r.chain.FormatAsset([]byte(asset)), limit)
					agree(t, "richest "+x.Name, got, err, want)

					// Large assets: the holdings are read, and outputs are not counted.
					counted := richest.CountedOutputs
					richest.CountedOutputs = 0
					got, err = richest.Of(t.Context(), db.Queries, x.Name, r.chain.FormatAsset([]byte(asset)), limit)
					richest.CountedOutputs = counted
					if x.Name == "address" {
						for i := range want.Values {
							want.Values[i].UnspentCount = nil
						}
					}
					agree(t, "richest holders "+x.Name, got, err, want)
				}
			}
		}
		if found == 0 {
			t.Error("no asset has a holder")
		}
		for asset, want := range map[string]string{"ffffff": "unknown_asset", "colour": "bad_value"} {
			if _, err := richest.Of(t.Context(), db.Queries, "address", asset, 3); code(err) != want {
				t.Errorf("richest of asset %s: %v", asset, err)
			}
		}
		if _, err := richest.Of(t.Context(), db.Queries, "colour", "", 3); kind(err) != model.Usage {
			t.Errorf("richest of an unknown index: %v", err)
		}
		consistent(t, db)
	})
}
