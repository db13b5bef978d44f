package core

import (
	"bytes"
	"errors"
	"fmt"

	"birthmark/model"
)

// assetEntries checks that every asset entry has its asset, that every later one has a relation, and that its minted flag
// matches the supply.
func (c *checker) assetEntries() error {
	ids, relations, supplies := c.join(familyAssetID), c.join(familyAssetRelations), c.join(familyAssetSupply)
	births, later := uint64(0), uint64(0)
	err := c.scan(familyAssets, func(k, v []byte) error {
		pk, err := model.ParseUtxoPk(k)
		if err != nil {
			return err
		}
		entries, err := parseAssetsRow(pk, v)
		if err != nil {
			return err
		}
		key := append([]byte(nil), k...)
		c.assets += uint64(len(entries))
		if len(entries) == 0 {
			c.problem(familyAssets, key, "no entries")
		}
		for i, e := range entries {
			at := model.AssetPk{Utxo: pk, Index: uint16(i)}
			c.checksum += e.amount
			if e.amount == 0 {
				c.problem(familyAssets, key, "entry %d has amount 0", i)
			}
			ids.add(e.birth.AppendTo(nil), func(v []byte) {
				if v == nil {
					c.problem(familyAssets, key, "the asset born at %v is missing", e.birth)
				}
			})
			supplies.add(appendSupplyKey(nil, e.birth, pk.Tx()), func(v []byte) {
				if minted := len(v) > 0 && v[0] == 0; minted != e.minted {
					c.problem(familyAssets, key, "entry %d has minted %t, the supply has %t", i, e.minted, minted)
				}
			})
			if e.birth == model.AssetBirthPk(at) {
				births++
				continue
			}
			later++
			relations.add(appendAssetRelationKey(nil, e.birth, at), func(v []byte) {
				if v == nil {
					c.problem(familyAssets, key, "relation of the asset born at %v to entry %d is missing", e.birth, i)
				}
			})
		}
		return flushFull(ids, relations, supplies)
	})
	if err != nil {
		return err
	}
	if err := flushAll(ids, relations, supplies); err != nil {
		return err
	}
	err = c.scan(familyAssetRelations, func(k, v []byte) error {
		_, _, err := parseAssetRelationKey(k)
		if err == nil && len(v) > 0 {
			err = fmt.Errorf("%w: a relation has no value", errRow)
		}
		return err
	})
	if err != nil {
		return err
	}
	if n := c.rows[familyAssetRelations]; n != later {
		c.problem(familyAssetRelations, nil, "%d rows for %d later asset entries", n, later)
	}
	return c.assetIDs(births)
}

// assetIDs checks that births and ids map to each other, and that the fingerprint of an id points to its birth.
func (c *checker) assetIDs(births uint64) error {
	fingerprints := c.join(familyFingerprint)
	want := uint64(0)
	var failed error
	err := c.inverse(assetSpace, births, func(key, id []byte) {
		fp := c.db.catalogue().traits.Fingerprint
		if fp == nil || failed != nil {
			return
		}
		want++
		fingerprints.add(fp.Of(id), func(v []byte) {
			if !bytes.Equal(v, key) {
				c.problem(familyAssetID, key, "the row of its fingerprint does not point back to it")
			}
		})
		failed = flushFull(fingerprints)
	})
	if err := errors.Join(err, failed, fingerprints.flush()); err != nil {
		return err
	}
	if err := c.count(familyFingerprint, want, "assets"); err != nil {
		return err
	}
	return c.infos()
}

// infos checks that every info belongs to an asset.
func (c *checker) infos() error {
	ids := c.join(familyAssetID)
	err := c.scan(familyAssetInfo, func(k, v []byte) error {
		c.checksum += infoChecksum(v)
		key := append([]byte(nil), k...)
		ids.add(key, func(v []byte) {
			if v == nil {
				c.problem(familyAssetInfo, key, "its asset is missing")
			}
		})
		return flushFull(ids)
	})
	return errors.Join(err, ids.flush())
}

// supplies checks that every mint and burn belongs to a transaction. assetSums checks the amounts.
func (c *checker) supplies() error {
	txs := c.join(familyTxHash)
	err := c.scan(familyAssetSupply, func(k, v []byte) error {
		_, tx, err1 := parseSupplyKey(k)
		_, err2 := parseSupplyRow(v)
		if err := errors.Join(err1, err2); err != nil {
			return err
		}
		key := append([]byte(nil), k...)
		txs.add(tx.AppendTo(nil), func(v []byte) {
			if v == nil {
				c.problem(familyAssetSupply, key, "its transaction is missing")
			}
		})
		return flushFull(txs)
	})
	return errors.Join(err, txs.flush())
}
