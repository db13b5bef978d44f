package check

import (
	"math/big"
	"math/rand/v2"
	"testing"
)

// mod61 follows the rules of arithmetic modulo the prime.
func TestMod61IsArithmeticModuloThePrime(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	p := big.NewInt(prime61)
	if !p.ProbablyPrime(20) {
		t.Fatalf("%v is not a prime", p)
	}
	for range 2000 {
		a, b := rng.Uint64()>>rng.IntN(64), rng.Uint64()>>rng.IntN(64)
		x, y := mod61Of(a), mod61Of(b)
		big1, big2 := new(big.Int).SetUint64(a), new(big.Int).SetUint64(b)
		for what, c := range map[string]struct {
			got  mod61
			want *big.Int
		}{
			"+": {x.plus(y), new(big.Int).Add(big1, big2)},
			"-": {x.minus(y), new(big.Int).Sub(big1, big2)},
			"*": {x.times(y), new(big.Int).Mul(big1, big2)},
		} {
			if want := c.want.Mod(c.want, p).Uint64(); uint64(c.got) != want {
				t.Fatalf("%d %s %d is %d, expected %d", a, what, b, c.got, want)
			}
		}
		if got := mod61OfBig(big1); got != x {
			t.Fatalf("mod61 of %d is %d and also %d", a, got, x)
		}
	}
}
