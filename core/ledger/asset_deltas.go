package ledger

import (
	"cmp"
	"fmt"
	"math/big"
	"slices"

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
func (h *OutputAssets) SetHolder(holders *schema.Index, occurrences []schema.Occurrence) {
	for _, o := range occurrences {
		if o.Index == holders {
			h.Holder, h.HasHolder = o.Birth, true
		}
	}
}

// AssetDeltas are the changes that added or removed blocks make to the holdings and totals of assets. They are
// collected for a whole write and summed at its end, so that movements back and forth cost no rows.
type AssetDeltas struct {
	outputs []entryDelta
	mints   []mintDelta
}

// entryDelta is an asset entry of an output that is created or removed, spent or unspent again.
type entryDelta struct {
	asset            model.AssetBirthPk
	holder, at       model.UtxoPk // the holder's birth, and the output; no holder if owned is false
	amount           uint64
	outputs, unspent int8
	owned            bool
}

type mintDelta struct {
	asset  model.AssetBirthPk
	amount *big.Int
	sign   int64
}

// AddOutput adds an output with assets: outputs is 1 if it is created, -1 if it is removed; unspent is 1 if it becomes
// spendable, -1 if it no longer is.
func (c *AssetDeltas) AddOutput(at model.UtxoPk, h *OutputAssets, outputs, unspent int8) {
	for _, e := range h.Entries {
		c.outputs = append(c.outputs, entryDelta{e.Birth, h.Holder.Utxo, at, e.Amount, outputs, unspent, h.HasHolder})
	}
}

// AddMint adds what a transaction that is added (1) or removed (-1) minted or burned.
func (c *AssetDeltas) AddMint(asset model.AssetBirthPk, amount *big.Int, sign int64) {
	c.mints = append(c.mints, mintDelta{asset, amount, sign})
}

// totalsSum is the net change of the totals of one asset.
type totalsSum struct {
	asset                                   model.AssetBirthPk
	outputs, unspent, mints, burns, holders int64
	minted, burned                          big.Int
}

// holdingSum is the net change of a holding, never zero.
type holdingSum struct {
	schema.HoldingKey
	amount schema.Int128
	of     *totalsSum
}

// sum adds up the deltas in the order of the rows.
func (c *AssetDeltas) sum() (assets []*totalsSum, holdings []holdingSum, err error) {
	slices.SortFunc(c.outputs, func(a, b entryDelta) int {
		if a.asset != b.asset {
			return schema.CompareAssetBirths(a.asset, b.asset)
		}
		if a.holder != b.holder {
			return cmp.Compare(a.holder, b.holder)
		}
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.outputs, b.outputs), cmp.Compare(a.unspent, b.unspent))
	})
	var last *entryDelta
	for i := range c.outputs {
		m := &c.outputs[i]
		if last == nil || last.asset != m.asset {
			assets = append(assets, &totalsSum{asset: m.asset})
			last = nil
		}
		a := assets[len(assets)-1]
		// An output can have several entries of one asset.
		if last == nil || last.at != m.at || last.outputs != m.outputs || last.unspent != m.unspent {
			a.outputs += int64(m.outputs)
			a.unspent += int64(m.unspent)
		}
		if m.owned {
			n := len(holdings)
			if n == 0 || holdings[n-1].of != a || holdings[n-1].Holder.Utxo != m.holder {
				holdings = append(holdings, holdingSum{schema.HoldingKey{Asset: m.asset, Holder: model.BirthPk{Utxo: m.holder}}, schema.Int128{}, a})
				n++
			}
			holdings[n-1].amount = holdings[n-1].amount.Add(schema.Int128Of(m.amount, int64(m.unspent)))
		}
		last = m
	}
	for _, m := range c.mints {
		i, found := slices.BinarySearchFunc(assets, m.asset, func(a *totalsSum, asset model.AssetBirthPk) int { return schema.CompareAssetBirths(a.asset, asset) })
		if !found { // minted assets come out, and burned ones go in
			return nil, nil, fmt.Errorf("the asset born at %v is minted or burned and does not move", m.asset)
		}
		assets[i].mint(m.amount, m.sign)
	}
	return assets, slices.DeleteFunc(holdings, func(h holdingSum) bool { return h.amount == schema.Int128{} }), nil
}

func (a *totalsSum) mint(amount *big.Int, sign int64) {
	sum, count := &a.minted, &a.mints
	if amount.Sign() < 0 {
		sum, count = &a.burned, &a.burns
	}
	*count += sign
	signed := new(big.Int).Abs(amount)
	sum.Add(sum, signed.Mul(signed, big.NewInt(sign)))
}

// Applier applies changes to the stored rows.
type Applier struct {
	Reader storage.Reader
	Batch  storage.Batch
	Totals *schema.Totals
	// Assets and holders born at since or later have no rows yet, so none are looked up.
	NewFrom model.UtxoPk

	key, row []byte // of the current row
}

// BatchRows is the number of rows that an Applier reads at once.
const BatchRows = 16 << 10

func (s *Applier) Apply(c *AssetDeltas, tallies []*Deltas) error {
	assets, holdings, err := c.sum()
	if err != nil {
		return err
	}
	for part := range slices.Chunk(holdings, BatchRows) {
		if err := s.holdings(part); err != nil {
			return err
		}
	}
	for part := range slices.Chunk(assets, BatchRows) {
		if err := s.totals(part); err != nil {
			return err
		}
	}
	for _, y := range tallies {
		if err := s.ApplyDeltas(y); err != nil {
			return err
		}
	}
	return nil
}

// stored reads the rows of keys, except those known to be absent.
func (s *Applier) stored(f storage.Family, keys [][]byte, fresh func(i int) bool) ([][]byte, error) {
	rows := make([][]byte, len(keys))
	var at []int
	var wanted [][]byte
	for i, key := range keys {
		if !fresh(i) {
			at, wanted = append(at, i), append(wanted, key)
		}
	}
	found, err := s.Reader.GetMany(f, wanted)
	for i, v := range found {
		rows[at[i]] = v
	}
	return rows, err
}

// write replaces a row, or deletes it if nothing is left.
func (s *Applier) write(f storage.Family, key, before, now []byte) {
	if now == nil {
		s.Batch.Delete(f, key)
	} else {
		s.Batch.Put(f, key, now)
	}
	if before == nil {
		s.Totals.Rows[f]++
	}
	if now == nil {
		s.Totals.Rows[f]--
	}
}

func (s *Applier) holdings(changed []holdingSum) error {
	keys := make([][]byte, len(changed))
	for i := range changed {
		keys[i] = schema.AppendHoldingKey(nil, changed[i].HoldingKey)
	}
	rows, err := s.stored(schema.FamilyHoldings, keys, func(i int) bool {
		return changed[i].Asset.Utxo >= s.NewFrom || changed[i].Holder.Utxo >= s.NewFrom
	})
	if err != nil {
		return err
	}
	for i := range changed {
		k := &changed[i]
		var amount schema.Int128
		if rows[i] != nil {
			if amount, err = schema.ParseHoldingRow(rows[i]); err != nil {
				return fmt.Errorf("holding of the asset born at %v: %w", k.Asset, err)
			}
		} else {
			k.of.holders++
		}
		amount = amount.Add(k.amount)
		switch {
		case amount.Negative():
			return fmt.Errorf("the holder born at %v would have less than nothing of the asset born at %v: run check", k.Holder, k.Asset)
		case amount == schema.Int128{}:
			k.of.holders--
			s.write(schema.FamilyHoldings, keys[i], rows[i], nil)
		default:
			s.write(schema.FamilyHoldings, keys[i], rows[i], schema.AppendHoldingRow(nil, amount))
		}
	}
	return nil
}

func (s *Applier) totals(assets []*totalsSum) error {
	keys := make([][]byte, len(assets))
	for i, a := range assets {
		keys[i] = a.asset.AppendTo(nil)
	}
	rows, err := s.stored(schema.FamilyAssetTotals, keys, func(i int) bool { return assets[i].asset.Utxo >= s.NewFrom })
	if err != nil {
		return err
	}
	for i, a := range assets {
		var now schema.AssetTotals
		if rows[i] != nil {
			if now, err = schema.ParseAssetTotalsRow(rows[i]); err != nil {
				return fmt.Errorf("totals of the asset born at %v: %w", a.asset, err)
			}
		}
		if !a.applyTo(&now) {
			return fmt.Errorf("the totals of the asset born at %v would become negative: run check", a.asset)
		}
		if now.Outputs == 0 {
			s.write(schema.FamilyAssetTotals, keys[i], rows[i], nil)
		} else {
			s.write(schema.FamilyAssetTotals, keys[i], rows[i], schema.AppendAssetTotalsRow(nil, &now))
		}
	}
	return nil
}

// applyTo adds the change to the totals of the asset; false if they would become negative.
func (c *totalsSum) applyTo(t *schema.AssetTotals) bool {
	t.Outputs += uint64(c.outputs)
	t.Unspent += uint64(c.unspent)
	t.Mints += uint64(c.mints)
	t.Burns += uint64(c.burns)
	t.Holders += uint64(c.holders)
	t.Minted.Add(&t.Minted, &c.minted)
	t.Burned.Add(&t.Burned, &c.burned)
	for _, n := range []uint64{t.Outputs, t.Unspent, t.Mints, t.Burns, t.Holders} {
		if int64(n) < 0 {
			return false
		}
	}
	return t.Minted.Sign() >= 0 && t.Burned.Sign() >= 0
}
