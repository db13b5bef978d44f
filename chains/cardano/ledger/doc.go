// Package ledger decodes blocks of every era, Byron to Conway, into model blocks.
//
// A [Decoder] walks once over the CBOR of a block (block.go; tx.go and output.go since Shelley, byron.go before), checks
// that the body has the hash that the header states, and copies what it found out of the serialized block. The keys of
// outputs come from an [Indexer]. A [Linker] checks parent links, which go through the boundary blocks of Byron, and that
// blocks belong to the network (network.go).
//
// Tests compare the decoder with gouroboros.
package ledger
