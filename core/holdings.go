package core

import (
	"cmp"
	"fmt"
	"math/big"
	"slices"

	"birthmark/model"
	"birthmark/storage"
)

// holdersIndex is the index whose values are the holders of assets.
const holdersIndex = "address"

// holders is the index whose values hold assets; nil where the database has none that can.
func (db *DB) holders() *index {
	if x := db.indexByName(holdersIndex); x != nil && x.Kind == model.OneToMany {
		return x
	}
	return nil
}

// held is the assets of an output, and whose they are.
type held struct {
	entries []assetEntry
	holder  model.BirthPk
	owned   bool // the output has a holder
}

// own finds the holder among the values that occur in the output.
func (h *held) own(holders *index, occurrences []occurrence) {
	for _, o := range occurrences {
		if o.index == holders {
			h.holder, h.owned = o.birth, true
		}
	}
}

// assetHolding is an asset at one holder.
type assetHolding struct {
	asset  model.AssetBirthPk
	holder model.BirthPk
}

func compareHoldings(a, b assetHolding) int {
	return cmp.Or(compareAssetBirths(a.asset, b.asset), cmp.Compare(a.holder.Utxo, b.holder.Utxo))
}

// assetChanges is what blocks that come or go change in how assets stand: in the families of holdings and of totals. It
// is collected for a whole write, so that what an asset does back and forth there costs nothing.
type assetChanges struct {
	holdings map[assetHolding]wide
	totals   map[model.AssetBirthPk]*assetChange
	turn     int
}

type assetChange struct {
	outputs, unspent, mints, burns, holders int64
	minted, burned                          big.Int

	turn int // of the output that was counted last: an asset can stand in it more than once
}

func (c *assetChanges) of(asset model.AssetBirthPk) *assetChange {
	a := c.totals[asset]
	if a == nil {
		if c.totals == nil {
			c.holdings, c.totals = map[assetHolding]wide{}, map[model.AssetBirthPk]*assetChange{}
		}
		a = &assetChange{}
		c.totals[asset] = a
	}
	return a
}

// move counts an output with assets: outputs says whether it comes (1) or goes (-1), unspent whether it can be spent
// from now on or no longer can be.
func (c *assetChanges) move(h *held, outputs, unspent int64) {
	c.turn++
	for _, e := range h.entries {
		a := c.of(e.birth)
		if a.turn != c.turn {
			a.turn = c.turn
			a.outputs += outputs
			a.unspent += unspent
		}
		if h.owned {
			k := assetHolding{e.birth, h.holder}
			c.holdings[k] = c.holdings[k].plus(wideOf(e.amount, unspent))
		}
	}
}

// mint counts what a transaction that comes (1) or goes (-1) minted or burned.
func (c *assetChanges) mint(asset model.AssetBirthPk, amount *big.Int, sign int64) {
	a := c.of(asset)
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
	t *totals
	// Of assets and holders that were born at since or later there are no rows yet, so none are looked for.
	since model.UtxoPk
}

// rowsAtOnce is how many rows a settler reads in one go.
const rowsAtOnce = 16 << 10

func (s *settler) settle(c *assetChanges) error {
	var changed []assetHolding
	for k, n := range c.holdings {
		if n != (wide{}) {
			changed = append(changed, k)
		}
	}
	slices.SortFunc(changed, compareHoldings)
	for part := range slices.Chunk(changed, rowsAtOnce) {
		if err := s.holdings(c, part); err != nil {
			return err
		}
	}
	assets := make([]model.AssetBirthPk, 0, len(c.totals))
	for a := range c.totals {
		assets = append(assets, a)
	}
	slices.SortFunc(assets, compareAssetBirths)
	for part := range slices.Chunk(assets, rowsAtOnce) {
		if err := s.totals(c, part); err != nil {
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
		s.t.rows[f]++
	}
	if now == nil {
		s.t.rows[f]--
	}
}

func (s *settler) holdings(c *assetChanges, changed []assetHolding) error {
	keys := make([][]byte, len(changed))
	for i, k := range changed {
		keys[i] = appendHoldingKey(nil, k)
	}
	rows, err := s.stored(familyHoldings, keys, func(i int) bool {
		return changed[i].asset.Utxo >= s.since || changed[i].holder.Utxo >= s.since
	})
	if err != nil {
		return err
	}
	for i, k := range changed {
		var amount wide
		if rows[i] != nil {
			if amount, err = parseHoldingRow(rows[i]); err != nil {
				return fmt.Errorf("holding of the asset born at %v: %w", k.asset, err)
			}
		}
		a := c.of(k.asset)
		if rows[i] == nil {
			a.holders++
		}
		amount = amount.plus(c.holdings[k])
		switch {
		case amount.negative():
			return fmt.Errorf("the holder born at %v would have less than nothing of the asset born at %v: run check", k.holder, k.asset)
		case amount == wide{}:
			a.holders--
			s.write(familyHoldings, keys[i], rows[i], nil)
		default:
			s.write(familyHoldings, keys[i], rows[i], appendHoldingRow(nil, amount))
		}
	}
	return nil
}

func (s *settler) totals(c *assetChanges, assets []model.AssetBirthPk) error {
	keys := keysOf(assets)
	rows, err := s.stored(familyAssetTotals, keys, func(i int) bool { return assets[i].Utxo >= s.since })
	if err != nil {
		return err
	}
	for i, asset := range assets {
		var now assetTotals
		if rows[i] != nil {
			if now, err = parseAssetTotalsRow(rows[i]); err != nil {
				return fmt.Errorf("totals of the asset born at %v: %w", asset, err)
			}
		}
		if !now.apply(c.totals[asset]) {
			return fmt.Errorf("the totals of the asset born at %v would fall below nothing: run check", asset)
		}
		if now.outputs == 0 {
			s.write(familyAssetTotals, keys[i], rows[i], nil)
		} else {
			s.write(familyAssetTotals, keys[i], rows[i], appendAssetTotalsRow(nil, &now))
		}
	}
	return nil
}

// apply reports whether the totals after the change can be.
func (t *assetTotals) apply(c *assetChange) bool {
	t.outputs += uint64(c.outputs)
	t.unspent += uint64(c.unspent)
	t.mints += uint64(c.mints)
	t.burns += uint64(c.burns)
	t.holders += uint64(c.holders)
	t.minted.Add(&t.minted, &c.minted)
	t.burned.Add(&t.burned, &c.burned)
	for _, n := range []uint64{t.outputs, t.unspent, t.mints, t.burns, t.holders} {
		if int64(n) < 0 {
			return false
		}
	}
	return t.minted.Sign() >= 0 && t.burned.Sign() >= 0
}
