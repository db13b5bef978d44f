package check

import (
	"bytes"

	"birthmark/core/schema"
	"birthmark/model"
)

// assetEntries checks that every asset entry has its asset, that every later one has a relation, and that its minted
// flag matches the supply.
func (c *checker) assetEntries() error {
	ids, supplies := c.join(schema.FamilyAssetID), c.join(schema.FamilyAssetSupply)
	relations := c.join(schema.FamilyAssetRelations)
	births, later, derived := uint64(0), uint64(0), c.Traits.Tokens != nil
	err := c.scan(schema.FamilyAssets, func(k, v []byte) error {
		pk, err := model.ParseUtxoPk(k)
		if err != nil {
			return err
		}
		entries, err := schema.ParseAssetsRow(pk, v)
		if err != nil {
			return err
		}
		key := bytes.Clone(k)
		holdings := len(schema.Holdings(entries))
		related := len(schema.Related(entries[:holdings]))
		c.assets += uint64(holdings)
		if len(entries) == 0 {
			c.problem(schema.FamilyAssets, key, "no entries")
		}
		for i, e := range entries {
			at := model.AssetPk{Utxo: pk, Index: uint16(i)}
			c.checksum += schema.AmountChecksum(e.Amount)
			if e.Amount.IsZero() && (i < holdings || !derived) {
				c.problem(schema.FamilyAssets, key, "entry %d has amount 0", i)
			}
			ids.expect(e.Birth.AppendTo(nil), present, schema.FamilyAssets, key, "one of its assets is missing")
			supplies.add(schema.AppendSupplyKey(nil, e.Birth, pk.Tx()), func(v []byte) {
				if minted := len(v) > 0 && v[0] != 1; minted != e.Minted {
					c.problem(schema.FamilyAssets, key, "entry %d has minted %t, the supply has %t", i, e.Minted, minted)
				}
				if v == nil && i >= holdings {
					c.problem(schema.FamilyAssets, key, "entry %d has amount 0, and its transaction does not change the supply", i)
				}
			})
			if i >= related {
				continue
			}
			if !derived && e.Birth == model.AssetBirthPk(at) {
				births++
				continue
			}
			later++
			relations.expect(schema.AppendAssetRelationKey(nil, e.Birth, at), present, schema.FamilyAssets, key,
				"the relation of an asset to it is missing")
		}
		return nil
	})
	if err != nil {
		return err
	}
	err = c.count(schema.FamilyAssetRelations, later, "later asset entries", func(k, v []byte) error {
		_, err := schema.ParseAssetRelationRow(k, v)
		return err
	})
	if err != nil {
		return err
	}
	return c.assetIDs(births)
}

// assetIDs checks that births and ids map to each other, that the fingerprint of an id points to its birth, and that
// every info belongs to an asset.
func (c *checker) assetIDs(births uint64) error {
	infos, fingerprints := c.join(schema.FamilyAssetInfo), c.join(schema.FamilyFingerprint)
	want := uint64(0)
	derived := c.Traits.Tokens != nil
	if derived {
		births = c.Totals.Rows[schema.FamilyAssetID] // an asset can exist without an output that has it
	}
	err := c.inverse(schema.AssetSpace, births, func(key, id []byte) {
		fingerprint := func(info []byte) {
			if fp := c.Traits.Fingerprint; fp != nil {
				if name := fp.Of(id, info); name != nil {
					want++
					fingerprints.expect(name, equal(key), schema.FamilyAssetID, key,
						"the row of its fingerprint does not point back to it")
				}
			}
		}
		if !derived {
			fingerprint(nil)
			return
		}
		id = bytes.Clone(id)
		infos.add(key, func(info []byte) {
			if info == nil {
				c.problem(schema.FamilyAssetID, key, "its info is missing")
				return
			}
			fingerprint(info)
		})
	})
	if err != nil {
		return err
	}
	if err := c.count(schema.FamilyFingerprint, want, "assets", anyLayout); err != nil {
		return err
	}
	ids := c.join(schema.FamilyAssetID)
	return c.scan(schema.FamilyAssetInfo, func(k, v []byte) error {
		c.checksum += schema.InfoChecksum(v)
		key := bytes.Clone(k)
		ids.expect(key, present, schema.FamilyAssetInfo, key, "its asset is missing")
		return nil
	})
}
