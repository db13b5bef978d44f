// Package testseed provides the seed of every random test.
//
// [Of] is for tests with a fixed seed, [New] for tests with a new seed in each run, and [Rand] for tests of the second
// kind that only draw numbers:
//
//	rng := testseed.Rand(t)
//	blocks := variant.NewGenerator(testseed.Of(t, 42)).Blocks(60)
//
// A failing test prints its seed; `BIRTHMARK_SEED=42 go test -run TestName ./folder` repeats it. The variable replaces
// every seed, fixed ones too. A seed does not repeat the scheduling of goroutines.
package testseed
