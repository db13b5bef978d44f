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

// OutputAssets is the assets of an output, and whose they are.
type OutputAssets struct {
	Entries   []schema.AssetEntry
	Holder    model.BirthPk
	HasHolder bool // the output has a holder
}

// SetHolder finds the holder among the values that occur in the output.
func (h *OutputAssets) SetHolder(holders *schema.Index, occurrences []schema.Occurrence) {
	for _, o := range occurrences {
		if o.Index == holders {
			h.Holder, h.HasHolder = o.Birth, true
		}
	}
}

// AssetDeltas is what blocks that come or go change in how assets stand: in the families of holdings and of totals. It
// is noted for a whole write and added up at its end, so that what an asset does back and forth there costs no rows.
type AssetDeltas struct {
	outputs []entryDelta
	mints   []mintDelta
}

// entryDelta is an entry of an output that comes or goes, is spent or is unspent again.
type entryDelta struct {
	asset            model.AssetBirthPk
	holder, at       model.UtxoPk // the birth of the one, and the output; no holder where owned is not set
	amount           uint64
	outputs, unspent int8
	owned            bool
}

type mintDelta struct {
	asset  model.AssetBirthPk
	amount *big.Int
	sign   int64
}

// AddOutput notes an output with assets: outputs says whether it comes (1) or goes (-1), unspent whether it can be spent
// from now on or no longer can be.
func (c *AssetDeltas) AddOutput(at model.UtxoPk, h *OutputAssets, outputs, unspent int8) {
	for _, e := range h.Entries {
		c.outputs = append(c.outputs, entryDelta{e.Birth, h.Holder.Utxo, at, e.Amount, outputs, unspent, h.HasHolder})
	}
}

// AddMint notes what a transaction that comes (1) or goes (-1) minted or burned.
func (c *AssetDeltas) AddMint(asset model.AssetBirthPk, amount *big.Int, sign int64) {
	c.mints = append(c.mints, mintDelta{asset, amount, sign})
}

// totalsSum is what changes of one asset, all in all.
type totalsSum struct {
	asset                                   model.AssetBirthPk
	outputs, unspent, mints, burns, holders int64
	minted, burned                          big.Int
}

// holdingSum is what changes of a holding, never nothing.
type holdingSum struct {
	schema.HoldingKey
	amount schema.Int128
	of     *totalsSum
}

// sum adds up what was noted, in the order of the rows.
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
		// An asset can stand in an output more than once.
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
		if !found { // what is minted comes out, and what is burned goes in
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

// Applier writes changes on top of what stands.
type Applier struct {
	Reader storage.Reader
	Batch  storage.Batch
	Totals *schema.Totals
	// Of assets and holders that were born at since or later there are no rows yet, so none are looked for.
	NewFrom model.UtxoPk

	key, row []byte // of the row being made
}

// BatchRows is how many rows a settler reads in one go.
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

// stored reads the rows of keys, but for those that are known not to be there.
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

// write puts a row in the place of the one that is there, or removes it where none is left.
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
			return fmt.Errorf("the totals of the asset born at %v would fall below nothing: run check", a.asset)
		}
		if now.Outputs == 0 {
			s.write(schema.FamilyAssetTotals, keys[i], rows[i], nil)
		} else {
			s.write(schema.FamilyAssetTotals, keys[i], rows[i], schema.AppendAssetTotalsRow(nil, &now))
		}
	}
	return nil
}

// applyTo adds the change to the totals of the asset; false if they would fall below nothing.
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
