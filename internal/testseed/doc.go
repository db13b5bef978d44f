// Package testseed provides the seeds of random tests.
//
// [Of] returns a constant seed, [New] a different one each time, and [Rand] a random generator with such a seed:
//
//	rng := testseed.Rand(t)
//	blocks := variant.NewGenerator(testseed.Of(t, 42)).Blocks(60)
//
// A failing test logs its seed, and `BIRTHMARK_SEED=42 go test -run TestName ./folder` repeats it. The variable
// replaces every seed, including constant ones. Effects of goroutine scheduling are not reproducible.
package testseed
