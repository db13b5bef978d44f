package schema

import (
	"bytes"
	"cmp"
	"slices"

	"birthmark/model"
)

// Keys returns the encoded pointers.
func Keys[T interface{ AppendTo([]byte) []byte }](pks []T) [][]byte {
	keys := make([][]byte, len(pks))
	all := make([]byte, 0, len(pks)*model.PkOrdinalSize)
	for i, pk := range pks {
		at := len(all)
		all = pk.AppendTo(all)
		keys[i] = all[at:len(all):len(all)]
	}
	return keys
}

// Between returns the range of keys with a prefix after a position, in ascending or descending order. A nil position
// means from the beginning.
func Between(prefix, position []byte, descending bool) (from, to []byte) {
	from, to = prefix, PrefixEnd(prefix)
	switch {
	case position == nil:
	case descending:
		to = slices.Concat(prefix, position)
	default:
		from = append(slices.Concat(prefix, position), 0)
	}
	return from, to
}

// FirstPk returns the lowest pointer of the block at h: see [model.Pointers.First].
func (l *Layout) FirstPk(h model.HeightPk) model.TxPk { return l.Traits.Pointers.First(h) }

// LastPk returns the highest possible pointer of the block at h.
func (l *Layout) LastPk(h model.HeightPk) model.UtxoPk { return l.Traits.Pointers.Last(h) }

// NewTxPk returns the pointer to transaction index of the block at h: see [model.Pointers.Tx].
func (l *Layout) NewTxPk(h model.HeightPk, index int) (model.TxPk, error) {
	return l.Traits.Pointers.Tx(h, index)
}

// PkAfter returns the first pointer after a block.
func (l *Layout) PkAfter(p model.Point) model.UtxoPk {
	if p.IsOrigin() {
		return 0
	}
	return model.UtxoPk(l.FirstPk(p.Height + 1))
}

// HeightAfter returns the lowest possible height of the block after a point.
func HeightAfter(p model.Point) model.HeightPk {
	if p.IsOrigin() {
		return 0
	}
	return p.Height + 1
}

func CompareBirths(a, b model.BirthPk) int {
	return cmp.Or(cmp.Compare(a.Utxo, b.Utxo), cmp.Compare(a.Ordinal, b.Ordinal))
}

func CompareAssetBirths(a, b model.AssetBirthPk) int {
	if a.Utxo != b.Utxo {
		if a.Utxo < b.Utxo {
			return -1
		}
		return 1
	}
	return int(a.Index) - int(b.Index)
}

func PointerSize(wide bool) int {
	if wide {
		return model.PkOrdinalSize
	}
	return model.PkSize
}

// AssetSpace is the space of asset ids. The space of an index's values is the index number.
const AssetSpace = -1

// PrefixEnd returns the first key after all keys with the prefix; nil if there is none.
func PrefixEnd(prefix []byte) []byte {
	end := bytes.Clone(prefix)
	for i := len(end) - 1; i >= 0; i-- {
		if end[i]++; end[i] != 0 {
			return end[:i+1]
		}
	}
	return nil
}

// TxSpace is the space of transaction hashes.
const TxSpace = -2

// TimeSpace is the space of block times.
const TimeSpace = -3

// PointSpace is the space of the hashes, slots and times of blocks.
const PointSpace = -4
