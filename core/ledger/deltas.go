package ledger

import (
	"cmp"
	"slices"

	"birthmark/core/schema"
	"birthmark/model"
)

// Deltas are the changes that added or removed blocks make to the balances, unspent outputs and histories of one index.
// They are collected for a whole write and summed at its end, as [AssetDeltas] are.
type Deltas struct {
	Index    *schema.Index
	Features schema.Features // the families to write
	Sign     int64           // 1: blocks are added, -1: they are removed
	Outputs  []OutputDelta
	assets   []holdingDelta
}

// OutputDelta is an output of a value that a transaction creates or spends.
type OutputDelta struct {
	birth model.BirthPk
	tx    model.TxPk
	utxo  model.UtxoPk
	value uint64
	spent bool
}

// NewDeltas returns Deltas for each index with account features.
func NewDeltas(l *schema.Layout, sign int64) []*Deltas {
	var all []*Deltas
	for _, x := range l.Indexes {
		if x.Active&schema.SpendFeatures != 0 {
			all = append(all, &Deltas{Index: x, Features: x.Active, Sign: sign})
		}
	}
	return all
}

// DeltasOf returns the Deltas of an index; nil if it has no account features.
func DeltasOf(all []*Deltas, x *schema.Index) *Deltas {
	for _, d := range all {
		if d.Index == x {
			return d
		}
	}
	return nil
}

func (d *Deltas) AddOutput(birth model.BirthPk, utxo model.UtxoPk, value uint64) {
	d.Outputs = append(d.Outputs, OutputDelta{birth, utxo.Tx(), utxo, value, false})
}

func (d *Deltas) AddSpend(birth model.BirthPk, tx model.TxPk, utxo model.UtxoPk, value uint64) {
	d.Outputs = append(d.Outputs, OutputDelta{birth, tx, utxo, value, true})
}

// AddAssets adds the assets of an output that a transaction creates (1) or spends (-1).
func (d *Deltas) AddAssets(birth model.BirthPk, entries []schema.AssetEntry, sign int64) {
	if !d.Features.Has(schema.FeatureBalance) {
		return
	}
	for _, e := range entries {
		key := schema.HoldingKey{Asset: e.Birth, Holder: birth}
		d.assets = append(d.assets, holdingDelta{key, schema.HeldChangeOf(e.Amount, sign*d.Sign)})
	}
}

// Sort sorts the deltas in the order of the rows: by value, then by transaction, spends before outputs. They were added
// by transaction.
func (d *Deltas) Sort() {
	if d.Sign < 0 {
		slices.SortFunc(d.Outputs, func(a, b OutputDelta) int {
			if a.tx == b.tx && a.spent != b.spent {
				if a.spent {
					return -1
				}
				return 1
			}
			return cmp.Or(cmp.Compare(a.tx, b.tx), cmp.Compare(a.utxo, b.utxo))
		})
	}
	d.Outputs = sortedByBirth(d.Outputs)
	slices.SortFunc(d.assets, func(a, b holdingDelta) int {
		return cmp.Or(schema.CompareBirths(a.Holder, b.Holder), schema.CompareAssetBirths(a.Asset, b.Asset))
	})
}

// birthKey is the sort key of a delta, 16 bytes instead of the 48 of a delta.
type birthKey struct {
	birth   uint64
	at      uint32
	ordinal uint16
}

// sortedByBirth returns deltas in the order of births, stable.
func sortedByBirth(deltas []OutputDelta) []OutputDelta {
	keys := make([]birthKey, len(deltas))
	for i := range deltas {
		keys[i] = birthKey{uint64(deltas[i].birth.Utxo), uint32(i), deltas[i].birth.Ordinal}
	}
	r := radix[birthKey]{keys, make([]birthKey, len(deltas))}
	r.sort(2, func(k *birthKey) uint64 { return uint64(k.ordinal) })
	r.sort(8, func(k *birthKey) uint64 { return k.birth })
	sorted := make([]OutputDelta, len(deltas))
	for i := range r.keys {
		sorted[i] = deltas[r.keys[i].at]
	}
	return sorted
}

// radix sorts keys, stable, a byte at a time. other has the same length.
type radix[K any] struct{ keys, other []K }

// sort sorts the keys by a number of n bytes. The least significant number is sorted first.
func (r *radix[K]) sort(n int, number func(*K) uint64) {
	if len(r.keys) == 0 {
		return
	}
	first, differ := number(&r.keys[0]), uint64(0)
	for i := range r.keys {
		differ |= number(&r.keys[i]) ^ first
	}
	for shift := 0; shift < 8*n; shift += 8 {
		if differ>>shift&0xff == 0 {
			continue // all are equal
		}
		var starts [257]int
		for i := range r.keys {
			starts[int(byte(number(&r.keys[i])>>shift))+1]++
		}
		for d := range 256 {
			starts[d+1] += starts[d]
		}
		for i := range r.keys {
			d := byte(number(&r.keys[i]) >> shift)
			r.other[starts[d]] = r.keys[i]
			starts[d]++
		}
		r.keys, r.other = r.other, r.keys
	}
}
