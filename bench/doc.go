// Package bench measures how fast chains are indexed, and how fast a database answers.
//
// [Record] makes the blocks of a [Chain] in the shape of mainnet's and keeps them in a folder as the chain's adapter
// hands them over; a [Replay] hands them to a sync at a cost that is small beside indexing. Those of Bitcoin are made by
// a [Generator]: the same seed makes the same blocks, every input spends an output that exists and is unspent. The
// shape and where it comes from is in birthmark/bench/generate/bitcoingen. Those of Cardano and Ergo are written by the
// packages generate of theirs and read by their adapters.
//
// [Append] indexes recorded blocks in one of the ways listed in [Kinds] and says what it cost. A process can measure
// only one, and should record nothing: its peak memory and its CPU are those of all it did.
//
// What a database keeps for indexes besides ([Chain.Keep]) is part of every run. Indexes of one's own ([Chain.Definitions])
// act on serialized blocks: what they add to decoding [Evaluate] measures by itself, their rows are part of every run.
//
// [Query] asks an open database for things drawn at random and for the value with the most outputs, of which there can be
// as many as one likes ([Chain.HotOutputs]). [Tip] and
// [Rollback] measure blocks that come and go at the end of a large database, which they make.
//
// [Load] asks a server of HTTP over many connections, from a process of its own; [Arriving] is a database to serve while
// blocks arrive in it.
//
// [Sync] measures all of a sync from any source, reading and decoding too: of chains that were generated, or of real ones.
// [Decode] compares the decoders of the chains' adapters with those of other projects, over [GeneratedBlocks] or blocks that
// [ReadBlocks] finds.
//
// RESULTS.md has the figures, and what was tried and did not help.
package bench
