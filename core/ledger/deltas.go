package ledger

import (
	"cmp"
	"slices"
	"sync"

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
	assets   chunks[holdingDelta]
	held     []holdingDelta // the sums of assets, after Sort
}

var holdingChunks = sync.Pool{New: func() any { return new([chunkSize]holdingDelta) }}

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
		*d.assets.add(&holdingChunks) = holdingDelta{key, schema.HeldChangeOf(e.Amount, sign*d.Sign)}
	}
}

// Sort sorts the outputs in the order of the rows: by value, then by transaction, spends before outputs. They were added by
// transaction. It sums the assets, too.
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
	d.sumAssets()
}

// sumAssets adds up the changes of assets in the order of values, then of assets.
func (d *Deltas) sumAssets() {
	keys := orderOfBirths(d.assets.n, func(i int) model.BirthPk { return d.assets.at(i).Holder })
	d.held = make([]holdingDelta, 0, len(keys))
	for from, to := 0, 0; from < len(keys); from = to {
		for to = from + 1; to < len(keys) && keys[to].birth == keys[from].birth && keys[to].ordinal == keys[from].ordinal; to++ {
		}
		slices.SortFunc(keys[from:to], func(a, b birthKey) int {
			return schema.CompareAssetBirths(d.assets.at(int(a.at)).Asset, d.assets.at(int(b.at)).Asset)
		})
		for _, k := range keys[from:to] {
			d.held = addHolding(d.held, *d.assets.at(int(k.at)))
		}
	}
	d.assets.drop(&holdingChunks)
}

// birthKey is the sort key of a delta, 16 bytes instead of the 48 or more of a delta.
type birthKey struct {
	birth   uint64
	at      uint32
	ordinal uint16
}

// sortedByBirth returns deltas in the order of births, stable.
func sortedByBirth(deltas []OutputDelta) []OutputDelta {
	sorted := make([]OutputDelta, len(deltas))
	for i, k := range orderOfBirths(len(deltas), func(i int) model.BirthPk { return deltas[i].birth }) {
		sorted[i] = deltas[k.at]
	}
	return sorted
}

// orderOfBirths returns the keys of n deltas in the order of births, stable.
func orderOfBirths(n int, birth func(i int) model.BirthPk) []birthKey {
	keys := make([]birthKey, n)
	for i := range keys {
		b := birth(i)
		keys[i] = birthKey{uint64(b.Utxo), uint32(i), b.Ordinal}
	}
	r := radix[birthKey]{keys, make([]birthKey, n)}
	r.sort(2, func(k *birthKey) uint64 { return uint64(k.ordinal) })
	r.sort(8, func(k *birthKey) uint64 { return k.birth })
	return r.keys
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
