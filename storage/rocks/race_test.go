//go:build race

package rocks_test

// The race detector's own memory grows with what it watches.
func init() { raceDetector = true }
