// Package bench measures how fast chains are indexed.
//
// A [Generator] makes blocks in the shape of Bitcoin's: how many inputs and outputs a transaction has, how old what it
// spends is, how often an address is used again: birthmark/chains/bitcoin/generate has those figures. The same seed
// makes the same blocks, every input spends an output that exists and is unspent, and nothing is read or kept but what
// that takes, so that generating costs a small part of indexing. A [Source] hands the blocks to a sync.
//
// [Append] indexes generated blocks in one of the ways listed in [Kinds] and says what it cost. A process can measure
// only one: its peak memory and its CPU are those of all it did.
//
// [Sync] measures all of a sync from any source, reading and decoding too: of chains that birthmark/chains/cardano/generate
// writes, or of real ones. [Decode] compares the decoders of the chains' adapters with those of other projects, over
// [GeneratedBlocks] or blocks that [ReadBlocks] finds.
//
// RESULTS.md has the figures, and what was tried and did not help.
package bench
