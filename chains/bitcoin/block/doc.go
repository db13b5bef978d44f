// Package block decodes serialized Bitcoin blocks: headers, transactions, scripts and witnesses. A [Decoder] makes
// model blocks and calls an [Emitter] for the index values of each output.
//
// The decoder checks the form of the block, its merkle root, that the first transaction and no other is a coinbase, and
// that no output exceeds the maximum supply. btcd's wire package is the oracle of its tests.
package block
