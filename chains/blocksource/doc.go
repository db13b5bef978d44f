// Package blocksource has the common parts of the sources of all chains.
//
// [Ordered] reads and decodes ahead on several goroutines and returns the results in order, with a bound on memory.
//
// [Node] is a remote chain with blocks by height, and [NewSource] makes a [birthmark/model.Source] of it: it requests
// hashes ahead, fetches groups of blocks through [Ordered], and checks that each is the child of the one before. If one
// is not, the chain has changed; the stream then searches the newest common block among the points that it was given
// and those it yielded, yields a rollback to it, and continues. Temporary errors are retried, without limit if the
// source follows its chain.
//
// Nodes that announce blocks need sources of their chain; these share [Outage] and [Trail].
package blocksource
