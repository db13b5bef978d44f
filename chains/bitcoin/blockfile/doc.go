// Package blockfile reads the block files of Bitcoin Core and btcd: a folder of blk*.dat, or one such file.
//
// A block file is a sequence of records: the network's magic, the length, the block. Blocks are in the order in which
// they arrived, with stale branches. Core reserves space before it writes, so zeros can follow a record. Since version
// 28 Core XORs what it writes with a key of 8 bytes, but not the reserved zeros; other tools XOR whole files. So zeros
// are padding before and after the XOR.
//
// A node that is killed leaves half records, and writes their blocks again. Everything that is not a record is skipped, as
// in Bitcoin Core's LoadExternalBlockFile. If a block of the best chain is missing then, the stream ends with an error.
// [Each] reads a file in this way without a chain, as a stream.
//
// [Open] scans all headers (scan.go): it checks the proof of work against the header's own target and builds a tree
// (headertree.go), whose best chain has the most work. Blocks of that chain are read and decoded on several goroutines
// (read.go). Package blocksource yields them in order and follows the chain: the files are scanned again periodically.
package blockfile
