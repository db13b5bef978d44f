// Package immutable reads a node's immutable database: the folder where a cardano-node keeps the blocks that can no
// longer be rolled back, or one chunk of it, plain or compressed with zstd. It hands out blocks as they are on disk and
// knows where they stand; what is in them is for others to decode.
//
// A folder has files NNNNN.chunk, NNNNN.secondary and NNNNN.primary for each range of slots, an epoch of Byron: 21,600
// on mainnet. A chunk is blocks one behind the other, each a CBOR array of its era's number (0 for Byron's epoch
// boundary blocks, 1 for Byron, 2 for Shelley, …) and the block. The secondary index has 56 bytes for each of them. The
// primary index leads from slots to those; it is not read, as binary search does without.
//
// [Open] lists the chunks and [DB.Entries] yields an [Entry] for each block from a [Position] on, from the secondary
// indexes. Where there is none, in a folder or with a single chunk, it reads the chunk and takes the same from the
// blocks' headers. [Reader] has the blocks' bytes, checked against the CRC-32 of the entry. [DB.Find] says where a
// block of a slot and a hash is.
//
// While a node writes, [DB.Refresh] says whether there is more. A block or an entry that is only half written is left
// out, and so is what stands behind the last entry of the newest chunk. Anywhere else it is a fault. A newest chunk
// that ends before its index does is what [DB.Cut] is about.
//
// What is in memory is one chunk's entries for each iteration, two while it goes from one chunk to the next; of a file
// that is one chunk its entries, and all of it where it is compressed.
//
// An index says the epoch of a boundary block in place of its slot, and does not say that it does: such a block is the
// first of its chunk, so the era's number there tells. Slots of Byron that are taken from blocks, and the slot a
// boundary block is found by, suppose epochs of 21,600 slots, as all public networks with blocks of that era have.
//
// The package immutabletest writes such databases.
package immutable
