package ledger

import (
	"cmp"
	"math/big"
	"slices"
	"sync"

	"birthmark/core/schema"
	"birthmark/model"
	"birthmark/storage"
)

// OutputAssets is the assets of an output, and their holder.
type OutputAssets struct {
	Entries   []schema.AssetEntry
	Holder    model.BirthPk
	HasHolder bool // the output has a holder
}

// SetHolder sets the holder from the values that occur in the output.
func (o *OutputAssets) SetHolder(holders *schema.Index, occurrences []schema.Occurrence) {
	for _, c := range occurrences {
		if c.Index == holders {
			o.Holder, o.HasHolder = c.Birth, true
		}
	}
}

// AssetDeltas are the changes that added or removed blocks make to the holdings and totals of assets. They are
// collected for a whole write and summed at its end, so that movements back and forth cost no rows.
type AssetDeltas struct {
	outputs []entryDelta
	mints   []mintDelta
	births  []birthDelta
}

// entryDelta is an asset entry of an output that is created or removed, spent or unspent again.
type entryDelta struct {
	asset            model.AssetBirthPk
	holder, at       model.UtxoPk // the holder's birth, and the output; no holder if owned is false
	amount           model.Uint128
	outputs, unspent int8
	owned            bool
}

// entryDeltas has the memory of deltas that were summed. A batch of a busy chain has 100,000.
var entryDeltas = sync.Pool{New: func() any { return new(make([]entryDelta, 0, 1024)) }}

type mintDelta struct {
	asset model.AssetBirthPk
	schema.Supply
	sign int64
}

// birthDelta is the birth of a derived asset that is added (1) or removed (-1).
type birthDelta struct {
	asset model.AssetBirthPk
	sign  int8
}

// AddOutput adds an output with assets: outputs is 1 if it is created, -1 if it is removed; unspent is 1 if it becomes
// spendable, -1 if it no longer is.
func (d *AssetDeltas) AddOutput(at model.UtxoPk, o *OutputAssets, outputs, unspent int8) {
	if d.outputs == nil && len(o.Entries) > 0 {
		d.outputs = *entryDeltas.Get().(*[]entryDelta)
	}
	for _, e := range o.Entries {
		d.outputs = append(d.outputs, entryDelta{e.Birth, o.Holder.Utxo, at, e.Amount, outputs, unspent, o.HasHolder})
	}
}

// DropOutputs removes what AddOutput added.
func (d *AssetDeltas) DropOutputs() { d.outputs = nil }

// AddMint adds what a transaction that is added (1) or removed (-1) minted or burned.
func (d *AssetDeltas) AddMint(asset model.AssetBirthPk, s schema.Supply, sign int64) {
	d.mints = append(d.mints, mintDelta{asset, s, sign})
}

// AddBirth adds the birth of a derived asset that is added (1) or removed (-1). Unlike other assets it has totals before
// an output has it.
func (d *AssetDeltas) AddBirth(asset model.AssetBirthPk, sign int8) {
	d.births = append(d.births, birthDelta{asset, sign})
}

// holdingDelta is a change of the amount that a value holds of an asset.
type holdingDelta struct {
	schema.HoldingKey
	amount schema.HeldChange
}

// addHolding adds a delta to sums, whose last one may have the same key.
func addHolding(sums []holdingDelta, d holdingDelta) []holdingDelta {
	if n := len(sums); n > 0 && sums[n-1].HoldingKey == d.HoldingKey {
		sums[n-1].amount = sums[n-1].amount.Add(d.amount)
		return sums
	}
	return append(sums, d)
}

// totalsDelta is the net change of the totals of an asset. Numbers below 0 wrap around.
type totalsDelta struct {
	asset model.AssetBirthPk
	schema.AssetTotals
	born int8 // 1: the asset is added, -1: it is removed; only derived assets
}

// sum adds up the deltas in the order of the rows.
func (d *AssetDeltas) sum() (totals []totalsDelta, holdings []holdingDelta) {
	slices.SortFunc(d.outputs, func(a, b entryDelta) int {
		if a.asset != b.asset {
			return schema.CompareAssetBirths(a.asset, b.asset)
		}
		if a.holder != b.holder {
			return cmp.Compare(a.holder, b.holder)
		}
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.outputs, b.outputs), cmp.Compare(a.unspent, b.unspent))
	})
	holdings = make([]holdingDelta, 0, len(d.outputs))
	var last *entryDelta
	for i := range d.outputs {
		e := &d.outputs[i]
		if last == nil || last.asset != e.asset {
			totals, last = append(totals, totalsDelta{asset: e.asset}), nil
		}
		// An output can have several entries of one asset.
		if last == nil || last.at != e.at || last.outputs != e.outputs || last.unspent != e.unspent {
			t := &totals[len(totals)-1]
			t.Outputs += uint64(e.outputs)
			t.Unspent += uint64(e.unspent)
		}
		if e.owned {
			key := schema.HoldingKey{Asset: e.asset, Holder: model.BirthPk{Utxo: e.holder}}
			holdings = addHolding(holdings, holdingDelta{key, schema.HeldChangeOf(e.amount, int64(e.unspent))})
		}
		last = e
	}
	if d.outputs != nil {
		entryDeltas.Put(new(d.outputs[:0]))
		d.outputs = nil
	}
	totals = d.others(totals)
	of := func(asset model.AssetBirthPk) *totalsDelta {
		i, _ := slices.BinarySearchFunc(totals, asset, compareTotals)
		return &totals[i]
	}
	for _, m := range d.mints {
		t, sign := of(m.asset), big.NewInt(m.sign)
		if m.Mints {
			t.Mints += uint64(m.sign)
			t.Minted.Add(&t.Minted, new(big.Int).Mul(m.Minted, sign))
		}
		if m.Burns {
			t.Burns += uint64(m.sign)
			t.Burned.Add(&t.Burned, new(big.Int).Mul(m.Burned, sign))
		}
	}
	for _, b := range d.births {
		of(b.asset).born += b.sign
	}
	return totals, holdings
}

func compareTotals(t totalsDelta, asset model.AssetBirthPk) int {
	return schema.CompareAssetBirths(t.asset, asset)
}

// others adds deltas of the assets that are born, minted or burned and do not move.
func (d *AssetDeltas) others(totals []totalsDelta) []totalsDelta {
	moved := len(totals)
	add := func(asset model.AssetBirthPk) {
		if _, found := slices.BinarySearchFunc(totals[:moved], asset, compareTotals); !found {
			totals = append(totals, totalsDelta{asset: asset})
		}
	}
	for _, m := range d.mints {
		add(m.asset)
	}
	for _, b := range d.births {
		add(b.asset)
	}
	if len(totals) > moved {
		slices.SortFunc(totals, func(a, b totalsDelta) int { return schema.CompareAssetBirths(a.asset, b.asset) })
		totals = slices.CompactFunc(totals, func(a, b totalsDelta) bool { return a.asset == b.asset })
	}
	return totals
}

// addTo adds the change to totals. It reports whether none of them became negative.
func (d *totalsDelta) addTo(t *schema.AssetTotals) bool {
	t.Outputs += d.Outputs
	t.Unspent += d.Unspent
	t.Mints += d.Mints
	t.Burns += d.Burns
	t.Holders += d.Holders
	t.Minted.Add(&t.Minted, &d.Minted)
	t.Burned.Add(&t.Burned, &d.Burned)
	for _, n := range []uint64{t.Outputs, t.Unspent, t.Mints, t.Burns, t.Holders} {
		if int64(n) < 0 {
			return false
		}
	}
	return t.Minted.Sign() >= 0 && t.Burned.Sign() >= 0
}

// assets adds the changes of holdings and of the totals of assets.
func (a *Applier) assets(d *AssetDeltas) error {
	totals, holdings := d.sum()
	last := 0 // the asset of the last holding: both are in the order of assets
	err := a.holdings(schema.FamilyHoldings, holdings, schema.AppendHoldingKey, func(h *holdingDelta, rows int) {
		for totals[last].asset != h.Asset {
			last++
		}
		totals[last].Holders += uint64(rows)
	})
	if err != nil {
		return err
	}
	return update(a, schema.FamilyAssetTotals, totals,
		func(d *totalsDelta) ([]byte, bool) { return d.asset.AppendTo(nil), d.asset.Utxo >= a.NewFrom },
		func(d *totalsDelta, b, row []byte) ([]byte, error) {
			t, err := parse(row, schema.ParseAssetTotalsRow)
			if err != nil || !d.addTo(&t) {
				return b, invalid(err, "the totals of the asset born at %v", d.asset)
			}
			if d.born < 0 || t.Outputs == 0 && !a.Derived {
				return b, nil
			}
			return schema.AppendAssetTotalsRow(b, &t), nil
		})
}

// holdings adds changes of the amounts that values hold of assets. It calls counted with the number of rows that each
// change adds: 1, 0 or -1.
func (a *Applier) holdings(f storage.Family, changes []holdingDelta, key func([]byte, schema.HoldingKey) []byte,
	counted func(d *holdingDelta, rows int)) error {
	changes = slices.DeleteFunc(changes, func(d holdingDelta) bool { return d.amount == schema.HeldChange{} })
	return update(a, f, changes,
		func(d *holdingDelta) ([]byte, bool) {
			return key(nil, d.HoldingKey), d.Asset.Utxo >= a.NewFrom || d.Holder.Utxo >= a.NewFrom
		},
		func(d *holdingDelta, b, row []byte) ([]byte, error) {
			before, err := parse(row, schema.ParseHolding)
			amount, ok := d.amount.Apply(before)
			if err != nil || !ok {
				return b, invalid(err, "the amount that the value born at %v holds of the asset born at %v", d.Holder, d.Asset)
			}
			if row == nil {
				counted(d, 1)
			} else if amount.IsZero() {
				counted(d, -1)
			}
			return schema.AppendHolding(b, amount), nil // nothing for an amount of 0
		})
}
