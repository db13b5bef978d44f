package ledger

import (
	"cmp"
	"slices"
	"testing"

	"birthmark/core/schema"
	"birthmark/internal/testseed"
	"birthmark/model"
)

// Deltas of assets with few and with many holders have the order of a stable sort, and their sums that of the rows.
func TestDeltasOfAssetsAreSorted(t *testing.T) {
	for _, holders := range []int{200, 700} { // one and two bytes: the result of the radix sort changes places
		sorted(t, holders)
	}
}

func sorted(t *testing.T, holders int) {
	t.Helper()
	rng := testseed.Rand(t)
	var d AssetDeltas
	var held Deltas
	held.Features, held.Sign = schema.FeatureBalance, 1
	for at := range 5000 {
		entry := schema.AssetEntry{Birth: model.AssetBirthPk{Utxo: model.UtxoPk(rng.IntN(40) * rng.IntN(2)), Index: uint16(rng.IntN(2))}}
		entry.Amount = model.Uint128Of(rng.Uint64())
		holder := model.BirthPk{Utxo: model.UtxoPk(rng.IntN(holders)), Ordinal: uint16(rng.IntN(2))}
		d.AddOutput(model.UtxoPk(at), &OutputAssets{Entries: []schema.AssetEntry{entry}, Holder: holder, HasHolder: true}, 1, 1)
		held.AddAssets(holder, []schema.AssetEntry{entry}, 1)
	}
	keys := d.order()
	want := slices.Clone(keys)
	slices.SortFunc(want, func(a, b entryKey) int { return cmp.Compare(a.at, b.at) })
	slices.SortStableFunc(want, func(a, b entryKey) int {
		return cmp.Or(cmp.Compare(a.asset, b.asset), cmp.Compare(a.index, b.index), cmp.Compare(a.holder, b.holder))
	})
	if !slices.Equal(keys, want) {
		t.Error("the deltas are not in the order of assets and holders")
	}
	sums := map[schema.HoldingKey]schema.HeldChange{}
	for i := range held.assets.n {
		h := held.assets.at(i)
		sums[h.HoldingKey] = sums[h.HoldingKey].Add(h.amount)
	}
	held.Sort()
	if len(held.held) != len(sums) {
		t.Errorf("%d sums, expected %d", len(held.held), len(sums))
	}
	for i, h := range held.held {
		if h.amount != sums[h.HoldingKey] {
			t.Errorf("%v: %v, expected %v", h.HoldingKey, h.amount, sums[h.HoldingKey])
		}
		if i > 0 && cmp.Or(schema.CompareBirths(held.held[i-1].Holder, h.Holder), schema.CompareAssetBirths(held.held[i-1].Asset, h.Asset)) >= 0 {
			t.Fatalf("%v follows %v", h.HoldingKey, held.held[i-1].HoldingKey)
		}
	}
}
