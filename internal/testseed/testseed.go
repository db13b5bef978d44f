package testseed

import (
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
)

const variable = "BIRTHMARK_SEED"

// Of is BIRTHMARK_SEED, or usual where that is not set. It is printed where the test fails. The test ends here if the
// variable is no unsigned number of 64 bits in decimal.
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

// New is as [Of], with another seed each time where BIRTHMARK_SEED is not set.
func New(t testing.TB) uint64 {
	t.Helper()
	return Of(t, rand.Uint64())
}

// Rand draws from a seed of [New]. It is for one goroutine at a time.
func Rand(t testing.TB) *rand.Rand {
	t.Helper()
	return rand.New(rand.NewPCG(New(t), 0))
}
