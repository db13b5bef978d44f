package schema

import (
	"math/big"
	"math/rand/v2"
	"testing"
)

// The reference is big.Int: sums, signs and encodings must be equal.
func TestWideIsTheNumber(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		sum, want := Int128{}, new(big.Int)
		for range 1 + rng.IntN(20) {
			n, sign := rng.Uint64()>>rng.IntN(64), int64(rng.IntN(3)-1)
			sum = sum.Add(Int128Of(n, sign))
			want.Add(want, new(big.Int).Mul(new(big.Int).SetUint64(n), big.NewInt(sign)))
		}
		if sum.String() != want.String() || sum.Negative() != (want.Sign() < 0) {
			t.Fatalf("the sum is %v, expected %v", sum, want)
		}
		if sum.Negative() {
			continue
		}
		if b := sum.appendTo(nil); string(b) != string(want.Bytes()) {
			t.Fatalf("%v has the bytes %x, expected %x", want, b, want.Bytes())
		} else if back, err := ParseInt128(b); err != nil || back != sum {
			t.Fatalf("%x reads back as %v (%v), expected %v", b, back, err, sum)
		}
	}
	for _, b := range [][]byte{{0}, {0, 1}, append([]byte{128}, make([]byte, 15)...), append([]byte{1}, make([]byte, 16)...)} {
		if w, err := ParseInt128(b); err == nil {
			t.Errorf("%x reads as %v", b, w)
		}
	}
}

// Sums of changes, and what they make of an amount, are those of big.Int, also beyond 128 bits.
func TestHeldChangesAreTheNumbers(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	limit := new(big.Int).Lsh(big.NewInt(1), 128)
	applied := 0
	for range 4000 {
		var sum HeldChange
		want := new(big.Int)
		for range 1 + rng.IntN(6) {
			amount, sign := amount128(rng), int64(rng.IntN(3)-1)
			sum = sum.Add(HeldChangeOf(amount, sign))
			want.Add(want, new(big.Int).Mul(amount.Big(), big.NewInt(sign)))
		}
		before := amount128(rng)
		got, ok := sum.Apply(before)
		want.Add(want, before.Big())
		if fits := want.Sign() >= 0 && want.Cmp(limit) < 0; ok != fits || ok && got.String() != want.String() {
			t.Fatalf("%v with the changes is %v, %t, expected %v", before, got, ok, want)
		}
		if ok {
			applied++
			if b := AppendHolding(nil, got); string(b) != string(want.Bytes()) {
				t.Fatalf("%v has the bytes %x", want, b)
			}
		}
	}
	if applied < 500 {
		t.Errorf("%d of 4000 fit", applied)
	}
}
