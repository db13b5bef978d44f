//go:build race

package rocks_test

// The race detector needs memory in proportion to the accessed memory.
func init() { raceDetector = true }
