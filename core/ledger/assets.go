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
	outputs    chunks[entryDelta]
	mints      []mintDelta
	tokenMints []*model.TokenSupply // of added transactions
	births     []birthDelta
}

// entryDelta is an asset entry of an output that is created or removed, spent or unspent again.
type entryDelta struct {
	asset            model.UtxoPk // birth of the asset, with index
	holder, at       model.UtxoPk // the holder's birth, and the output; no holder if owned is false
	amount           model.Uint128
	index            uint16
	outputs, unspent int8
	owned            bool
}

func (e *entryDelta) assetBirth() model.AssetBirthPk {
	return model.AssetBirthPk{Utxo: e.asset, Index: e.index}
}

var entryChunks = sync.Pool{New: func() any { return new([chunkSize]entryDelta) }}

// mintDelta is the mints and burns of an asset by an added (1) or removed (-1) transaction.
type mintDelta struct {
	asset  model.AssetBirthPk
	supply schema.Supply
	sign   int64
}

// birthDelta is the birth of a derived asset that is added (1) or removed (-1).
type birthDelta struct {
	asset model.AssetBirthPk
	sign  int8
}

// AddOutput adds an output with assets: outputs is 1 if it is created, -1 if it is removed; unspent is 1 if it becomes
// spendable, -1 if it no longer is.
func (d *AssetDeltas) AddOutput(at model.UtxoPk, o *OutputAssets, outputs, unspent int8) {
	for i := range o.Entries {
		e := &o.Entries[i]
		*d.outputs.add(&entryChunks) = entryDelta{
			e.Birth.Utxo, o.Holder.Utxo, at, e.Amount, e.Birth.Index, outputs, unspent, o.HasHolder,
		}
	}
}

// DropOutputs removes what AddOutput added.
func (d *AssetDeltas) DropOutputs() { d.outputs.drop(&entryChunks) }

// AddMint adds what a transaction that is added (1) or removed (-1) minted or burned.
func (d *AssetDeltas) AddMint(asset model.AssetBirthPk, s schema.Supply, sign int64) {
	d.mints = append(d.mints, mintDelta{asset, s, sign})
}

// AddTokenMint adds the mints and burns of a derived asset by an added transaction. s must not be changed.
func (d *AssetDeltas) AddTokenMint(s *model.TokenSupply) {
	d.tokenMints = append(d.tokenMints, s)
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
	minted, burned schema.HeldChange // of derived assets, not in AssetTotals yet
	born           int8              // 1: the asset is added, -1: it is removed; only derived assets
}

// entryKey is the sort key of a delta.
type entryKey struct {
	asset, holder uint64
	at            uint32
	index         uint16
}

// order returns the deltas in the order of assets, then of holders. Those of the entries of one output remain together.
func (d *AssetDeltas) order() []entryKey {
	keys := make([]entryKey, d.outputs.n)
	for i := range keys {
		e := d.outputs.at(i)
		keys[i] = entryKey{uint64(e.asset), uint64(e.holder), uint32(i), e.index}
	}
	r := radix[entryKey]{keys, make([]entryKey, len(keys))}
	r.sort(2, func(k *entryKey) uint64 { return uint64(k.index) })
	r.sort(8, func(k *entryKey) uint64 { return k.asset })
	for from, to := 0, 0; from < len(keys); from = to {
		for to = from + 1; to < len(keys) && r.keys[to].asset == r.keys[from].asset && r.keys[to].index == r.keys[from].index; to++ {
		}
		sortHolders(r.keys[from:to], r.other[from:to])
	}
	return r.keys
}

// sortHolders sorts the keys of one asset by holder. other has the same length.
func sortHolders(keys, other []entryKey) {
	const fewKeys = 256 // are sorted faster by comparison
	if len(keys) <= fewKeys {
		slices.SortFunc(keys, func(a, b entryKey) int { return cmp.Or(cmp.Compare(a.holder, b.holder), cmp.Compare(a.at, b.at)) })
		return
	}
	r := radix[entryKey]{keys, other}
	r.sort(8, func(k *entryKey) uint64 { return k.holder })
	copy(keys, r.keys) // they can be in other
}

// sum adds up the deltas in the order of the rows.
func (d *AssetDeltas) sum() (totals []totalsDelta, holdings []holdingDelta) {
	order := d.order()
	holdings = make([]holdingDelta, 0, d.outputs.n)
	var last *entryDelta
	for _, k := range order {
		e := d.outputs.at(int(k.at))
		if last == nil || last.asset != e.asset || last.index != e.index {
			totals, last = append(totals, totalsDelta{asset: e.assetBirth()}), nil
		}
		// An output can have several entries of one asset.
		if last == nil || last.at != e.at || last.outputs != e.outputs || last.unspent != e.unspent {
			t := &totals[len(totals)-1]
			t.Outputs += uint64(e.outputs)
			t.Unspent += uint64(e.unspent)
		}
		if e.owned {
			key := schema.HoldingKey{Asset: e.assetBirth(), Holder: model.BirthPk{Utxo: e.holder}}
			holdings = addHolding(holdings, holdingDelta{key, schema.HeldChangeOf(e.amount, int64(e.unspent))})
		}
		last = e
	}
	d.DropOutputs()
	totals = d.others(totals)
	of := func(asset model.AssetBirthPk) *totalsDelta {
		i, _ := slices.BinarySearchFunc(totals, asset, compareTotals)
		return &totals[i]
	}
	for i := range d.mints {
		m := &d.mints[i]
		of(m.asset).add(&m.supply, m.sign)
	}
	for _, s := range d.tokenMints {
		of(s.Asset).addToken(s)
	}
	for _, b := range d.births {
		of(b.asset).born += b.sign
	}
	return totals, holdings
}

func (t *totalsDelta) addToken(s *model.TokenSupply) {
	if s.Mints {
		t.Mints++
		t.minted = t.minted.Add(schema.HeldChangeOf(s.Minted, 1))
	}
	if !s.Burned.IsZero() {
		t.Burns++
		t.burned = t.burned.Add(schema.HeldChangeOf(s.Burned, 1))
	}
}

func (t *totalsDelta) add(s *schema.Supply, sign int64) {
	times := big.NewInt(sign)
	if s.Mints {
		t.Mints += uint64(sign)
		t.Minted.Add(&t.Minted, new(big.Int).Mul(s.Minted, times))
	}
	if s.Burns {
		t.Burns += uint64(sign)
		t.Burned.Add(&t.Burned, new(big.Int).Mul(s.Burned, times))
	}
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
	for i := range d.mints {
		add(d.mints[i].asset)
	}
	for _, s := range d.tokenMints {
		add(s.Asset)
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
	for _, sum := range []struct {
		to, stated *big.Int
		derived    schema.HeldChange
	}{{&t.Minted, &d.Minted, d.minted}, {&t.Burned, &d.Burned, d.burned}} {
		sum.to.Add(sum.to, sum.stated)
		sum.to.Add(sum.to, sum.derived.Big())
	}
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
		func(b []byte, d *totalsDelta) ([]byte, bool) { return d.asset.AppendTo(b), d.asset.Utxo >= a.NewFrom },
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
	changes = slices.DeleteFunc(changes, func(d holdingDelta) bool { return d.amount.IsZero() })
	return update(a, f, changes,
		func(b []byte, d *holdingDelta) ([]byte, bool) {
			return key(b, d.HoldingKey), d.Asset.Utxo >= a.NewFrom || d.Holder.Utxo >= a.NewFrom
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
