package check

import (
	"bytes"
	"cmp"
	"slices"

	"birthmark/core/schema"
	"birthmark/model"
)

// ofAsset returns the sums of an asset and its coefficient.
func (s *sumCheck) ofAsset(asset model.AssetBirthPk) (*sums, mod61) {
	s.key = asset.AppendTo(s.key[:0])
	return s.of(schema.AssetSpace, s.key), s.coefficient(0, s.key)
}

// assetOutputs subtracts the numbers that follow from outputs.
func (s *sumCheck) assetOutputs() error {
	holders := s.Holders()
	utxos, spent := s.join(schema.FamilyUtxo), s.join(schema.FamilySpentInput)
	return s.scan(schema.FamilyAssets, func(k, v []byte) error {
		pk, err1 := model.ParseUtxoPk(k)
		entries, err2 := schema.ParseAssetsRow(pk, v)
		if err := cmp.Or(err1, err2); err != nil {
			return err
		}
		key := pk.AppendTo(nil)
		utxos.add(key, func(v []byte) {
			var holder *model.BirthPk
			row, err := s.ParseUtxoRow(pk, v)
			for i, o := range row.Occurrences {
				if err == nil && o.Index == holders {
					holder = &row.Occurrences[i].Birth
				}
			}
			if v == nil && s.bad == nil {
				s.problem(schema.FamilyAssets, key, "its output is missing")
			}
			spent.add(key, func(v []byte) { s.assetOutput(entries, holder, v == nil) })
		})
		return nil
	})
}

func (s *sumCheck) assetOutput(entries []schema.AssetEntry, holder *model.BirthPk, unspent bool) {
	entries = schema.Holdings(entries)
	for i, e := range entries {
		of, one := s.ofAsset(e.Birth)
		// An output can have several entries of one asset.
		if !slices.ContainsFunc(entries[:i], func(before schema.AssetEntry) bool { return before.Birth == e.Birth }) {
			of.subtract(sumOutputs, one)
			if unspent {
				of.subtract(sumUnspent, one)
			}
		}
		if !unspent {
			continue
		}
		of.subtract(sumSupply, one.times(mod61OfWide(e.Amount)))
		if holder != nil {
			s.key = schema.AppendHoldingKey(s.key[:0], schema.HoldingKey{Asset: e.Birth, Holder: *holder})
			of.subtract(sumHoldings, s.coefficient(0, s.key).times(mod61OfWide(e.Amount)))
		}
	}
}

// supply adds mints and burns to the held amounts, and subtracts them from the totals. It also checks that each belongs
// to a transaction.
func (s *sumCheck) supply() error {
	txs := s.join(schema.FamilyTxHash)
	return s.scan(schema.FamilyAssetSupply, func(k, v []byte) error {
		row, err := schema.ParseSupplyRow(k, v)
		if err != nil {
			return err
		}
		if s.bad == nil {
			txs.expect(row.Tx.AppendTo(nil), present, schema.FamilyAssetSupply, bytes.Clone(k), "its transaction is missing")
		}
		of, one := s.ofAsset(row.Birth)
		if row.Mints {
			n := one.times(mod61OfBig(row.Minted))
			of.add(sumSupply, n)
			of.subtract(sumMinted, n)
			of.subtract(sumMints, one)
		}
		if row.Burns {
			n := one.times(mod61OfBig(row.Burned))
			of.subtract(sumSupply, n)
			of.subtract(sumBurned, n)
			of.subtract(sumBurns, one)
		}
		return nil
	})
}

// holdings adds the stored holdings, and subtracts their number from the holders in the totals.
func (s *sumCheck) holdings() error {
	return s.scan(schema.FamilyHoldings, func(k, v []byte) error {
		h, err := schema.ParseHoldingRow(k, v)
		if err != nil {
			return err
		}
		of, one := s.ofAsset(h.Asset)
		of.add(sumHoldings, s.coefficient(0, k).times(mod61OfWide(h.Amount)))
		of.subtract(sumHolders, one)
		return nil
	})
}

// totals adds the stored totals.
func (s *sumCheck) totals() error {
	return s.count(schema.FamilyAssetTotals, s.rows[schema.FamilyAssetID], "assets", func(k, v []byte) error {
		birth, err1 := model.ParseAssetBirthPk(k)
		t, err2 := schema.ParseAssetTotalsRow(v)
		if err := cmp.Or(err1, err2); err != nil {
			return err
		}
		of, one := s.ofAsset(birth)
		for sum, n := range [...]mod61{
			sumHolders: mod61Of(t.Holders), sumOutputs: mod61Of(t.Outputs), sumUnspent: mod61Of(t.Unspent),
			sumMints: mod61Of(t.Mints), sumBurns: mod61Of(t.Burns),
			sumMinted: mod61OfBig(&t.Minted), sumBurned: mod61OfBig(&t.Burned),
		} {
			of.add(sum, one.times(n)) // 0 for the other sums
		}
		return nil
	})
}
