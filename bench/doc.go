// Package bench measures how fast chains are indexed and how fast a database answers queries.
//
// [Record] generates the blocks of a [Chain] with statistics like mainnet's and stores them in a folder, decoded by the
// chain's adapter. A [Replay] yields them to a sync at a small fraction of the cost of indexing: generators and
// decoders that run beside the indexer take up to ten times its CPU time, and blocks that are generated in pieces,
// while the clock is stopped, make every piece begin and end with a half-empty pipeline. Blocks of Bitcoin come from a
// [Generator], without serialization; birthmark/bench/generate/bitcoingen documents their statistics. Blocks of Cardano
// and Ergo are serialized by the packages below bench/generate and decoded by the adapters.
//
// [Append] indexes recorded blocks in one of the ways in [Kinds]. A process should run only one measurement and no
// recording, because peak memory and CPU time are those of the process.
//
// Optional families of indexes ([Chain.Keep]) are part of every run. Custom indexes ([Chain.Definitions]) apply to
// serialized blocks: [Evaluate] measures what they add to decoding, and their rows are part of every run.
//
// [Query] measures queries for random items and for the value with the most outputs ([Chain.HotOutputs]). [Tip] and
// [Rollback] measure adding and removing the last blocks of a large database.
//
// [Load] measures an HTTP server over many connections, from another process. [Arriving] is a database that is served
// while it is synced.
//
// [Sync] measures a whole sync from any source, including reading and decoding, of generated or real chains. [Decode]
// compares the decoders of the chains' adapters with those of other projects, on [GeneratedBlocks] or [ReadBlocks].
//
// RESULTS.md has the figures, and what was tried without success.
package bench
