// Package testseed is where the seed of every random test comes from.
//
// [Of] is for tests that are the same each time, [New] for those that are others each time, and [Rand] for those of the
// second kind that only draw numbers:
//
//	rng := testseed.Rand(t)
//	blocks := variant.NewGenerator(testseed.Of(t, 42)).Blocks(60)
//
// A test that fails says its seed, and `BIRTHMARK_SEED=42 go test -run TestName ./folder` repeats it. The variable takes
// the place of every seed, of those that are always the same too: set to another number it tries what no run has tried.
// What a test does in an order that its goroutines decide, no seed repeats.
package testseed
