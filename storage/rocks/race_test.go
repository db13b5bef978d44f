//go:build race

package rocks_test

// The memory of the race detector grows with the accessed memory.
func init() { raceDetector = true }
