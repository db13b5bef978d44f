// Package immutable reads a node's immutable database: the folder in which a cardano-node stores the blocks that it cannot
// roll back any more, or one chunk of it, plain or compressed with zstd. [OpenSource] returns it as a source, [Open] as a
// list of serialized blocks.
//
// A folder has files NNNNN.chunk, NNNNN.secondary and NNNNN.primary per range of slots, an epoch of Byron: 21,600 on
// mainnet. A chunk is a sequence of blocks, each a CBOR array of its era's number (0: Byron boundary block, 1: Byron, 2:
// Shelley, …) and the block. The secondary index has 56 bytes per block. The primary index maps slots to these; it is not
// read, because binary search does without it.
//
// [Open] lists the chunks. [DB.Entries] yields an [Entry] for each block from a [Position] on, from the secondary indexes.
// Without an index, it reads the chunk and makes the entries from the headers of the blocks. [Reader] reads blocks and
// checks the CRC-32 of their entries. [DB.Find] finds a block by slot and hash.
//
// [DB.Refresh] detects what a node has written since. A block or entry that is incomplete is left out, and so is data after
// the last entry of the newest chunk. Anywhere else it is an error. [DB.Cut] reports a newest chunk that ends before its
// index does.
//
// Memory holds the entries of one chunk per iteration, two between chunks; of a file that is one chunk its entries, and
// its content if it is compressed.
//
// An index has the epoch of a boundary block instead of its slot, and does not mark it: such a block is the first of its
// chunk, so the era's number in the chunk decides. Slots of Byron blocks that are read from blocks, and the slots by which
// boundary blocks are found, assume epochs of 21,600 slots, as all public networks with such blocks have.
package immutable
