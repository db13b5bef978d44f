package core

import (
	"bytes"
	"math/big"
	"math/rand/v2"
	"reflect"
	"testing"

	"birthmark/model"
)

// rowLayout has one index of each kind, with numbers that are not their places.
func rowLayout() *catalogue {
	c := &catalogue{next: 201, all: []*index{
		{model.Index{Name: "many", Kind: model.OneToMany}, 1, partValues | partBalance, 0},
		{model.Index{Name: "one", Kind: model.OneToOne}, 3, partValues, partPrefix},
		{model.Index{Name: "list", Kind: model.ManyValued, Custom: true, When: "a", Value: "b"}, 200, partValues, 0},
	}}
	c.arrange()
	return c
}

func randomUtxo(rng *rand.Rand) model.UtxoPk { return model.UtxoPk(rng.Uint64() >> rng.IntN(64)) }

// Trap 9: what is written is what is read.
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
		block := blockRow{hash, parent, int64(rng.Uint64()), rng.Uint64() >> rng.IntN(64), rng.IntN(1 << 20), rng.IntN(1 << 30), []byte{1, 2, 3}}
		gotBlock, err := parseBlockRow(appendBlockRow(nil, &block))
		same("block", gotBlock, block, err)

		h, time, err := parseHeightRow(appendHeightRow(nil, 77, block.time))
		same("height", []any{h, time}, []any{model.HeightPk(77), block.time}, err)

		fee := model.Fee{Stated: rng.IntN(2) == 0}
		if fee.Stated {
			fee.Amount = rng.Uint64() >> rng.IntN(64)
		}
		gotHash, gotFee, err := parseTxHashRow(appendTxHashRow(nil, &hash, fee))
		same("tx hash", []any{gotHash, gotFee}, []any{hash, fee}, err)

		pk := randomUtxo(rng)
		row := utxoRow{value: rng.Uint64() >> rng.IntN(64)}
		b := appendUtxoValue(nil, row.value)
		for _, x := range layout.indexes {
			o := occurrence{x, model.BirthPk{Utxo: pk - model.UtxoPk(rng.Uint64N(uint64(pk)+1))}}
			if x.Kind.HasOrdinal() {
				o.birth.Ordinal = uint16(rng.Uint32())
			}
			row.occurrences = append(row.occurrences, o)
			b = appendOccurrence(b, pk, x, o.birth)
			birth, at, err := parseRelationKey(x, appendRelationKey(nil, x, o.birth, pk))
			same("relation", []any{birth, at}, []any{o.birth, pk}, err)
		}
		gotRow, err := layout.parseUtxoRow(pk, b)
		same("output", gotRow, row, err)

		entries := []assetEntry{
			{rng.Uint64() | 1, model.AssetBirthPk{Utxo: pk, Index: 0}, true},
			{1, model.AssetBirthPk{Utxo: pk / 2, Index: 1<<16 - 1}, false},
		}
		b = nil
		for _, e := range entries {
			b = appendAssetEntry(b, pk, e)
		}
		gotEntries, err := parseAssetsRow(pk, b)
		same("assets", gotEntries, entries, err)

		amount := new(big.Int).SetUint64(rng.Uint64() | 1)
		if rng.IntN(2) == 0 {
			amount.Mul(amount, amount).Neg(amount)
		}
		gotAmount, err := parseSupplyRow(appendSupplyRow(nil, amount))
		same("supply", gotAmount.String(), amount.String(), err)

		birth, tx, err := parseSupplyKey(appendSupplyKey(nil, entries[1].birth, pk.Tx()))
		same("supply key", []any{birth, tx}, []any{entries[1].birth, pk.Tx()}, err)

		at := model.AssetPk{Utxo: pk, Index: 9}
		birth, gotAt, err := parseAssetRelationKey(appendAssetRelationKey(nil, entries[0].birth, at))
		same("asset relation", []any{birth, gotAt}, []any{entries[0].birth, at}, err)

		lost := lostRow{model.HeightPk(rng.IntN(model.MaxHeight + 1)), hash, block.time, int64(rng.Uint64()), 1 + rng.IntN(1<<20)}
		gotLost, err := parseLostRow(appendLostRow(nil, &lost))
		same("lost block", gotLost, lost, err)
		number, err := parseLostKey(lostKey(block.slot))
		same("lost_pk", number, block.slot, err)

		point := model.Point{Height: 5, Hash: hash, Slot: block.slot}
		gotPoint, err := parseTip(appendTip(nil, point))
		same("tip", gotPoint, point, err)
	}
	hash := model.Hash{1, 2, 3, 4, 5, 6, 7, 8, 9}
	head, pk, err := parseHeadKey(appendTxPkKey(nil, &hash, 3<<38), model.PkSize)
	if err != nil || !bytes.Equal(head, hash[:8]) || !bytes.Equal(pk, model.TxPk(3<<38).AppendTo(nil)) {
		t.Errorf("key of a hash: read %x and %x, %v", head, pk, err)
	}
	if _, _, err := parseHeadKey(appendTxPkKey(nil, &hash, 3<<38), model.PkOrdinalSize); err == nil {
		t.Error("a key of a hash is read as one with a wide pointer")
	}
}

// FuzzRows: no bytes make a reader panic, and whatever it takes for a row is what a writer makes of it.
func FuzzRows(f *testing.F) {
	f.Add([]byte{})
	f.Add(appendTxPkKey(nil, &model.Hash{1, 2}, 1<<38))
	f.Add(appendBlockRow(nil, &blockRow{txCount: 3, header: []byte("header")}))
	f.Add(appendAssetEntry(nil, 5<<38, assetEntry{7, model.AssetBirthPk{Utxo: 4 << 38, Index: 2}, true}))
	f.Add(appendOccurrence(appendUtxoValue(nil, 9), 5<<38, rowLayout().indexes[2], model.BirthPk{Utxo: 5 << 38, Ordinal: 4}))
	f.Add(rowLayout().appendTo(nil))
	f.Add(appendAccountRow(nil, &account{wideOf(9, 1), wideOf(4, 1), 3, 2, 3}))
	f.Add(appendLostRow(nil, &lostRow{height: 7, time: 1_231_006_505, lost: 1_800_000_000, depth: 2}))
	layout := rowLayout()
	f.Fuzz(func(t *testing.T, b []byte) {
		same := func(what string, again []byte) {
			if !bytes.Equal(again, b) {
				t.Errorf("%s: %x was read, %x is written", what, b, again)
			}
		}
		if row, err := parseBlockRow(b); err == nil {
			same("block", appendBlockRow(nil, &row))
		}
		if h, time, err := parseHeightRow(b); err == nil {
			same("height", appendHeightRow(nil, h, time))
		}
		if hash, fee, err := parseTxHashRow(b); err == nil {
			same("tx hash", appendTxHashRow(nil, &hash, fee))
		}
		if head, pointer, err := parseHeadKey(b, model.PkOrdinalSize); err == nil {
			same("key with a head", append(append([]byte(nil), head...), pointer...))
		}
		const pk = model.UtxoPk(6 << 38)
		if row, err := layout.parseUtxoRow(pk, b); err == nil {
			again := appendUtxoValue(nil, row.value)
			for _, o := range row.occurrences {
				again = appendOccurrence(again, pk, o.index, o.birth)
			}
			same("output", again)
		}
		if entries, err := parseAssetsRow(pk, b); err == nil {
			var again []byte
			for _, e := range entries {
				again = appendAssetEntry(again, pk, e)
			}
			same("assets", again)
		}
		if amount, err := parseSupplyRow(b); err == nil {
			same("supply", appendSupplyRow(nil, amount))
		}
		if row, err := parseLostRow(b); err == nil {
			same("lost block", appendLostRow(nil, &row))
		}
		if p, err := parseTip(b); err == nil {
			same("tip", appendTip(nil, p))
		}
		for _, x := range layout.indexes {
			if birth, at, err := parseRelationKey(x, b); err == nil {
				same("relation", appendRelationKey(nil, x, birth, at))
			}
		}
		for _, x := range layout.indexes {
			if birth, asset, err := parseHeldKey(x, b); err == nil {
				same("key of a held asset", appendHeldKey(nil, x, birth, asset))
			}
			if birth, tx, err := parseHistoryKey(x, b); err == nil {
				same("history key", appendHistoryKey(nil, x, birth, tx))
			}
			_, _, _ = parseTextKey(x, b)
		}
		if a, err := parseAccountRow(b); err == nil {
			same("balance", appendAccountRow(nil, &a))
		}
		if m, err := parseHistoryRow(b); err == nil {
			same("history", appendHistoryRow(nil, m))
		}
		if birth, at, err := parseAssetRelationKey(b); err == nil {
			same("asset relation", appendAssetRelationKey(nil, birth, at))
		}
		if birth, tx, err := parseSupplyKey(b); err == nil {
			same("supply key", appendSupplyKey(nil, birth, tx))
		}
		_, _ = parseTotals(b)
		_, _, _ = parseCatalogue(b)
	})
}
