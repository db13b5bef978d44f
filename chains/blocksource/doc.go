// Package blocksource holds what sources of different chains do in the same way.
//
// [Ordered] reads and decodes ahead on several goroutines and hands the results over in order, with a bound on how
// much is under way.
//
// [Node] is a chain elsewhere that is asked for blocks by height, and [NewSource] makes a [birthmark/model.Source] of
// it: hashes are asked for ahead, blocks fetched in groups through [Ordered], each checked to be the child of the one
// before. A chain that changed shows by a block that is not; the stream then looks for the newest block both have,
// among the points it was given and those it yielded, says that it goes back there, and goes on. Errors that heal are
// waited out, for ever where the source follows its chain.
//
// What a node says on its own, instead of being asked by height, is for a source of its chain's own: [Outage] and [Trail]
// are the same ones for it.
package blocksource
