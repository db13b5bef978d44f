package core

import (
	"errors"
	"hash/maphash"

	"birthmark/model"
	"birthmark/storage"
)

// How assets stand is said twice: by the entries of outputs, their spends and the supply, and by the families of
// holdings and of totals. Both are summed up over all assets at once, each number times a random factor of the asset (of
// asset and holder, for holdings) modulo a prime: sums that are equal prove the numbers equal, but for one chance in
// 2^61, in memory that does not grow with the chain. Where the sums of a group of assets differ a second pass finds out
// which of them it is.

// The sums of a group of assets: each is one side less the other.
const (
	sumSupply = iota // minted less burned less what is held
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

var sumFaults = [sumCount]struct {
	family storage.Family
	fault  string
}{
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

const (
	assetGroups = 4096
	// mostGroups is how many groups are looked into: enough to say what is wrong, few enough for memory.
	mostGroups = 16
)

type assetSums [sumCount]residue

// holdings: every row is one, and names an asset; that the asset and the holder are right is weighed in standing.
func (c *checker) holdings() error {
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
		c.fault(familyAssetTotals, nil, "%d rows for %d assets", c.rows[familyAssetTotals], c.rows[familyAssetID])
	}
	return err
}

// standing: supply, holdings and totals of every asset are what its entries in outputs say.
func (c *checker) standing() error {
	w := &weighing{checker: c, seed: maphash.MakeSeed()}
	groups := make([]assetSums, assetGroups)
	err := w.run(func(asset []byte) *assetSums { return &groups[w.hash(asset)%assetGroups] }, true)
	if err != nil {
		return err
	}
	bad := map[uint64]bool{}
	more := 0
	for g := range groups {
		switch {
		case groups[g] == assetSums{}:
		case len(bad) < mostGroups:
			bad[uint64(g)] = true
		default:
			more++
		}
	}
	if len(bad) == 0 {
		return nil
	}
	assets := map[string]*assetSums{}
	err = w.run(func(asset []byte) *assetSums {
		if !bad[w.hash(asset)%assetGroups] {
			return nil
		}
		s := assets[string(asset)]
		if s == nil {
			s = &assetSums{}
			assets[string(asset)] = s
		}
		return s
	}, false)
	for asset, sums := range assets {
		for i, n := range sums {
			if n != 0 {
				c.fault(sumFaults[i].family, []byte(asset), "%s", sumFaults[i].fault)
			}
		}
	}
	if more > 0 {
		c.fault(familyAssetTotals, nil, "assets of %d more groups of %d do not stand as their outputs say", more, assetGroups)
	}
	return err
}

// weighing is one check of how assets stand.
type weighing struct {
	*checker
	seed maphash.Seed
}

func (w *weighing) hash(b []byte) uint64 { return maphash.Bytes(w.seed, b) }

// factor is the random factor of an asset, or of an asset and a holder.
func (w *weighing) factor(key []byte) residue { return residueOf(w.hash(key)) }

// run adds up both sides; of gives the sums an asset belongs to, nil where they are not wanted. Rows that cannot be read
// were told of before.
func (w *weighing) run(of func(asset []byte) *assetSums, tell bool) error {
	return errors.Join(w.entries(of, tell), w.supply(of), w.stated(of))
}

// each visits the rows of a family that another pass has counted.
func (w *weighing) each(f storage.Family, visit func(key, value []byte) error) error {
	for kv, err := range w.r.Scan(f, nil, nil, false) {
		if err == nil {
			err = w.ctx.Err()
		}
		if err == nil {
			err = visit(kv.Key, kv.Value)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// entries takes off what outputs say.
func (w *weighing) entries(of func(asset []byte) *assetSums, tell bool) error {
	holders := w.db.catalogue().holders()
	utxos, spent := w.join(familyUtxo), w.join(familySpentInput)
	err := w.each(familyAssets, func(k, v []byte) error {
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
			row, err := w.db.catalogue().parseUtxoRow(pk, v)
			switch {
			case err == nil:
				h.own(holders, row.occurrences)
			case tell && v == nil:
				w.fault(familyAssets, key, "its output is missing")
			}
		})
		spent.add(key, func(v []byte) { w.output(of, &h, v == nil) })
		if utxos.full() { // before spent, always: the holder has to be known first
			return flushAll(utxos, spent)
		}
		return nil
	})
	return errors.Join(err, flushAll(utxos, spent))
}

func (w *weighing) output(of func(asset []byte) *assetSums, h *held, unspent bool) {
	for i, e := range h.entries {
		asset := e.birth.AppendTo(nil)
		s := of(asset)
		if s == nil {
			continue
		}
		factor := w.factor(asset)
		again := false
		for _, before := range h.entries[:i] {
			again = again || before.birth == e.birth
		}
		if !again {
			s[sumOutputs] = s[sumOutputs].less(factor)
		}
		if !unspent {
			continue
		}
		if !again {
			s[sumUnspent] = s[sumUnspent].less(factor)
		}
		s[sumSupply] = s[sumSupply].less(factor.times(residueOf(e.amount)))
		if h.owned {
			owned := w.factor(appendHoldingKey(nil, assetHolding{e.birth, h.holder}))
			s[sumHoldings] = s[sumHoldings].less(owned.times(residueOf(e.amount)))
		}
	}
}

// supply adds what was minted and burned on the side of what is held, and takes it off on the side of totals.
func (w *weighing) supply(of func(asset []byte) *assetSums) error {
	return w.each(familyAssetSupply, func(k, v []byte) error {
		birth, _, err1 := parseSupplyKey(k)
		amount, err2 := parseSupplyRow(v)
		if err1 != nil || err2 != nil {
			return nil
		}
		asset := birth.AppendTo(nil)
		s := of(asset)
		if s == nil {
			return nil
		}
		factor := w.factor(asset)
		n := factor.times(residueOfBig(amount))
		if amount.Sign() > 0 {
			s[sumSupply] = s[sumSupply].plus(n)
			s[sumMinted], s[sumMints] = s[sumMinted].less(n), s[sumMints].less(factor)
		} else {
			s[sumSupply] = s[sumSupply].less(n)
			s[sumBurned], s[sumBurns] = s[sumBurned].less(n), s[sumBurns].less(factor)
		}
		return nil
	})
}

// stated adds what holdings and totals say.
func (w *weighing) stated(of func(asset []byte) *assetSums) error {
	err := w.each(familyHoldings, func(k, v []byte) error {
		h, err1 := parseHoldingKey(k)
		amount, err2 := parseHoldingRow(v)
		if err1 != nil || err2 != nil {
			return nil
		}
		asset := h.asset.AppendTo(nil)
		if s := of(asset); s != nil {
			s[sumHoldings] = s[sumHoldings].plus(w.factor(k).times(residueOfWide(amount)))
			s[sumHolders] = s[sumHolders].less(w.factor(asset))
		}
		return nil
	})
	if err != nil {
		return err
	}
	return w.each(familyAssetTotals, func(k, v []byte) error {
		s := of(k)
		t, err := parseAssetTotalsRow(v)
		if s == nil || err != nil {
			return nil
		}
		factor := w.factor(k)
		for i, n := range map[int]residue{
			sumHolders: residueOf(t.holders), sumOutputs: residueOf(t.outputs), sumUnspent: residueOf(t.unspent),
			sumMints: residueOf(t.mints), sumBurns: residueOf(t.burns),
			sumMinted: residueOfBig(&t.minted), sumBurned: residueOfBig(&t.burned),
		} {
			s[i] = s[i].plus(factor.times(n))
		}
		return nil
	})
}
