package model

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// A pointer is one uint64 in one of two forms. The narrow form has 26 bits of height, 19 of transaction and 19 of input
// or output. The wide form is for chains with large blocks: 21 bits of height, 24 of transaction and 18 of input or
// output, after firstWide. All pointers of a database have the same form ([Traits.Pointers]), so the order of the numbers
// is chain order, and a pointer tells its form.
const (
	heightBits = 26
	txBits     = 19
	indexBits  = 19
	blockBits  = txBits + indexBits

	wideTxBits    = 24
	wideIndexBits = 18
	wideBlockBits = wideTxBits + wideIndexBits

	// wideHeights is the number of heights of the wide form. The last one is that of pointers after all blocks, in both
	// forms.
	wideHeights = 3 << 19
	firstWide   = 1<<64 - wideHeights<<wideBlockBits

	MaxHeight  = firstWide>>blockBits - 1 // 41,943,039 blocks
	MaxTxIndex = 1<<txBits - 1            // 524,287: the last transaction of a block
	MaxIndex   = 1<<indexBits - 1         // 524,287: the last input or output of a transaction

	MaxWideHeight  = wideHeights - 2      // 1,572,862
	MaxWideTxIndex = 1<<wideTxBits - 1    // 16,777,215
	MaxWideIndex   = 1<<wideIndexBits - 1 // 262,143
)

// Sizes of encoded pointers in bytes.
const (
	HeightPkSize  = 4
	PkSize        = 8  // TxPk, InputPk, UtxoPk
	PkOrdinalSize = 10 // AssetPk, AssetBirthPk, and BirthPk of a many-valued index
)

// ErrPointer is wrapped by every error about an invalid pointer.
var ErrPointer = errors.New("pointer")

// HeightPk points to a block: its position in the chain, regardless of any height that the block contains.
type HeightPk uint32

// TxPk points to a transaction: height | tx_index | 0.
type TxPk uint64

// InputPk points to an input: height | tx_index | input_index.
type InputPk uint64

// UtxoPk points to an output: height | tx_index | output_index.
type UtxoPk uint64

// AssetPk points to one asset entry of an output.
type AssetPk struct {
	Utxo  UtxoPk
	Index uint16
}

// BirthPk points to the output in which a value of an index first occurs. Ordinal is the value's position among the
// values of that index in the output, 0 unless the index is [ManyValued].
type BirthPk struct {
	Utxo    UtxoPk
	Ordinal uint16
}

// AssetBirthPk points to the asset entry in which an asset id first occurs.
type AssetBirthPk struct {
	Utxo  UtxoPk
	Index uint16
}

// Pointers is the form of the pointers of a chain. Only methods that make a pointer from a height need it.
type Pointers uint8

const (
	NarrowPointers Pointers = iota // up to 524,288 transactions in a block
	WidePointers                   // up to 16,777,216 transactions in a block
)

// Limits returns the largest height, position of a transaction, and position of an input or output.
func (f Pointers) Limits() (height HeightPk, tx, index int) {
	if f == WidePointers {
		return MaxWideHeight, MaxWideTxIndex, MaxWideIndex
	}
	return MaxHeight, MaxTxIndex, MaxIndex
}

// NewHeightPk returns the pointer to the block at height. It fails if height exceeds [MaxHeight].
func NewHeightPk(height uint64) (HeightPk, error) {
	if height > MaxHeight {
		return 0, exceeds("height", height, MaxHeight)
	}
	return HeightPk(height), nil
}

func exceeds[N int | uint64](what string, n N, most int) error {
	return fmt.Errorf("%w: %s %d exceeds the maximum of %d", ErrPointer, what, n, most)
}

// Tx returns the pointer to transaction index of the block at h.
func (f Pointers) Tx(h HeightPk, index int) (TxPk, error) {
	height, tx, _ := f.Limits()
	if h > height {
		return 0, exceeds("height", uint64(h), int(height))
	}
	if index < 0 || index > tx {
		return 0, exceeds("transaction index", index, tx)
	}
	if f == WidePointers {
		return f.First(h) | TxPk(index)<<wideIndexBits, nil
	}
	return f.First(h) | TxPk(index)<<indexBits, nil
}

// First returns the lowest pointer of the block at h. Heights above the limit of the form have the pointer after all
// others.
func (f Pointers) First(h HeightPk) TxPk {
	if f == WidePointers {
		return firstWide + TxPk(min(h, MaxWideHeight+1))<<wideBlockBits
	}
	return TxPk(min(h, MaxHeight+1)) << blockBits
}

// Last returns the highest possible pointer of the block at h.
func (f Pointers) Last(h HeightPk) UtxoPk { return UtxoPk(f.First(h+1)) - 1 }

// Input returns the pointer to input index of the transaction.
func (p TxPk) Input(index int) (InputPk, error) {
	if most := int(p.indexes()); index < 0 || index > most {
		return 0, exceeds("input index", index, most)
	}
	return InputPk(uint64(p) | uint64(index)), nil
}

// Utxo returns the pointer to output index of the transaction.
func (p TxPk) Utxo(index int) (UtxoPk, error) {
	if most := int(p.indexes()); index < 0 || index > most {
		return 0, exceeds("output index", index, most)
	}
	return UtxoPk(uint64(p) | uint64(index)), nil
}

// First returns the pointer to the transaction's first output, whether it exists or not.
func (p TxPk) First() UtxoPk { return UtxoPk(p) }

// Last returns the highest possible pointer of the transaction.
func (p TxPk) Last() UtxoPk { return UtxoPk(p | p.indexes()) }

// Next returns the lowest pointer after the transaction.
func (p TxPk) Next() TxPk { return p + p.indexes() + 1 }

// indexes has the bits of the position of an input or output.
func (p TxPk) indexes() TxPk {
	if p >= firstWide {
		return MaxWideIndex
	}
	return MaxIndex
}

// Pointers returns the form of the pointer.
func (p TxPk) Pointers() Pointers {
	if p >= firstWide {
		return WidePointers
	}
	return NarrowPointers
}

// NewOrdinal returns the 16-bit part of an [AssetPk] or of a [BirthPk] of a [ManyValued] index.
func NewOrdinal(n int) (uint16, error) {
	if n < 0 || n > 1<<16-1 {
		return 0, fmt.Errorf("%w: entry %d of an output exceeds the maximum of %d", ErrPointer, n, 1<<16-1)
	}
	return uint16(n), nil
}

// Height returns the block of the transaction, input or output; [MaxHeight] if the pointer is after all blocks.
func (p TxPk) Height() HeightPk {
	if p < firstWide {
		return HeightPk(p >> blockBits)
	}
	if h := HeightPk((p - firstWide) >> wideBlockBits); h <= MaxWideHeight {
		return h
	}
	return MaxHeight
}
func (p InputPk) Height() HeightPk { return TxPk(p).Height() }
func (p UtxoPk) Height() HeightPk  { return TxPk(p).Height() }

// TxIndex returns the transaction's position in its block.
func (p TxPk) TxIndex() int {
	if p >= firstWide {
		return int(p>>wideIndexBits) & MaxWideTxIndex
	}
	return int(p>>indexBits) & MaxTxIndex
}
func (p InputPk) TxIndex() int { return TxPk(p).TxIndex() }
func (p UtxoPk) TxIndex() int  { return TxPk(p).TxIndex() }

// Tx returns the transaction of the input or output.
func (p InputPk) Tx() TxPk { return TxPk(p) &^ TxPk(p).indexes() }
func (p UtxoPk) Tx() TxPk  { return TxPk(p) &^ TxPk(p).indexes() }

// Index returns the position of the input or output in its transaction.
func (p InputPk) Index() int { return int(TxPk(p) & TxPk(p).indexes()) }
func (p UtxoPk) Index() int  { return int(TxPk(p) & TxPk(p).indexes()) }

func (p TxPk) String() string    { return fmt.Sprintf("%d/%d", p.Height(), p.TxIndex()) }
func (p InputPk) String() string { return fmt.Sprintf("%d/%d/%d", p.Height(), p.TxIndex(), p.Index()) }
func (p UtxoPk) String() string  { return fmt.Sprintf("%d/%d/%d", p.Height(), p.TxIndex(), p.Index()) }
func (p AssetPk) String() string { return fmt.Sprintf("%v/%d", p.Utxo, p.Index) }
func (p BirthPk) String() string { return fmt.Sprintf("%v/%d", p.Utxo, p.Ordinal) }
func (p AssetBirthPk) String() string {
	return AssetPk(p).String()
}

// AppendTo appends the encoded pointer to b: big-endian, so that byte order is chain order.
func (h HeightPk) AppendTo(b []byte) []byte { return binary.BigEndian.AppendUint32(b, uint32(h)) }
func (p TxPk) AppendTo(b []byte) []byte     { return binary.BigEndian.AppendUint64(b, uint64(p)) }
func (p InputPk) AppendTo(b []byte) []byte  { return binary.BigEndian.AppendUint64(b, uint64(p)) }
func (p UtxoPk) AppendTo(b []byte) []byte   { return binary.BigEndian.AppendUint64(b, uint64(p)) }
func (p AssetPk) AppendTo(b []byte) []byte {
	return binary.BigEndian.AppendUint16(p.Utxo.AppendTo(b), p.Index)
}
func (p AssetBirthPk) AppendTo(b []byte) []byte { return AssetPk(p).AppendTo(b) }

// AppendTo appends the encoded birth: [PkOrdinalSize] bytes if the index has ordinals ([Kind.HasOrdinal]), else
// [PkSize].
func (p BirthPk) AppendTo(b []byte, ordinal bool) []byte {
	b = p.Utxo.AppendTo(b)
	if ordinal {
		b = binary.BigEndian.AppendUint16(b, p.Ordinal)
	}
	return b
}

func checkSize(what string, b []byte, want int) error {
	if len(b) != want {
		return fmt.Errorf("%w: %s has %d bytes, expected %d", ErrPointer, what, len(b), want)
	}
	return nil
}

// ParseHeightPk parses the result of [HeightPk.AppendTo].
func ParseHeightPk(b []byte) (HeightPk, error) {
	if err := checkSize("height_pk", b, HeightPkSize); err != nil {
		return 0, err
	}
	return NewHeightPk(uint64(binary.BigEndian.Uint32(b)))
}

func parse64[T ~uint64](what string, b []byte) (T, error) {
	if err := checkSize(what, b, PkSize); err != nil {
		return 0, err
	}
	return T(binary.BigEndian.Uint64(b)), nil
}

// ParseTxPk parses the result of [TxPk.AppendTo].
func ParseTxPk(b []byte) (TxPk, error) {
	p, err := parse64[TxPk]("tx_pk", b)
	if p&p.indexes() != 0 {
		return 0, fmt.Errorf("%w: tx_pk %016x has an output index", ErrPointer, uint64(p))
	}
	return p, err
}

// ParseInputPk parses the result of [InputPk.AppendTo].
func ParseInputPk(b []byte) (InputPk, error) { return parse64[InputPk]("input_pk", b) }

// ParseUtxoPk parses the result of [UtxoPk.AppendTo].
func ParseUtxoPk(b []byte) (UtxoPk, error) { return parse64[UtxoPk]("utxo_pk", b) }

// ParseAssetPk parses the result of [AssetPk.AppendTo].
func ParseAssetPk(b []byte) (AssetPk, error) {
	if err := checkSize("asset_pk", b, PkOrdinalSize); err != nil {
		return AssetPk{}, err
	}
	return AssetPk{UtxoPk(binary.BigEndian.Uint64(b)), binary.BigEndian.Uint16(b[PkSize:])}, nil
}

// ParseAssetBirthPk parses the result of [AssetBirthPk.AppendTo].
func ParseAssetBirthPk(b []byte) (AssetBirthPk, error) {
	p, err := ParseAssetPk(b)
	return AssetBirthPk(p), err
}

// ParseBirthPk parses the result of [BirthPk.AppendTo] with the same ordinal.
func ParseBirthPk(b []byte, ordinal bool) (BirthPk, error) {
	if !ordinal {
		p, err := ParseUtxoPk(b)
		return BirthPk{Utxo: p}, err
	}
	p, err := ParseAssetPk(b)
	return BirthPk{p.Utxo, p.Index}, err
}
