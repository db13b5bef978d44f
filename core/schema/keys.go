package schema

import (
	"bytes"
	"cmp"
	"slices"

	"birthmark/model"
)

// Keys is the encoded pointers of a list.
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

// Between is the range of keys with a prefix that come after a position in an order; a nil position is its beginning.
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

// PkAfter is where the transactions after a block begin.
func PkAfter(p model.Point) model.UtxoPk {
	if p.IsOrigin() {
		return 0
	}
	return model.UtxoPk((p.Height + 1).First())
}

// HeightAfter is the height at which the block after a point can stand at the lowest.
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

// AssetSpace keeps asset ids apart from the values of indexes, whose space is their number.
const AssetSpace = -1

// PrefixEnd is the first key that does not begin with prefix; nil where there is none.
func PrefixEnd(prefix []byte) []byte {
	end := bytes.Clone(prefix)
	for i := len(end) - 1; i >= 0; i-- {
		if end[i]++; end[i] != 0 {
			return end[:i+1]
		}
	}
	return nil
}

// TxSpace keeps hashes of transactions apart from ids of assets and values of indexes.
const TxSpace = -2
