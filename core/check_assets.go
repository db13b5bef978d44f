package core

import (
	"bytes"
	"errors"
	"fmt"
	"math/big"

	"birthmark/model"
)

// assetEntries: every asset entry has its asset, every later one its relation, and says rightly whether it was minted.
func (c *checker) assetEntries() error {
	utxos, ids, relations, supplies := c.join(familyUtxo), c.join(familyAssetID), c.join(familyAssetRelations), c.join(familyAssetSupply)
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
			c.fault(familyAssets, key, "no entries")
		}
		utxos.add(key, func(v []byte) {
			if v == nil {
				c.fault(familyAssets, key, "its output is missing")
			}
		})
		for i, e := range entries {
			at := model.AssetPk{Utxo: pk, Index: uint16(i)}
			c.checksum += e.amount
			if e.amount == 0 {
				c.fault(familyAssets, key, "entry %d has amount 0", i)
			}
			ids.add(e.birth.AppendTo(nil), func(v []byte) {
				if v == nil {
					c.fault(familyAssets, key, "the asset born at %v is missing", e.birth)
				}
			})
			supplies.add(appendSupplyKey(nil, e.birth, pk.Tx()), func(v []byte) {
				if minted := len(v) > 0 && v[0] == 0; minted != e.minted {
					c.fault(familyAssets, key, "entry %d says minted %t, the supply says %t", i, e.minted, minted)
				}
			})
			if e.birth == model.AssetBirthPk(at) {
				births++
				continue
			}
			later++
			relations.add(appendAssetRelationKey(nil, e.birth, at), func(v []byte) {
				if v == nil {
					c.fault(familyAssets, key, "relation of the asset born at %v to entry %d is missing", e.birth, i)
				}
			})
		}
		return flushFull(utxos, ids, relations, supplies)
	})
	if err != nil {
		return err
	}
	if err := flushAll(utxos, ids, relations, supplies); err != nil {
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
		c.fault(familyAssetRelations, nil, "%d rows for %d later asset entries", n, later)
	}
	if err := c.assetIDs(); err != nil {
		return err
	}
	if n := c.rows[familyAssetID]; n != births {
		c.fault(familyAssetID, nil, "%d rows for %d births of assets", n, births)
	}
	return c.count(familyAssetBirth, c.rows[familyAssetID], "assets")
}

// assetIDs: births and ids are inverse to each other.
func (c *checker) assetIDs() error {
	back := c.join(familyAssetBirth)
	err := c.scan(familyAssetID, func(k, v []byte) error {
		key := append([]byte(nil), k...)
		back.add(append([]byte(nil), v...), func(v []byte) {
			if !bytes.Equal(v, key) {
				c.fault(familyAssetID, key, "its id does not lead back to it")
			}
		})
		return flushFull(back)
	})
	return errors.Join(err, back.flush())
}

// supplies: what was minted of an asset and not burned is what unspent outputs hold. The three families are walked
// side by side, an asset at a time.
func (c *checker) supplies() error {
	supply := map[model.AssetBirthPk]*big.Int{} // of the assets under way
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
				c.fault(familyAssetSupply, key, "its transaction is missing")
			}
		})
		return flushFull(txs)
	})
	if err := errors.Join(err, txs.flush()); err != nil {
		return err
	}
	entries, spent := c.join(familyAssets), c.join(familySpentInput)
	settle := func() error {
		if err := flushAll(entries, spent); err != nil {
			return err
		}
		for birth, left := range supply {
			if left.Sign() != 0 {
				c.fault(familyAssetID, birth.AppendTo(nil), "minted less burned differs by %v from what is held", left)
			}
		}
		clear(supply)
		return nil
	}
	for kv, err := range c.r.Scan(familyAssetID, nil, nil, false) {
		if err != nil {
			return err
		}
		birth, err := model.ParseAssetBirthPk(kv.Key)
		if err != nil {
			continue // told by assetIDs
		}
		left := new(big.Int)
		supply[birth] = left
		if err := c.minted(birth, left); err != nil {
			return err
		}
		held := func(at model.AssetPk) error {
			key := at.Utxo.AppendTo(nil)
			amount := new(big.Int)
			entries.add(key, func(v []byte) {
				if es, err := parseAssetsRow(at.Utxo, v); err == nil && int(at.Index) < len(es) {
					amount.SetUint64(es[at.Index].amount)
				}
			})
			spent.add(key, func(v []byte) {
				if v == nil {
					left.Sub(left, amount)
				}
			})
			// entries before spent: the amount has to be known first.
			if entries.full() {
				return flushAll(entries, spent)
			}
			return nil
		}
		if err := held(model.AssetPk(birth)); err != nil {
			return err
		}
		prefix := birth.AppendTo(nil)
		for kv, err := range c.r.Scan(familyAssetRelations, prefix, after(prefix), false) {
			if err != nil {
				return err
			}
			if _, at, err := parseAssetRelationKey(kv.Key); err == nil {
				if err := held(at); err != nil {
					return err
				}
			}
		}
		if len(supply) >= checkBatch {
			if err := settle(); err != nil {
				return err
			}
		}
	}
	return settle()
}

// minted adds what was minted and burned of an asset to left.
func (c *checker) minted(birth model.AssetBirthPk, left *big.Int) error {
	prefix := birth.AppendTo(nil)
	for kv, err := range c.r.Scan(familyAssetSupply, prefix, after(prefix), false) {
		if err != nil {
			return err
		}
		if amount, err := parseSupplyRow(kv.Value); err == nil {
			left.Add(left, amount)
		}
	}
	return nil
}

// after is the first key that does not begin with prefix; nil where there is none.
func after(prefix []byte) []byte {
	end := bytes.Clone(prefix)
	for i := len(end) - 1; i >= 0; i-- {
		if end[i]++; end[i] != 0 {
			return end[:i+1]
		}
	}
	return nil
}
