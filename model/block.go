package model

import (
	"encoding/hex"
	"math/big"
)

// Hash is a block's or transaction's hash in the byte order of the chain's own serialization.
// How people write it is [Chain.FormatHash].
type Hash [32]byte

// String is the bytes in hex, in the order they are stored in.
func (h Hash) String() string {
	var text [2 * len(h)]byte
	hex.Encode(text[:], h[:])
	return string(text[:])
}

// Point names a block. The zero Point is the origin: before the first block.
type Point struct {
	Height HeightPk
	Hash   Hash
	Slot   uint64 // where the chain counts slots besides blocks (Cardano), else 0
}

// IsOrigin reports whether p stands before the first block.
func (p Point) IsOrigin() bool { return p == Point{} }

// Block is one block of any chain.
//
// A block owns its memory: no slice in it is written again once the block was handed on, and decoders allocate by
// block, not by transaction.
type Block struct {
	Height HeightPk
	Hash   Hash
	Parent Hash // of the block at Height-1; where a chain has blocks without a height, the link goes through them
	Time   int64
	Slot   uint64
	Size   int    // bytes of the whole block as the chain serializes it
	Header []byte // the chain's own bytes of the header

	// Genesis is set on a chain's first block only: what exists before it. Its transactions stand at height 0,
	// before those of a block at height 0, and have no inputs.
	Genesis []Tx
	Txs     []Tx
}

// Point of the block.
func (b *Block) Point() Point { return Point{b.Height, b.Hash, b.Slot} }

// Weight counts what the block makes the core write: transactions, inputs, outputs and assets.
func (b *Block) Weight() int {
	n := 1
	for _, txs := range [][]Tx{b.Genesis, b.Txs} {
		for i := range txs {
			n += 1 + len(txs[i].Inputs) + len(txs[i].Outputs) + len(txs[i].Mints)
			for j := range txs[i].Outputs {
				n += len(txs[i].Outputs[j].Assets)
			}
		}
	}
	return n
}

// Tx is a transaction. One without inputs is a coinbase.
type Tx struct {
	Hash    Hash
	Inputs  []Input // those that spend
	Outputs []Output
	Mints   []Mint // at most one for each asset
	Fee     Fee
	Raw     []byte // its bytes as the chain has them, where they are wanted ([SourceOptions.Raw])

	// FirstOutput is the index of Outputs[0]; the others follow. It is not 0 only where a chain makes an output in
	// place of others: the return of a failed transaction's collateral (Cardano).
	FirstOutput uint32
}

// OutputIndex is the index of Outputs[i] in the transaction.
func (t *Tx) OutputIndex(i int) int { return int(t.FirstOutput) + i }

// Fee is the fee of a transaction in the chain's smallest unit, as its adapter reads it from the transaction alone.
// The zero Fee states nothing: the fee is then inputs minus outputs, or unknown ([Traits.FeeOutputs]).
type Fee struct {
	Stated bool
	Amount uint64
}

// Input names the output it spends.
type Input struct {
	Tx    Hash   // with Index: an outpoint
	Index uint32 //
	Value []byte // or, where the chain says so ([Traits.SpendIndex]), the value of a one-to-one index
}

// Output is what a transaction makes: spendable or not.
type Output struct {
	Value  uint64  // in the chain's smallest unit
	Keys   []Key   // at most one for each index that is not many-valued; no two alike
	Assets []Asset // in the order of the chain; an id may stand more than once, an amount of 0 is no holding
}

// Key says that Value occurs in an output.
type Key struct {
	Index int    // position in the list of indexes the source was opened with
	Value []byte // never empty
}

// Asset is one asset entry of an output.
type Asset struct {
	ID     []byte
	Amount uint64
}

// Mint is what a transaction minted (positive) or burned (negative) of an asset, never 0.
type Mint struct {
	Asset  []byte
	Amount *big.Int
	Info   []byte // what the chain says of an asset that is minted for the first time, as [AssetDescriber] reads it
}

// Event is what happened next on a chain: a block, or the removal of every block after Rollback. Exactly one of the
// two is set. Rollback may lie below the block where the new branch begins: blocks that were not removed follow it
// again then.
type Event struct {
	Block    *Block
	Rollback *Point
}
