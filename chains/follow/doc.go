// Package follow holds what sources of different chains do in the same way.
//
// [Ordered] reads and decodes ahead on several goroutines and hands the results over in order, with a bound on how
// much is under way.
package follow
