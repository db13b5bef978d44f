package runes

import (
	"cmp"
	"encoding/binary"
	"strconv"
	"strings"

	"birthmark/model"
)

// ID identifies a rune: the height of the block and the position of the transaction that created it. In an edict, the
// zero ID is the rune that the transaction itself creates.
type ID struct {
	Block uint64
	Tx    uint32
}

// valid reports whether a message can contain the id.
func (id ID) valid() bool { return id.Block > 0 || id.Tx == 0 }

// Compare orders ids by block and transaction.
func (id ID) Compare(other ID) int {
	return cmp.Or(cmp.Compare(id.Block, other.Block), cmp.Compare(id.Tx, other.Tx))
}

// String returns BLOCK:TX.
func (id ID) String() string {
	return strconv.FormatUint(id.Block, 10) + ":" + strconv.FormatUint(uint64(id.Tx), 10)
}

// ParseID parses BLOCK:TX.
func ParseID(text string) (id ID, ok bool) {
	first, second, ok := strings.Cut(text, ":")
	block, err := strconv.ParseUint(first, 10, 64)
	if !ok || err != nil {
		return ID{}, false
	}
	tx, err := strconv.ParseUint(second, 10, 32)
	return ID{block, uint32(tx)}, err == nil
}

// next returns the id that an edict has after id. If the block is the same, its transaction is relative too. ok is
// false if the result is invalid.
func (id ID) next(block, tx model.Uint128) (next ID, ok bool) {
	first := ID{id.Block + block.Lo, uint32(tx.Lo)}
	if block.Hi > 0 || first.Block < id.Block || !fits32(tx) {
		return ID{}, false
	}
	if block.IsZero() {
		if first.Tx += id.Tx; first.Tx < id.Tx {
			return ID{}, false
		}
	}
	return first, first.valid()
}

// delta is the inverse of next. id is not greater than next.
func (id ID) delta(next ID) (block uint64, tx uint32) {
	if next.Block == id.Block {
		return 0, next.Tx - id.Tx
	}
	return next.Block - id.Block, next.Tx
}

// Asset returns the birth of the rune with an id; ok is false if no transaction can have the id.
func (id ID) Asset() (asset model.AssetBirthPk, ok bool) {
	pk, ok := id.tx()
	return model.AssetBirthPk{Utxo: model.UtxoPk(pk)}, ok
}

func (id ID) tx() (model.TxPk, bool) {
	if id.Block > model.MaxHeight || id.Tx > model.MaxTxIndex {
		return 0, false
	}
	pk, err := model.NarrowPointers.Tx(model.HeightPk(id.Block), int(id.Tx))
	return pk, err == nil
}

// IDOf returns the id of the rune that a transaction created.
func IDOf(pk model.TxPk) ID { return ID{uint64(pk.Height()), uint32(pk.TxIndex())} }

// AssetID returns the asset id, 8 bytes: the pointer to the transaction. ok is false if no transaction can have the id.
func (id ID) AssetID() (asset []byte, ok bool) {
	pk, ok := id.tx()
	return pk.AppendTo(nil), ok
}

// ParseAssetID is the inverse of [ID.AssetID].
func ParseAssetID(asset []byte) (ID, bool) {
	if len(asset) != model.PkSize {
		return ID{}, false
	}
	pk := model.TxPk(binary.BigEndian.Uint64(asset))
	return IDOf(pk), pk&model.MaxIndex == 0 && pk.Pointers() == model.NarrowPointers
}
