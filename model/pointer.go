package model

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// Widths of a pointer's parts: 26 bits of height, 19 of transaction, 19 of input or output, in one uint64.
const (
	heightBits = 26
	txBits     = 19
	indexBits  = 19

	MaxHeight  = 1<<heightBits - 1 // 67,108,863 blocks
	MaxTxIndex = 1<<txBits - 1     // 524,287: the last transaction of a block
	MaxIndex   = 1<<indexBits - 1  // 524,287: the last input or output of a transaction
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

// NewHeightPk returns the pointer to the block at height. It fails if height exceeds [MaxHeight].
func NewHeightPk(height uint64) (HeightPk, error) {
	if height > MaxHeight {
		return 0, fmt.Errorf("%w: height %d exceeds the maximum of %d", ErrPointer, height, MaxHeight)
	}
	return HeightPk(height), nil
}

// NewTxPk returns the pointer to transaction index of the block at h.
func NewTxPk(h HeightPk, index int) (TxPk, error) {
	if h > MaxHeight {
		return 0, fmt.Errorf("%w: height %d exceeds the maximum of %d", ErrPointer, h, MaxHeight)
	}
	if index < 0 || index > MaxTxIndex {
		return 0, fmt.Errorf("%w: transaction index %d exceeds the maximum of %d", ErrPointer, index, MaxTxIndex)
	}
	return TxPk(uint64(h)<<(txBits+indexBits) | uint64(index)<<indexBits), nil
}

// Input returns the pointer to input index of the transaction.
func (p TxPk) Input(index int) (InputPk, error) {
	if index < 0 || index > MaxIndex {
		return 0, fmt.Errorf("%w: input index %d exceeds the maximum of %d", ErrPointer, index, MaxIndex)
	}
	return InputPk(uint64(p) | uint64(index)), nil
}

// Utxo returns the pointer to output index of the transaction.
func (p TxPk) Utxo(index int) (UtxoPk, error) {
	if index < 0 || index > MaxIndex {
		return 0, fmt.Errorf("%w: output index %d exceeds the maximum of %d", ErrPointer, index, MaxIndex)
	}
	return UtxoPk(uint64(p) | uint64(index)), nil
}

// NewOrdinal returns the 16-bit part of an [AssetPk] or of a [BirthPk] of a [ManyValued] index.
func NewOrdinal(n int) (uint16, error) {
	if n < 0 || n > 1<<16-1 {
		return 0, fmt.Errorf("%w: entry %d of an output exceeds the maximum of %d", ErrPointer, n, 1<<16-1)
	}
	return uint16(n), nil
}

func (p TxPk) Height() HeightPk    { return HeightPk(p >> (txBits + indexBits)) }
func (p InputPk) Height() HeightPk { return TxPk(p).Height() }
func (p UtxoPk) Height() HeightPk  { return TxPk(p).Height() }

// TxIndex returns the transaction's position in its block.
func (p TxPk) TxIndex() int    { return int(p>>indexBits) & MaxTxIndex }
func (p InputPk) TxIndex() int { return TxPk(p).TxIndex() }
func (p UtxoPk) TxIndex() int  { return TxPk(p).TxIndex() }

// Tx returns the transaction of the input or output.
func (p InputPk) Tx() TxPk { return TxPk(p) &^ MaxIndex }
func (p UtxoPk) Tx() TxPk  { return TxPk(p) &^ MaxIndex }

// Index returns the position of the input or output in its transaction.
func (p InputPk) Index() int { return int(p & MaxIndex) }
func (p UtxoPk) Index() int  { return int(p & MaxIndex) }

// First returns the lowest pointer of the block at h.
func (h HeightPk) First() TxPk { return TxPk(uint64(h) << (txBits + indexBits)) }

// Last returns the highest possible pointer of the block at h.
func (h HeightPk) Last() UtxoPk { return UtxoPk(h.First()) | MaxTxIndex<<indexBits | MaxIndex }

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
	if p&MaxIndex != 0 {
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
