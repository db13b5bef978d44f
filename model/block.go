package model

import (
	"encoding/hex"
	"math/big"
)

// Hash is a block or transaction hash in the byte order of the chain's serialization. [Chain.FormatHash] returns its
// text form.
type Hash [32]byte

// String returns the bytes in hex, in the order in which they are stored.
func (h Hash) String() string {
	var text [2 * len(h)]byte
	hex.Encode(text[:], h[:])
	return string(text[:])
}

// Point identifies a block. The zero Point is the origin, before the first block.
type Point struct {
	Height HeightPk
	Hash   Hash
	Slot   uint64 // 0 unless the chain has slots (Cardano)
}

// IsOrigin reports whether p is before the first block.
func (p Point) IsOrigin() bool { return p == Point{} }

// Block is one block of any chain.
//
// A block owns its memory: its slices are not modified after the source has yielded it. Decoders allocate per block,
// not per transaction.
type Block struct {
	Height HeightPk
	Hash   Hash
	Parent Hash // hash of the block at Height-1; blocks without a height (Cardano's epoch boundaries) are skipped
	Time   int64
	Slot   uint64
	Size   int    // size in bytes of the serialized block
	Header []byte // the serialized header

	SourceSize int // size in bytes in the source, for an [Extent]; 0: Size

	Place *Place // set by sources that read files, if [SourceOptions.Places] is set

	// Genesis is set on a chain's first block only: transactions that exist before it. They have height 0, precede
	// those of a block at height 0, and have no inputs. They are ordinary transactions of the first block: the same rows
	// find, spend and roll back their outputs.
	Genesis []Tx
	Txs     []Tx
}

// Point returns the point of the block.
func (b *Block) Point() Point { return Point{b.Height, b.Hash, b.Slot} }

// Weight returns 1 plus the number of transactions, inputs, outputs, mints and asset entries: a measure of the rows
// written.
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

// Tx is a transaction. A coinbase has no inputs: an adapter leaves out an input that names no output, so that every
// input of a block resolves.
type Tx struct {
	Hash    Hash
	Inputs  []Input
	Outputs []Output
	Mints   []Mint // at most one per asset
	Fee     Fee
	Raw     []byte // the serialized transaction, if [SourceOptions.Raw] is set
	Message any    // what [TokenRules] read from the transaction; nil: nothing, or the chain has no rules

	// FirstOutput is the index of Outputs[0]; the others follow. It differs from 0 only if the scripts of the transaction
	// failed and its collateral was returned (Cardano): it is then the number of the outputs that were not made.
	FirstOutput uint32

	// TokenOutput is the position of the output that gets the assets of the inputs of a transaction without a message;
	// the number of outputs if there is none. It is 0 on chains without [TokenRules].
	TokenOutput uint32
}

// OutputIndex returns the index of Outputs[i] in the transaction.
func (t *Tx) OutputIndex(i int) int { return int(t.FirstOutput) + i }

// Fee is the fee that a transaction states, in the chain's smallest unit. If it states none the fee is the sum of
// inputs minus the sum of outputs, which queries compute, or unknown ([Traits.FeeOutputs]). Bitcoin states none. Cardano
// states fees, and deposits and withdrawals would make the difference wrong.
type Fee struct {
	Stated bool
	Amount uint64
}

// Input identifies the output that it spends.
type Input struct {
	Tx    Hash // with Index: the outpoint
	Index uint32
	Value []byte // instead of the outpoint if [Traits.SpendIndex] is set: the value of that index
}

// Output is an output of a transaction, spendable or not.
type Output struct {
	Value  uint64  // in the chain's smallest unit
	Keys   []Key   // without duplicates; at most one per index that is not many-valued
	Assets []Asset // in chain order; an id may occur repeatedly, an amount of 0 does not count as a holding
}

// Key is a value of an index that occurs in an output.
type Key struct {
	Index int    // position in [SourceOptions.Indexes]
	Value []byte // never empty
}

// Asset is one asset entry of an output.
type Asset struct {
	ID     []byte
	Amount uint64
}

// Mint is the amount of an asset that a transaction minted (positive) or burned (negative); it is never 0.
type Mint struct {
	Asset  []byte
	Amount *big.Int
	Info   []byte // description of an asset minted for the first time, for [AssetDescriber]
}

// Event is a change of a chain: a new block, or the removal of every block after Rollback. Exactly one of the two is
// set. Rollback may be below the fork: blocks common to both branches are then yielded again.
type Event struct {
	Block    *Block
	Rollback *Point

	// Tip is the height of the source's tip when it yielded the event; 0 if it is unknown. The source then yields the
	// blocks up to there without a pause, as far as it can.
	Tip HeightPk
}
