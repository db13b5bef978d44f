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

// sortedByBirth returns deltas in the order of births, stable: a radix sort, a byte at a time.
func sortedByBirth(deltas []OutputDelta) []OutputDelta {
	keys, to := make([]birthKey, len(deltas)), make([]birthKey, len(deltas))
	for i := range deltas {
		keys[i] = birthKey{uint64(deltas[i].birth.Utxo), uint32(i), deltas[i].birth.Ordinal}
	}
	pass := func(digit func(k *birthKey) byte) {
		var starts [257]int
		for i := range keys {
			starts[int(digit(&keys[i]))+1]++
		}
		for d := range 256 {
			if starts[d+1] == len(keys) {
				return // all are equal
			}
			starts[d+1] += starts[d]
		}
		for i := range keys {
			d := digit(&keys[i])
			to[starts[d]] = keys[i]
			starts[d]++
		}
		keys, to = to, keys
	}
	for shift := 0; shift < 16; shift += 8 {
		pass(func(k *birthKey) byte { return byte(k.ordinal >> shift) })
	}
	for shift := 0; shift < 64; shift += 8 {
		pass(func(k *birthKey) byte { return byte(k.birth >> shift) })
	}
	sorted := make([]OutputDelta, len(deltas))
	for i := range keys {
		sorted[i] = deltas[keys[i].at]
	}
	return sorted
}
