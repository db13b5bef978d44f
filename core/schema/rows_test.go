package schema

import (
	"bytes"
	"fmt"
	"math/big"
	"math/rand/v2"
	"reflect"
	"testing"

	"birthmark/model"
)

// rowLayout returns a layout with one index of each kind whose numbers differ from their positions.
func rowLayout() *Layout {
	c := &Layout{next: 201, RawTxs: rawTxs(0, 0), RawPlaces: rawPlaces(0, 0), Rules: &Index{Number: rulesNumber}, All: []*Index{
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
			relation, err := x.ParseRelationRow(AppendRelationKey(nil, x, o.Birth, pk), nil)
			same("relation", relation, RelationRow{o.Birth, pk}, err)
		}
		gotRow, err := layout.ParseUtxoRow(pk, b)
		same("output", gotRow, row, err)

		entries := []AssetEntry{
			{amount128(rng), model.AssetBirthPk{Utxo: pk, Index: 0}, true},
			{model.Uint128Of(1), model.AssetBirthPk{Utxo: pk / 2, Index: 1<<16 - 1}, false},
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
		supply := SupplyRow{entries[1].Birth, pk.Tx(), SupplyOf(amount)}
		if rng.IntN(2) == 0 {
			token := model.TokenSupply{Mints: rng.IntN(2) == 0, Burned: amount128(rng)}
			if token.Mints && rng.IntN(3) > 0 {
				token.Minted = amount128(rng)
			}
			if token.Mints && rng.IntN(2) == 0 {
				token.Burned = model.Uint128{}
			}
			if !token.Mints && token.Burned.IsZero() {
				token.Burned = model.Uint128Of(1)
			}
			minted, burned := token.Minted.Big(), token.Burned.Big()
			supply.Supply = Supply{new(big.Int).Sub(minted, burned), minted, burned, token.Mints, burned.Sign() > 0}
			row := AppendTokenSupplyRow(nil, &token)
			same("derived supply", row, AppendSupplyRow(nil, &supply.Supply), nil)
		}
		gotSupply, err := ParseSupplyRow(AppendSupplyKey(nil, supply.Birth, supply.Tx), AppendSupplyRow(nil, &supply.Supply))
		same("supply", fmt.Sprint(gotSupply), fmt.Sprint(supply), err)

		at := model.AssetPk{Utxo: pk, Index: 9}
		relation, err := ParseAssetRelationRow(AppendAssetRelationKey(nil, entries[0].Birth, at), nil)
		same("asset relation", relation, AssetRelationRow{entries[0].Birth, at}, err)

		lost := OrphanRow{block.Slot, model.HeightPk(rng.IntN(model.MaxHeight + 1)), hash, block.Time, int64(rng.Uint64()), 1 + rng.IntN(1<<20)}
		gotLost, err := ParseOrphanRow(OrphanKey(lost.Number), AppendOrphanRow(nil, &lost))
		same("lost block", gotLost, lost, err)

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
		t.Error("a key of a hash is parsed as one with a wide pointer")
	}
}

// FuzzRows: decoders do not panic on any input, and re-encoding a decoded row yields the same bytes.
func FuzzRows(f *testing.F) {
	f.Add([]byte{})
	f.Add(AppendTxPkKey(nil, &model.Hash{1, 2}, 1<<38))
	f.Add(AppendBlockRow(nil, &BlockRow{TxCount: 3, Header: []byte("header")}))
	f.Add(AppendAssetEntry(nil, 5<<38, AssetEntry{model.Uint128Of(7), model.AssetBirthPk{Utxo: 4 << 38, Index: 2}, true}))
	f.Add(AppendOccurrence(AppendUtxoValue(nil, 9), 5<<38, rowLayout().Indexes[2], model.BirthPk{Utxo: 5 << 38, Ordinal: 4}))
	f.Add(rowLayout().AppendTo(nil))
	f.Add(AppendAccountRow(nil, &Account{Int128Of(9, 1), Int128Of(4, 1), 3, 2, 3}))
	f.Add(AppendOrphanRow(nil, &OrphanRow{Height: 7, Time: 1_231_006_505, OrphanedAt: 1_800_000_000, Depth: 2}))
	layout := rowLayout()
	f.Fuzz(func(t *testing.T, b []byte) {
		same := func(what string, again []byte) {
			if !bytes.Equal(again, b) {
				t.Errorf("%s: %x is decoded, and encoded as %x", what, b, again)
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
		if row, err := ParseSupplyRow(AppendSupplyKey(nil, model.AssetBirthPk{}, 0), b); err == nil {
			same("supply", AppendSupplyRow(nil, &row.Supply))
		}
		if row, err := ParseSupplyRow(b, []byte{0, 1}); err == nil {
			same("supply key", AppendSupplyKey(nil, row.Birth, row.Tx))
		}
		if row, err := ParseOrphanRow(OrphanKey(1), b); err == nil {
			same("lost block", AppendOrphanRow(nil, &row))
		}
		if p, err := ParseTip(b); err == nil {
			same("tip", AppendTip(nil, p))
		}
		for _, x := range layout.Indexes {
			if row, err := x.ParseRelationRow(b, nil); err == nil {
				same("relation", AppendRelationKey(nil, x, row.Birth, row.At))
			}
			if row, err := x.ParseHeldRow(b, []byte{1}); err == nil {
				same("key of a held asset", AppendHeldKey(nil, x, row.Birth, row.Asset))
			}
			if row, err := x.ParseHistoryRow(b, []byte{0, 0}); err == nil {
				same("history key", AppendHistoryKey(nil, x, row.Birth, row.Tx))
			}
			if row, err := x.ParseHistoryRow(AppendHistoryKey(nil, x, model.BirthPk{}, 0), b); err == nil {
				same("history", AppendHistoryRow(nil, row.TxAmounts))
			}
			_, _, _ = ParseTextKey(x, b)
		}
		if a, err := ParseAccountRow(b); err == nil {
			same("balance", AppendAccountRow(nil, &a))
			for _, amount := range []Int128{{}, Int128Of(1, 1), a.Received, a.Received.Add(Int128Of(1, 1)), a.Received.Sub(Int128Of(1, 1))} {
				if less := ReceivedLess(b, amount); less != (a.Received.Cmp(amount) < 0) {
					t.Errorf("a value that received %v received less than %v: %t", a.Received, amount, less)
				}
			}
		}
		if row, err := ParseAssetRelationRow(b, nil); err == nil {
			same("asset relation", AppendAssetRelationKey(nil, row.Birth, row.At))
		}
		if row, err := ParseHoldingRow(b, []byte{1}); err == nil {
			same("key of a holding", AppendHoldingKey(nil, row.HoldingKey))
		}
		if amount, err := ParseHolding(b); err == nil {
			same("holding", AppendHolding(nil, amount))
		}
		if totals, err := ParseAssetTotalsRow(b); err == nil {
			same("totals of an asset", AppendAssetTotalsRow(nil, &totals))
		}
		_, _ = ParseTotals(b)
		_, _, _ = parseIndexes(b)
	})
}

// A number has one encoding: zero groups at its end are an error, so equal rows have equal bytes.
func TestNumbersHaveOneEncoding(t *testing.T) {
	for _, c := range []struct {
		b     []byte
		valid bool
	}{
		{[]byte{0}, true}, {[]byte{0x7f}, true}, {[]byte{0x80, 1}, true}, {[]byte{0xff, 0xff, 1}, true},
		{nil, false}, {[]byte{0x80}, false}, {[]byte{0x80, 0}, false}, {[]byte{0x81, 0}, false}, {[]byte{0xff, 0x80, 0}, false},
		{bytes.Repeat([]byte{0xff}, 10), false},
	} {
		r := reader{b: c.b}
		if r.uvarint("number"); (r.end() == nil) != c.valid {
			t.Errorf("%x: %v, expected it to be valid: %v", c.b, r.err, c.valid)
		}
	}
}

// amount128 returns an amount of any size, often 0 and of up to 64 bits.
func amount128(rng *rand.Rand) model.Uint128 {
	switch rng.IntN(4) {
	case 0:
		return model.Uint128{}
	case 1:
		return model.Uint128{Hi: rng.Uint64() >> rng.IntN(64), Lo: rng.Uint64()}
	}
	return model.Uint128Of(rng.Uint64() >> rng.IntN(64))
}
