package testseed

import (
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
)

const variable = "BIRTHMARK_SEED"

// Of returns BIRTHMARK_SEED, or usual if it is not set. The seed is printed if the test fails. The test ends if the
// variable is not a decimal unsigned 64-bit number.
func Of(t testing.TB, usual uint64) uint64 {
	t.Helper()
	seed := usual
	if text := os.Getenv(variable); text != "" {
		var err error
		if seed, err = strconv.ParseUint(text, 10, 64); err != nil {
			t.Fatalf("%s %q: %v", variable, text, err)
		}
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("%s=%d", variable, seed)
		}
	})
	return seed
}

// New is Of with a new seed in each run unless BIRTHMARK_SEED is set.
func New(t testing.TB) uint64 {
	t.Helper()
	return Of(t, rand.Uint64())
}

// Rand draws from a seed of [New]. Use it from one goroutine at a time.
func Rand(t testing.TB) *rand.Rand {
	t.Helper()
	return rand.New(rand.NewPCG(New(t), 0))
}
