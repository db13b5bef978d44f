package model_test

import (
	"encoding/binary"
	"math/big"
	"math/rand/v2"
	"testing"

	"birthmark/model"
)

// The reference is big.Int.
func TestUint128IsTheNumber(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	limit := new(big.Int).Lsh(big.NewInt(1), 128)
	random := func() model.Uint128 {
		switch rng.IntN(8) {
		case 0:
			return model.MaxUint128
		case 1, 2, 3:
			return model.Uint128Of(rng.Uint64() >> rng.IntN(64))
		}
		return model.Uint128{Hi: rng.Uint64() >> rng.IntN(64), Lo: rng.Uint64()}
	}
	check := func(what string, got model.Uint128, ok bool, want *big.Int) {
		t.Helper()
		if fits := want.Sign() >= 0 && want.Cmp(limit) < 0; ok != fits || ok && got.Big().Cmp(want) != 0 {
			t.Fatalf("%s: %v, %t, expected %v", what, got, ok, want)
		}
	}
	for range 20_000 {
		a, b := random(), random()
		x, y := a.Big(), b.Big()
		sum, ok := a.Add(b)
		check("sum", sum, ok, new(big.Int).Add(x, y))
		rest, ok := a.Sub(b)
		check("difference", rest, ok, new(big.Int).Sub(x, y))
		product, ok := a.Mul(b)
		check("product", product, ok, new(big.Int).Mul(x, y))
		if a.Cmp(b) != x.Cmp(y) {
			t.Fatalf("%v and %v compare as %d", a, b, a.Cmp(b))
		}
		if n := b.Lo | 1; true {
			q, r := a.DivMod(n)
			wantQ, wantR := new(big.Int).DivMod(x, new(big.Int).SetUint64(n), new(big.Int))
			if q.Big().Cmp(wantQ) != 0 || r != wantR.Uint64() {
				t.Fatalf("%v / %d is %v, %d, expected %v, %v", a, n, q, r, wantQ, wantR)
			}
		}
		if back, ok := model.ParseUint128(a.String()); !ok || back != a || a.String() != x.String() {
			t.Fatalf("%v reads as %v", a, back)
		}
		encoded := a.AppendUvarint(nil)
		if a.Hi == 0 && string(encoded) != string(binary.AppendUvarint(nil, a.Lo)) {
			t.Fatalf("%v has the bytes %x", a, encoded)
		}
		back, n, err := model.Uvarint128(append(encoded, 0xff))
		if err != nil || back != a || n != len(encoded) {
			t.Fatalf("%x reads as %v, %d bytes (%v), expected %v", encoded, back, n, err, a)
		}
		if _, _, err := model.Uvarint128(encoded[:len(encoded)-1]); err == nil && len(encoded) > 1 {
			t.Fatalf("%x reads although it is cut off", encoded[:len(encoded)-1])
		}
	}
	for _, text := range []string{"", "-1", "1 ", "340282366920938463463374607431768211456", "9" + model.MaxUint128.String()} {
		if a, ok := model.ParseUint128(text); ok {
			t.Errorf("%q reads as %v", text, a)
		}
	}
	tooLarge := append(model.MaxUint128.AppendUvarint(nil)[:18], 4)
	for _, b := range [][]byte{nil, tooLarge, append(make([]byte, 0, 20), 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80,
		0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0)} {
		if a, _, err := model.Uvarint128(b); err == nil {
			t.Errorf("%x reads as %v", b, a)
		}
	}
}
