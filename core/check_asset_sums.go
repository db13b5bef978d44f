package core

import (
	"errors"
	"slices"

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
	sumSupply:   {familyAssetID, "minted less burned differs from what is held"},
	sumHoldings: {familyHoldings, "the holdings differ from what the unspent outputs of the holders hold"},
	sumHolders:  {familyAssetTotals, "holders differs from the number of holdings"},
	sumOutputs:  {familyAssetTotals, "outputs differs from the number of outputs that hold it"},
	sumUnspent:  {familyAssetTotals, "unspent differs from the number of unspent outputs that hold it"},
	sumMinted:   {familyAssetTotals, "minted differs from the supply"},
	sumBurned:   {familyAssetTotals, "burned differs from the supply"},
	sumMints:    {familyAssetTotals, "mints differs from the supply"},
	sumBurns:    {familyAssetTotals, "burns differs from the supply"},
}

// assetAggregates checks the layout of holdings and totals. assetSums checks their numbers.
func (c *checker) assetAggregates() error {
	err := c.scan(familyHoldings, func(k, v []byte) error {
		_, err1 := parseHoldingKey(k)
		_, err2 := parseHoldingRow(v)
		return errors.Join(err1, err2)
	})
	if err != nil {
		return err
	}
	err = c.scan(familyAssetTotals, func(k, v []byte) error {
		_, err1 := model.ParseAssetBirthPk(k)
		_, err2 := parseAssetTotalsRow(v)
		return errors.Join(err1, err2)
	})
	if err == nil && c.rows[familyAssetTotals] != c.rows[familyAssetID] {
		c.problem(familyAssetTotals, nil, "%d rows for %d assets", c.rows[familyAssetTotals], c.rows[familyAssetID])
	}
	return err
}

// assetSums checks that the supply, the holdings and the totals of every asset follow from the outputs.
func (c *checker) assetSums() error {
	return c.compareSums([]int{assetSpace}, func(int) []sumText { return assetSumTexts }, func(s *sumCheck) error {
		a := assetCheck{s}
		return errors.Join(a.entries(), a.supply(), a.holdings(), a.totals())
	})
}

// assetCheck adds up the numbers of assets. It skips rows with a wrong layout, which other passes report.
type assetCheck struct{ *sumCheck }

// entries subtracts the numbers that follow from outputs.
func (a assetCheck) entries() error {
	holders := a.db.catalogue().holders()
	utxos, spent := a.join(familyUtxo), a.join(familySpentInput)
	err := a.each(familyAssets, func(k, v []byte) error {
		pk, err := model.ParseUtxoPk(k)
		if err != nil {
			return nil
		}
		h := held{}
		if h.entries, err = parseAssetsRow(pk, v); err != nil {
			return nil
		}
		key := pk.AppendTo(nil)
		utxos.add(key, func(v []byte) {
			row, err := a.db.catalogue().parseUtxoRow(pk, v)
			switch {
			case err == nil:
				h.own(holders, row.occurrences)
			case a.first && v == nil:
				a.problem(familyAssets, key, "its output is missing")
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

func (a assetCheck) output(h *held, unspent bool) {
	for i, e := range h.entries {
		asset := e.birth.AppendTo(nil)
		s := a.of(assetSpace, asset)
		if s == nil {
			continue
		}
		one := a.coefficient(0, asset)
		again := slices.ContainsFunc(h.entries[:i], func(before assetEntry) bool { return before.birth == e.birth })
		if !again {
			s[sumOutputs] = s[sumOutputs].minus(one)
		}
		if !unspent {
			continue
		}
		if !again {
			s[sumUnspent] = s[sumUnspent].minus(one)
		}
		s[sumSupply] = s[sumSupply].minus(one.times(mod61Of(e.amount)))
		if h.owned {
			holding := a.coefficient(0, appendHoldingKey(nil, assetHolding{e.birth, h.holder}))
			s[sumHoldings] = s[sumHoldings].minus(holding.times(mod61Of(e.amount)))
		}
	}
}

// supply adds mints and burns to the held amounts, and subtracts them from the totals.
func (a assetCheck) supply() error {
	return a.each(familyAssetSupply, func(k, v []byte) error {
		birth, _, err1 := parseSupplyKey(k)
		amount, err2 := parseSupplyRow(v)
		asset := birth.AppendTo(nil)
		s := a.of(assetSpace, asset)
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
	return a.each(familyHoldings, func(k, v []byte) error {
		h, err1 := parseHoldingKey(k)
		amount, err2 := parseHoldingRow(v)
		asset := h.asset.AppendTo(nil)
		s := a.of(assetSpace, asset)
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
	return a.each(familyAssetTotals, func(k, v []byte) error {
		s := a.of(assetSpace, k)
		t, err := parseAssetTotalsRow(v)
		if s == nil || err != nil {
			return nil
		}
		one := a.coefficient(0, k)
		for _, n := range [...]struct {
			sum    int
			number mod61
		}{
			{sumHolders, mod61Of(t.holders)}, {sumOutputs, mod61Of(t.outputs)}, {sumUnspent, mod61Of(t.unspent)},
			{sumMints, mod61Of(t.mints)}, {sumBurns, mod61Of(t.burns)},
			{sumMinted, mod61OfBig(&t.minted)}, {sumBurned, mod61OfBig(&t.burned)},
		} {
			s[n.sum] = s[n.sum].plus(one.times(n.number))
		}
		return nil
	})
}
