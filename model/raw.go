package model

import "context"

// RawNodes is a chain whose nodes return serialized transactions of blocks.
type RawNodes interface {
	// OpenRaw returns a reader of the node that o.URI and o.Password select. It sends no request. Its errors are of
	// kind [Usage] if the URI is not that of such a node.
	OpenRaw(o SourceOptions) (RawReader, error)
}

// RawReader reads serialized transactions from a node. It is safe for concurrent use.
type RawReader interface {
	// RawTx returns the transaction at a position of a block; tx is its hash. Its errors are of kind [NotFound], code
	// no_raw, if the node no longer has the block, and name the node.
	RawTx(ctx context.Context, block Point, index int, tx Hash) ([]byte, error)

	Close() error
}

// RawFiles is a chain whose nodes keep serialized transactions in files.
type RawFiles interface {
	// RawFiles returns a reader of such files.
	RawFiles() RawFileReader
}

// RawFileReader reads serialized transactions from the files of a node. It is safe for concurrent use.
type RawFileReader interface {
	// ReadRaw returns size bytes from an offset of a file. Its errors are of kind [NotFound], code no_raw, and name the
	// file, if it does not exist (pruned or moved) or ends before.
	ReadRaw(path string, offset uint64, size int) ([]byte, error)
}

// Place is the position of a block's transactions in a file of its node. They follow one another.
type Place struct {
	File   string // path
	Offset uint64 // of the first transaction, in bytes
	Sizes  []int  // of the transactions, in bytes
}
