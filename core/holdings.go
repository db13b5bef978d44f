package core

import (
	"cmp"
	"fmt"
	"math/big"
	"slices"

	"birthmark/core/schema"
	"birthmark/model"
	"birthmark/storage"
)

// held is the assets of an output, and whose they are.
type held struct {
	entries []schema.AssetEntry
	holder  model.BirthPk
	owned   bool // the output has a holder
}

// own finds the holder among the values that occur in the output.
func (h *held) own(holders *schema.Index, occurrences []schema.Occurrence) {
	for _, o := range occurrences {
		if o.Index == holders {
			h.holder, h.owned = o.Birth, true
		}
	}
}

// assetChanges is what blocks that come or go change in how assets stand: in the families of holdings and of totals. It
// is noted for a whole write and added up at its end, so that what an asset does back and forth there costs no rows.
type assetChanges struct {
	moves []assetMove
	mints []assetMint
}

// assetMove is an entry of an output that comes or goes, is spent or is unspent again.
type assetMove struct {
	asset            model.AssetBirthPk
	holder, at       model.UtxoPk // the birth of the one, and the output; no holder where owned is not set
	amount           uint64
	outputs, unspent int8
	owned            bool
}

type assetMint struct {
	asset  model.AssetBirthPk
	amount *big.Int
	sign   int64
}

// move notes an output with assets: outputs says whether it comes (1) or goes (-1), unspent whether it can be spent
// from now on or no longer can be.
func (c *assetChanges) move(at model.UtxoPk, h *held, outputs, unspent int8) {
	for _, e := range h.entries {
		c.moves = append(c.moves, assetMove{e.Birth, h.holder.Utxo, at, e.Amount, outputs, unspent, h.owned})
	}
}

// mint notes what a transaction that comes (1) or goes (-1) minted or burned.
func (c *assetChanges) mint(asset model.AssetBirthPk, amount *big.Int, sign int64) {
	c.mints = append(c.mints, assetMint{asset, amount, sign})
}

// assetChange is what changes of one asset, all in all.
type assetChange struct {
	asset                                   model.AssetBirthPk
	outputs, unspent, mints, burns, holders int64
	minted, burned                          big.Int
}

// holdingChange is what changes of a holding, never nothing.
type holdingChange struct {
	schema.HoldingKey
	amount schema.Int128
	of     *assetChange
}

// sum adds up what was noted, in the order of the rows.
func (c *assetChanges) sum() (assets []*assetChange, holdings []holdingChange, err error) {
	slices.SortFunc(c.moves, func(a, b assetMove) int {
		if a.asset != b.asset {
			return schema.CompareAssetBirths(a.asset, b.asset)
		}
		if a.holder != b.holder {
			return cmp.Compare(a.holder, b.holder)
		}
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.outputs, b.outputs), cmp.Compare(a.unspent, b.unspent))
	})
	var last *assetMove
	for i := range c.moves {
		m := &c.moves[i]
		if last == nil || last.asset != m.asset {
			assets = append(assets, &assetChange{asset: m.asset})
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
				holdings = append(holdings, holdingChange{schema.HoldingKey{Asset: m.asset, Holder: model.BirthPk{Utxo: m.holder}}, schema.Int128{}, a})
				n++
			}
			holdings[n-1].amount = holdings[n-1].amount.Add(schema.Int128Of(m.amount, int64(m.unspent)))
		}
		last = m
	}
	for _, m := range c.mints {
		i, found := slices.BinarySearchFunc(assets, m.asset, func(a *assetChange, asset model.AssetBirthPk) int { return schema.CompareAssetBirths(a.asset, asset) })
		if !found { // what is minted comes out, and what is burned goes in
			return nil, nil, fmt.Errorf("the asset born at %v is minted or burned and does not move", m.asset)
		}
		assets[i].mint(m.amount, m.sign)
	}
	return assets, slices.DeleteFunc(holdings, func(h holdingChange) bool { return h.amount == schema.Int128{} }), nil
}

func (a *assetChange) mint(amount *big.Int, sign int64) {
	sum, count := &a.minted, &a.mints
	if amount.Sign() < 0 {
		sum, count = &a.burned, &a.burns
	}
	*count += sign
	signed := new(big.Int).Abs(amount)
	sum.Add(sum, signed.Mul(signed, big.NewInt(sign)))
}

// settler writes changes on top of what stands.
type settler struct {
	r storage.Reader
	b storage.Batch
	t *schema.Totals
	// Of assets and holders that were born at since or later there are no rows yet, so none are looked for.
	since model.UtxoPk

	key, row []byte // of the row being made
}

// rowsAtOnce is how many rows a settler reads in one go.
const rowsAtOnce = 16 << 10

func (s *settler) settle(c *assetChanges, tallies []*tally) error {
	assets, holdings, err := c.sum()
	if err != nil {
		return err
	}
	for part := range slices.Chunk(holdings, rowsAtOnce) {
		if err := s.holdings(part); err != nil {
			return err
		}
	}
	for part := range slices.Chunk(assets, rowsAtOnce) {
		if err := s.totals(part); err != nil {
			return err
		}
	}
	for _, y := range tallies {
		if err := s.tally(y); err != nil {
			return err
		}
	}
	return nil
}

// stored reads the rows of keys, but for those that are known not to be there.
func (s *settler) stored(f storage.Family, keys [][]byte, fresh func(i int) bool) ([][]byte, error) {
	rows := make([][]byte, len(keys))
	var at []int
	var wanted [][]byte
	for i, key := range keys {
		if !fresh(i) {
			at, wanted = append(at, i), append(wanted, key)
		}
	}
	found, err := s.r.GetMany(f, wanted)
	for i, v := range found {
		rows[at[i]] = v
	}
	return rows, err
}

// write puts a row in the place of the one that is there, or removes it where none is left.
func (s *settler) write(f storage.Family, key, before, now []byte) {
	if now == nil {
		s.b.Delete(f, key)
	} else {
		s.b.Put(f, key, now)
	}
	if before == nil {
		s.t.Rows[f]++
	}
	if now == nil {
		s.t.Rows[f]--
	}
}

func (s *settler) holdings(changed []holdingChange) error {
	keys := make([][]byte, len(changed))
	for i := range changed {
		keys[i] = schema.AppendHoldingKey(nil, changed[i].HoldingKey)
	}
	rows, err := s.stored(schema.FamilyHoldings, keys, func(i int) bool {
		return changed[i].Asset.Utxo >= s.since || changed[i].Holder.Utxo >= s.since
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

func (s *settler) totals(assets []*assetChange) error {
	keys := make([][]byte, len(assets))
	for i, a := range assets {
		keys[i] = a.asset.AppendTo(nil)
	}
	rows, err := s.stored(schema.FamilyAssetTotals, keys, func(i int) bool { return assets[i].asset.Utxo >= s.since })
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
func (c *assetChange) applyTo(t *schema.AssetTotals) bool {
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
