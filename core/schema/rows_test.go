package schema

import (
	"bytes"
	"math/big"
	"math/rand/v2"
	"reflect"
	"testing"

	"birthmark/model"
)

// rowLayout returns a layout with one index of each kind whose numbers differ from their positions.
func rowLayout() *Layout {
	c := &Layout{next: 201, All: []*Index{
		{model.Index{Name: "many", Kind: model.OneToMany}, 1, FeatureValues | FeatureBalance, 0},
		{model.Index{Name: "one", Kind: model.OneToOne}, 3, FeatureValues, FeaturePrefix},
		{model.Index{Name: "list", Kind: model.ManyValued, Custom: true, When: "a", Value: "b"}, 200, FeatureValues, 0},
	}}
	c.Arrange()
	return c
}

func randomUtxo(rng *rand.Rand) model.UtxoPk { return model.UtxoPk(rng.Uint64() >> rng.IntN(64)) }

// Every encoder and decoder pair round-trips.
func TestRowsRoundTrip(t *testing.T) {
	const seed = 7
	rng := rand.New(rand.NewPCG(seed, 0))
	layout := rowLayout()
	same := func(what string, got, want any, err error) {
		t.Helper()
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Fatalf("seed %d: %s: read %+v, wrote %+v (%v)", seed, what, got, want, err)
		}
	}
	for range 2_000 {
		var hash, parent model.Hash
		for i := range hash {
			hash[i], parent[i] = byte(rng.Uint32()), byte(rng.Uint32())
		}
		block := BlockRow{hash, parent, int64(rng.Uint64()), rng.Uint64() >> rng.IntN(64), rng.IntN(1 << 20), rng.IntN(1 << 30), []byte{1, 2, 3}}
		gotBlock, err := ParseBlockRow(AppendBlockRow(nil, &block))
		same("block", gotBlock, block, err)

		h, time, err := ParseHeightRow(AppendHeightRow(nil, 77, block.Time))
		same("height", []any{h, time}, []any{model.HeightPk(77), block.Time}, err)

		fee := model.Fee{Stated: rng.IntN(2) == 0}
		if fee.Stated {
			fee.Amount = rng.Uint64() >> rng.IntN(64)
		}
		gotHash, gotFee, err := ParseTxHashRow(AppendTxHashRow(nil, &hash, fee))
		same("tx hash", []any{gotHash, gotFee}, []any{hash, fee}, err)

		pk := randomUtxo(rng)
		row := UtxoRow{Value: rng.Uint64() >> rng.IntN(64)}
		b := AppendUtxoValue(nil, row.Value)
		for _, x := range layout.Indexes {
			o := Occurrence{x, model.BirthPk{Utxo: pk - model.UtxoPk(rng.Uint64N(uint64(pk)+1))}}
			if x.Kind.HasOrdinal() {
				o.Birth.Ordinal = uint16(rng.Uint32())
			}
			row.Occurrences = append(row.Occurrences, o)
			b = AppendOccurrence(b, pk, x, o.Birth)
			birth, at, err := ParseRelationKey(x, AppendRelationKey(nil, x, o.Birth, pk))
			same("relation", []any{birth, at}, []any{o.Birth, pk}, err)
		}
		gotRow, err := layout.ParseUtxoRow(pk, b)
		same("output", gotRow, row, err)

		entries := []AssetEntry{
			{rng.Uint64() | 1, model.AssetBirthPk{Utxo: pk, Index: 0}, true},
			{1, model.AssetBirthPk{Utxo: pk / 2, Index: 1<<16 - 1}, false},
		}
		b = nil
		for _, e := range entries {
			b = AppendAssetEntry(b, pk, e)
		}
		gotEntries, err := ParseAssetsRow(pk, b)
		same("assets", gotEntries, entries, err)

		amount := new(big.Int).SetUint64(rng.Uint64() | 1)
		if rng.IntN(2) == 0 {
			amount.Mul(amount, amount).Neg(amount)
		}
		gotAmount, err := ParseSupplyRow(AppendSupplyRow(nil, amount))
		same("supply", gotAmount.String(), amount.String(), err)

		birth, tx, err := ParseSupplyKey(AppendSupplyKey(nil, entries[1].Birth, pk.Tx()))
		same("supply key", []any{birth, tx}, []any{entries[1].Birth, pk.Tx()}, err)

		at := model.AssetPk{Utxo: pk, Index: 9}
		birth, gotAt, err := ParseAssetRelationKey(AppendAssetRelationKey(nil, entries[0].Birth, at))
		same("asset relation", []any{birth, gotAt}, []any{entries[0].Birth, at}, err)

		lost := OrphanRow{model.HeightPk(rng.IntN(model.MaxHeight + 1)), hash, block.Time, int64(rng.Uint64()), 1 + rng.IntN(1<<20)}
		gotLost, err := parseOrphanRow(AppendOrphanRow(nil, &lost))
		same("lost block", gotLost, lost, err)
		number, err := ParseOrphanKey(OrphanKey(block.Slot))
		same("lost_pk", number, block.Slot, err)

		point := model.Point{Height: 5, Hash: hash, Slot: block.Slot}
		gotPoint, err := ParseTip(AppendTip(nil, point))
		same("tip", gotPoint, point, err)
	}
	hash := model.Hash{1, 2, 3, 4, 5, 6, 7, 8, 9}
	head, pk, err := ParsePrefixKey(AppendTxPkKey(nil, &hash, 3<<38), model.PkSize)
	if err != nil || !bytes.Equal(head, hash[:8]) || !bytes.Equal(pk, model.TxPk(3<<38).AppendTo(nil)) {
		t.Errorf("key of a hash: read %x and %x, %v", head, pk, err)
	}
	if _, _, err := ParsePrefixKey(AppendTxPkKey(nil, &hash, 3<<38), model.PkOrdinalSize); err == nil {
		t.Error("a key of a hash is read as one with a wide pointer")
	}
}

// FuzzRows: decoders do not panic on any input, and re-encoding a decoded row yields the same bytes.
func FuzzRows(f *testing.F) {
	f.Add([]byte{})
	f.Add(AppendTxPkKey(nil, &model.Hash{1, 2}, 1<<38))
	f.Add(AppendBlockRow(nil, &BlockRow{TxCount: 3, Header: []byte("header")}))
	f.Add(AppendAssetEntry(nil, 5<<38, AssetEntry{7, model.AssetBirthPk{Utxo: 4 << 38, Index: 2}, true}))
	f.Add(AppendOccurrence(AppendUtxoValue(nil, 9), 5<<38, rowLayout().Indexes[2], model.BirthPk{Utxo: 5 << 38, Ordinal: 4}))
	f.Add(rowLayout().AppendTo(nil))
	f.Add(AppendAccountRow(nil, &Account{Int128Of(9, 1), Int128Of(4, 1), 3, 2, 3}))
	f.Add(AppendOrphanRow(nil, &OrphanRow{Height: 7, Time: 1_231_006_505, OrphanedAt: 1_800_000_000, Depth: 2}))
	layout := rowLayout()
	f.Fuzz(func(t *testing.T, b []byte) {
		same := func(what string, again []byte) {
			if !bytes.Equal(again, b) {
				t.Errorf("%s: %x was read, %x is written", what, b, again)
			}
		}
		if row, err := ParseBlockRow(b); err == nil {
			same("block", AppendBlockRow(nil, &row))
		}
		if h, time, err := ParseHeightRow(b); err == nil {
			same("height", AppendHeightRow(nil, h, time))
		}
		if hash, fee, err := ParseTxHashRow(b); err == nil {
			same("tx hash", AppendTxHashRow(nil, &hash, fee))
		}
		if head, pointer, err := ParsePrefixKey(b, model.PkOrdinalSize); err == nil {
			same("key with a head", append(append([]byte(nil), head...), pointer...))
		}
		const pk = model.UtxoPk(6 << 38)
		if row, err := layout.ParseUtxoRow(pk, b); err == nil {
			again := AppendUtxoValue(nil, row.Value)
			for _, o := range row.Occurrences {
				again = AppendOccurrence(again, pk, o.Index, o.Birth)
			}
			same("output", again)
		}
		if entries, err := ParseAssetsRow(pk, b); err == nil {
			var again []byte
			for _, e := range entries {
				again = AppendAssetEntry(again, pk, e)
			}
			same("assets", again)
		}
		if amount, err := ParseSupplyRow(b); err == nil {
			same("supply", AppendSupplyRow(nil, amount))
		}
		if row, err := parseOrphanRow(b); err == nil {
			same("lost block", AppendOrphanRow(nil, &row))
		}
		if p, err := ParseTip(b); err == nil {
			same("tip", AppendTip(nil, p))
		}
		for _, x := range layout.Indexes {
			if birth, at, err := ParseRelationKey(x, b); err == nil {
				same("relation", AppendRelationKey(nil, x, birth, at))
			}
		}
		for _, x := range layout.Indexes {
			if birth, asset, err := ParseHeldKey(x, b); err == nil {
				same("key of a held asset", AppendHeldKey(nil, x, birth, asset))
			}
			if birth, tx, err := ParseHistoryKey(x, b); err == nil {
				same("history key", AppendHistoryKey(nil, x, birth, tx))
			}
			_, _, _ = ParseTextKey(x, b)
		}
		if a, err := ParseAccountRow(b); err == nil {
			same("balance", AppendAccountRow(nil, &a))
		}
		if m, err := ParseHistoryRow(b); err == nil {
			same("history", AppendHistoryRow(nil, m))
		}
		if birth, at, err := ParseAssetRelationKey(b); err == nil {
			same("asset relation", AppendAssetRelationKey(nil, birth, at))
		}
		if birth, tx, err := ParseSupplyKey(b); err == nil {
			same("supply key", AppendSupplyKey(nil, birth, tx))
		}
		_, _ = parseTotals(b)
		_, _, _ = parseIndexes(b)
	})
}
