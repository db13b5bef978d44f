package check

import (
	"errors"
	"slices"

	"birthmark/core/schema"
	"birthmark/model"
)

// The sums of an asset. Each is one side minus the other.
const (
	sumSupply = iota // minted minus burned minus held
	sumHoldings
	sumHolders
	sumOutputs
	sumUnspent
	sumMinted
	sumBurned
	sumMints
	sumBurns
	sumCount
)

var assetSumTexts = []sumText{
	sumSupply:   {schema.FamilyAssetID, "minted less burned differs from what is held"},
	sumHoldings: {schema.FamilyHoldings, "the holdings differ from what the unspent outputs of the holders hold"},
	sumHolders:  {schema.FamilyAssetTotals, "holders differs from the number of holdings"},
	sumOutputs:  {schema.FamilyAssetTotals, "outputs differs from the number of outputs that hold it"},
	sumUnspent:  {schema.FamilyAssetTotals, "unspent differs from the number of unspent outputs that hold it"},
	sumMinted:   {schema.FamilyAssetTotals, "minted differs from the supply"},
	sumBurned:   {schema.FamilyAssetTotals, "burned differs from the supply"},
	sumMints:    {schema.FamilyAssetTotals, "mints differs from the supply"},
	sumBurns:    {schema.FamilyAssetTotals, "burns differs from the supply"},
}

// assetAggregates checks the layout of holdings and totals. assetSums checks their numbers.
func (c *checker) assetAggregates() error {
	err := c.scan(schema.FamilyHoldings, func(k, v []byte) error {
		_, err1 := schema.ParseHoldingKey(k)
		_, err2 := schema.ParseHoldingRow(v)
		return errors.Join(err1, err2)
	})
	if err != nil {
		return err
	}
	err = c.scan(schema.FamilyAssetTotals, func(k, v []byte) error {
		_, err1 := model.ParseAssetBirthPk(k)
		_, err2 := schema.ParseAssetTotalsRow(v)
		return errors.Join(err1, err2)
	})
	if err == nil && c.rows[schema.FamilyAssetTotals] != c.rows[schema.FamilyAssetID] {
		c.problem(schema.FamilyAssetTotals, nil, "%d rows for %d assets", c.rows[schema.FamilyAssetTotals],
			c.rows[schema.FamilyAssetID])
	}
	return err
}

// assetSums checks that the supply, the holdings and the totals of every asset follow from the outputs.
func (c *checker) assetSums() error {
	return c.compareSums([]int{schema.AssetSpace}, func(int) []sumText { return assetSumTexts }, func(s *sumCheck) error {
		a := assetCheck{s}
		return errors.Join(a.entries(), a.supply(), a.holdings(), a.totals())
	})
}

// assetCheck adds up the numbers of assets. It skips rows with a wrong layout, which other passes report.
type assetCheck struct{ *sumCheck }

// entries subtracts the numbers that follow from outputs.
func (a assetCheck) entries() error {
	holders := a.Holders()
	utxos, spent := a.join(schema.FamilyUtxo), a.join(schema.FamilySpentInput)
	err := a.each(schema.FamilyAssets, func(k, v []byte) error {
		pk, err := model.ParseUtxoPk(k)
		if err != nil {
			return nil
		}
		h := held{}
		if h.entries, err = schema.ParseAssetsRow(pk, v); err != nil {
			return nil
		}
		key := pk.AppendTo(nil)
		utxos.add(key, func(v []byte) {
			row, err := a.ParseUtxoRow(pk, v)
			switch {
			case err == nil:
				for _, o := range row.Occurrences {
					if o.Index == holders {
						h.holder, h.owned = o.Birth, true
					}
				}
			case a.first && v == nil:
				a.problem(schema.FamilyAssets, key, "its output is missing")
			}
		})
		spent.add(key, func(v []byte) { a.output(&h, v == nil) })
		if utxos.full() { // always before spent, whose function needs the holder
			return flushAll(utxos, spent)
		}
		return nil
	})
	return errors.Join(err, flushAll(utxos, spent))
}

// held are the assets of an output and the holder, a value of the index of holders.
type held struct {
	entries []schema.AssetEntry
	holder  model.BirthPk
	owned   bool // there is a holder
}

func (a assetCheck) output(h *held, unspent bool) {
	for i, e := range h.entries {
		asset := e.Birth.AppendTo(nil)
		s := a.of(schema.AssetSpace, asset)
		if s == nil {
			continue
		}
		one := a.coefficient(0, asset)
		again := slices.ContainsFunc(h.entries[:i], func(before schema.AssetEntry) bool { return before.Birth == e.Birth })
		if !again {
			s[sumOutputs] = s[sumOutputs].minus(one)
		}
		if !unspent {
			continue
		}
		if !again {
			s[sumUnspent] = s[sumUnspent].minus(one)
		}
		s[sumSupply] = s[sumSupply].minus(one.times(mod61Of(e.Amount)))
		if h.owned {
			holding := a.coefficient(0, schema.AppendHoldingKey(nil, schema.HoldingKey{Asset: e.Birth, Holder: h.holder}))
			s[sumHoldings] = s[sumHoldings].minus(holding.times(mod61Of(e.Amount)))
		}
	}
}

// supply adds mints and burns to the held amounts, and subtracts them from the totals.
func (a assetCheck) supply() error {
	return a.each(schema.FamilyAssetSupply, func(k, v []byte) error {
		birth, _, err1 := schema.ParseSupplyKey(k)
		amount, err2 := schema.ParseSupplyRow(v)
		asset := birth.AppendTo(nil)
		s := a.of(schema.AssetSpace, asset)
		if err1 != nil || err2 != nil || s == nil {
			return nil
		}
		one := a.coefficient(0, asset)
		n := one.times(mod61OfBig(amount))
		if amount.Sign() > 0 {
			s[sumSupply] = s[sumSupply].plus(n)
			s[sumMinted], s[sumMints] = s[sumMinted].minus(n), s[sumMints].minus(one)
		} else {
			s[sumSupply] = s[sumSupply].minus(n)
			s[sumBurned], s[sumBurns] = s[sumBurned].minus(n), s[sumBurns].minus(one)
		}
		return nil
	})
}

// holdings adds the stored holdings, and subtracts their number from the holders in the totals.
func (a assetCheck) holdings() error {
	return a.each(schema.FamilyHoldings, func(k, v []byte) error {
		h, err1 := schema.ParseHoldingKey(k)
		amount, err2 := schema.ParseHoldingRow(v)
		asset := h.Asset.AppendTo(nil)
		s := a.of(schema.AssetSpace, asset)
		if err1 != nil || err2 != nil || s == nil {
			return nil
		}
		s[sumHoldings] = s[sumHoldings].plus(a.coefficient(0, k).times(mod61OfWide(amount)))
		s[sumHolders] = s[sumHolders].minus(a.coefficient(0, asset))
		return nil
	})
}

// totals adds the stored totals.
func (a assetCheck) totals() error {
	return a.each(schema.FamilyAssetTotals, func(k, v []byte) error {
		s := a.of(schema.AssetSpace, k)
		t, err := schema.ParseAssetTotalsRow(v)
		if s == nil || err != nil {
			return nil
		}
		one := a.coefficient(0, k)
		for _, n := range [...]struct {
			sum    int
			number mod61
		}{
			{sumHolders, mod61Of(t.Holders)}, {sumOutputs, mod61Of(t.Outputs)}, {sumUnspent, mod61Of(t.Unspent)},
			{sumMints, mod61Of(t.Mints)}, {sumBurns, mod61Of(t.Burns)},
			{sumMinted, mod61OfBig(&t.Minted)}, {sumBurned, mod61OfBig(&t.Burned)},
		} {
			s[n.sum] = s[n.sum].plus(one.times(n.number))
		}
		return nil
	})
}
