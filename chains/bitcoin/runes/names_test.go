package runes_test

import (
	"testing"

	"birthmark/chains/bitcoin/runes"
	"birthmark/internal/testseed"
	"birthmark/model"
)

// The names, minimums and heights are those of ord's tests (crates/ordinals/src/rune.rs and spaced_rune.rs).
func TestNamesAreNumbers(t *testing.T) {
	t.Parallel()
	below := func(k uint64) runes.Name {
		a, _ := most.Sub(n(k))
		return runes.Name(a)
	}
	for text, want := range map[string]runes.Name{
		"A": runes.NameOf(0), "B": runes.NameOf(1), "Z": runes.NameOf(25), "AA": runes.NameOf(26), "AB": runes.NameOf(27),
		"AZ": runes.NameOf(51), "BA": runes.NameOf(52), "UNCOMMONGOODS": runes.NameOf(2055900680524219742),
		"AAAAAAAAAAAAA": runes.NameOf(99246114928149462), "AAAAAAAAAAAAAAAAAAAAAAAAAAA": runes.Reserved,
		"BCGDENLQRQWDSLRUGSNLBTMFIJAT": below(2), "BCGDENLQRQWDSLRUGSNLBTMFIJAU": below(1),
		"BCGDENLQRQWDSLRUGSNLBTMFIJAV": below(0),
	} {
		if got, ok := runes.ParseName(text); !ok || got != want || got.String() != text {
			t.Errorf("%s is %v, %s, %t, expected %v", text, model.Uint128(got), got, ok, model.Uint128(want))
		}
	}
	if text := model.Uint128(runes.Reserved).String(); text != "6402364363415443603228541259936211926" {
		t.Errorf("the first reserved name is %s", text)
	}
	for _, text := range []string{"", "x", "A1", "a", "A•B", "BCGDENLQRQWDSLRUGSNLBTMFIJAW",
		"BCGDENLQRQWDSLRUGSNLBTMFIJAVX", "AAAAAAAAAAAAAAAAAAAAAAAAAAAAA"} {
		if got, ok := runes.ParseName(text); ok {
			t.Errorf("%q is %s", text, got)
		}
	}
	rng := testseed.Rand(t)
	for range 10_000 {
		want := runes.Name{Hi: rng.Uint64() >> rng.IntN(65), Lo: rng.Uint64() >> rng.IntN(65)}
		spacers := rng.Uint32() & runes.MaxSpacers
		letters := len(want.String())
		back, bits, ok := runes.ParseSpaced(want.Spaced(spacers))
		if shown := spacers & (1<<(letters-1) - 1); !ok || back != want || bits != shown {
			t.Fatalf("%s is %s with %b: %t, %b", want.Spaced(spacers), back, bits, ok, shown)
		}
		if got, ok := runes.NameFrom(want.Bytes()); !ok || got != want {
			t.Fatalf("%s from its bytes is %s", want, got)
		}
	}
}

func TestSpacers(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]struct {
		name    string
		spacers uint32
	}{
		"A.B": {"AB", 1}, "A.B.C": {"ABC", 3}, "A•B": {"AB", 1}, "A•B•C": {"ABC", 3}, "A•BC": {"ABC", 1}, "AB": {"AB", 0},
		"UNCOMMON•GOODS": {"UNCOMMONGOODS", 128},
	} {
		if got, spacers, ok := runes.ParseSpaced(text); !ok || got.String() != want.name || spacers != want.spacers {
			t.Errorf("%s is %s with %b, %t", text, got, spacers, ok)
		}
	}
	for _, text := range []string{"", ".", ".A", "A.", "A..B", "A.•B", "Ax", "A B", "•", "AB•",
		"BCGDENLQRQWDSLRUGSNLBTMFIJAVAAAAAA"} {
		if got, spacers, ok := runes.ParseSpaced(text); ok {
			t.Errorf("%q is %s with %b", text, got, spacers)
		}
	}
	if text := runes.NameOf(0).Spaced(1); text != "A" {
		t.Errorf("a spacer after the last letter: %s", text)
	}
}

func TestReservedNamesAndCommitments(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"A": false, "ZZZZZZZZZZZZZZZZZZZZZZZZZZ": false, "AAAAAAAAAAAAAAAAAAAAAAAAAAA": true,
		"AAAAAAAAAAAAAAAAAAAAAAAAAAB":  true,
		"BCGDENLQRQWDSLRUGSNLBTMFIJAV": true,
	} {
		if got, _ := runes.ParseName(text); got.IsReserved() != want {
			t.Errorf("%s is reserved: %t", text, !want)
		}
	}
	plus := func(hi, lo uint64) runes.Name {
		sum, _ := model.Uint128(runes.Reserved).Add(model.Uint128{Hi: hi, Lo: lo})
		return runes.Name(sum)
	}
	for id, want := range map[runes.ID]runes.Name{
		{}: runes.Reserved, {Tx: 1}: plus(0, 1), {Block: 1}: plus(0, 1<<32), {Block: 1, Tx: 1}: plus(0, 1<<32+1),
		{Block: 1<<64 - 1, Tx: 1<<32 - 1}: plus(1<<32-1, 1<<64-1),
	} {
		if got := runes.ReservedFor(id); got != want {
			t.Errorf("the name for %s is %s, expected %s", id, got, want)
		}
	}
	for number, want := range map[model.Uint128]string{
		{}: "", n(1): "\x01", n(256): "\x00\x01", {Hi: 1}: "\x00\x00\x00\x00\x00\x00\x00\x00\x01",
		n(0x0102030405060708): "\x08\x07\x06\x05\x04\x03\x02\x01",
	} {
		if got := string(runes.Name(number).Commitment()); got != want {
			t.Errorf("the commitment to %s is %x, expected %x", number, got, want)
		}
	}
}

func TestNamesAreUnlockedStepByStep(t *testing.T) {
	t.Parallel()
	const start, interval = 840_000, 17_500
	mainnet := map[model.HeightPk]string{
		0: "AAAAAAAAAAAAA", start / 2: "AAAAAAAAAAAAA", start - 1: "ZZYZXBRKWXVA", start: "ZZXZUDIVTVQA",
	}
	delete(mainnet, start-1)
	mainnet[start], mainnet[start+1] = "ZZYZXBRKWXVA", "ZZXZUDIVTVQA"
	for i, names := range [][3]string{ // before, at and after the beginning of an interval
		{"AAAAAAAAAAAAA", "ZZYZXBRKWXVA", "ZZXZUDIVTVQA"}, {"AAAAAAAAAAAA", "ZZYZXBRKWXV", "ZZXZUDIVTVQ"},
		{"AAAAAAAAAAA", "ZZYZXBRKWY", "ZZXZUDIVTW"}, {"AAAAAAAAAA", "ZZYZXBRKX", "ZZXZUDIVU"}, {"AAAAAAAAA", "ZZYZXBRL",
			"ZZXZUDIW"},
		{"AAAAAAAA", "ZZYZXBS", "ZZXZUDJ"}, {"AAAAAAA", "ZZYZXC", "ZZXZUE"}, {"AAAAAA", "ZZYZY", "ZZXZV"}, {"AAAAA",
			"ZZZA", "ZZYA"},
		{"AAAA", "ZZZ", "ZZY"}, {"AAA", "AAA", "AAA"}, {"AA", "AA", "AA"}, {"A", "A", "A"},
	} {
		for j, name := range names {
			mainnet[model.HeightPk(start+interval*i+j-1)] = name
		}
	}
	mainnet[start+interval*10-2], mainnet[start+interval*10+interval/2] = "AAC", "NA"
	mainnet[start+interval*11-2], mainnet[start+interval*11+interval/2] = "AB", "N"
	mainnet[start+interval*12-2], mainnet[model.MaxHeight] = "B", "A"
	for first, heights := range map[model.HeightPk]map[model.HeightPk]string{
		start:     mainnet,
		2_520_000: {0: "AAAAAAAAAAAAA", 2_519_999: "AAAAAAAAAAAAA", 2_520_000: "ZZYZXBRKWXVA", 2_520_001: "ZZXZUDIVTVQA"},
		0:         {0: "ZZYZXBRKWXVA", 1: "ZZXZUDIVTVQA"},
	} {
		for height, want := range heights {
			if got := runes.RulesOf(first, false).Minimum(height).String(); got != want {
				t.Errorf("first height %d: the minimum at %d is %s, expected %s", first, height, got, want)
			}
		}
	}
}

func TestIDs(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]runes.ID{"1:2": {Block: 1, Tx: 2}, "0:0": {}, "840000:1": {Block: 840_000,
		Tx: 1}, "18446744073709551615:4294967295": {Block: 1<<64 - 1, Tx: 1<<32 - 1}} {
		if got, ok := runes.ParseID(text); !ok || got != want || got.String() != text {
			t.Errorf("%s is %s, %t", text, got, ok)
		}
	}
	for _, text := range []string{"", "123", ":", "1:", ":2", "a:2", "1:a", "1:2:3", "-1:2", "18446744073709551616:0",
		"0:4294967296"} {
		if got, ok := runes.ParseID(text); ok {
			t.Errorf("%q is %s", text, got)
		}
	}
	for _, id := range []runes.ID{{}, {Block: 1, Tx: 2}, {Block: model.MaxHeight, Tx: model.MaxTxIndex}} {
		asset, ok := id.AssetID()
		back, known := runes.ParseAssetID(asset)
		birth, exists := id.Asset()
		if !ok || !known || !exists || back != id || runes.IDOf(birth.Utxo.Tx()) != id || birth.Index != 0 || birth.Utxo.Index() != 0 {
			t.Errorf("%s: asset %x is %s, birth %s", id, asset, back, birth)
		}
	}
	for _, id := range []runes.ID{{Block: model.MaxHeight + 1}, {Tx: model.MaxTxIndex + 1}, {Block: 1<<64 - 1,
		Tx: 1<<32 - 1}} {
		if _, ok := id.AssetID(); ok {
			t.Errorf("%s has an asset id", id)
		}
		if _, ok := id.Asset(); ok {
			t.Errorf("%s has a birth", id)
		}
	}
	for _, asset := range [][]byte{nil, {1}, make([]byte, 9), {0, 0, 0, 0, 0, 0, 0, 1}} {
		if id, ok := runes.ParseAssetID(asset); ok {
			t.Errorf("asset %x is %s", asset, id)
		}
	}
}
