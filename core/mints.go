package core

import (
	"errors"
	"fmt"
	"math/big"

	"birthmark/model"
)

// mintLookup is a mint whose asset occurs in no output of the window: mint mi of transaction ti.
type mintLookup struct{ ti, mi int }

// mints resolves what the transactions say they minted and burned, and finds what they burned without saying so.
func (v *resolver) mints() error {
	w := v.w
	for ti := range w.txs {
		t := &w.txs[ti]
		for mi := range t.Mints {
			m := &t.Mints[mi]
			if m.Amount.Sign() == 0 {
				return fmt.Errorf("%s: %w", v.where(t), badBlock(fmt.Errorf("mint of 0 of asset %s", v.chain.FormatAsset(m.Asset))))
			}
			birth, found := v.knownAsset(m.Asset)
			if !found {
				v.lookups = append(v.lookups, mintLookup{ti, len(t.mints)})
			}
			t.mints = append(t.mints, mint{birth, m.Amount})
		}
	}
	if err := v.readMints(); err != nil {
		return err
	}
	if !v.traits.ImpliedBurns {
		return nil
	}
	return v.burns()
}

// knownAsset is the birth of an asset as the window, the cache or a window before knows it.
func (v *resolver) knownAsset(id []byte) (model.AssetBirthPk, bool) {
	key := v.cache.fp.value(assetSpace, id)
	for i := len(v.before); i >= 0; i-- {
		w := v.w
		if i < len(v.before) {
			w = v.before[i]
		}
		if e, ok := w.values.byKey[key]; ok {
			b := w.values.entries[e].birth
			return model.AssetBirthPk{Utxo: b.Utxo, Index: b.Ordinal}, true
		}
	}
	pk, n, ok := v.cache.births.get(key)
	return model.AssetBirthPk{Utxo: model.UtxoPk(pk), Index: uint16(n)}, ok
}

func (v *resolver) readMints() error {
	if len(v.lookups) == 0 {
		return nil
	}
	keys := make([][]byte, len(v.lookups))
	for i, l := range v.lookups {
		keys[i] = v.w.txs[l.ti].Mints[l.mi].Asset
	}
	vs, err := v.r.GetMany(familyAssetBirth, keys)
	if err != nil {
		return err
	}
	for i, l := range v.lookups {
		t := &v.w.txs[l.ti]
		if vs[i] == nil {
			return fmt.Errorf("%s: %w", v.where(t), model.Errorf(model.BadSource, "unknown_asset",
				"mints %v of asset %s, which no output has had", t.mints[l.mi].amount, v.chain.FormatAsset(keys[i])))
		}
		if t.mints[l.mi].birth, err = model.ParseAssetBirthPk(vs[i]); err != nil {
			return err
		}
	}
	return nil
}

// burns adds what goes into a transaction of an asset, or is minted by it, and does not come out.
func (v *resolver) burns() error {
	stored, err := v.readSpentAssets()
	if err != nil {
		return err
	}
	w := v.w
	next := 0
	for ti := range w.txs {
		t := &w.txs[ti]
		var order []model.AssetBirthPk // those that change, in the order they are met
		left := map[model.AssetBirthPk]*big.Int{}
		add := func(birth model.AssetBirthPk, amount *big.Int, sign int) {
			n, ok := left[birth]
			if !ok {
				n = new(big.Int)
				left[birth], order = n, append(order, birth)
			}
			if sign > 0 {
				n.Add(n, amount)
			} else {
				n.Sub(n, amount)
			}
		}
		for _, s := range w.spends[t.spends : t.spends+len(t.Inputs)] {
			entries := stored[s.utxo]
			for _, pending := range append(v.before[:len(v.before):len(v.before)], w) {
				if pending.contains(s.utxo) {
					entries = pending.assetsOf(s.utxo)
				}
			}
			for _, e := range entries {
				add(e.birth, new(big.Int).SetUint64(e.amount), 1)
			}
		}
		for _, m := range t.mints {
			add(m.birth, m.amount, 1)
		}
		for oi := range t.Outputs {
			for _, a := range t.Outputs[oi].Assets {
				if a.Amount > 0 {
					add(w.assetBirths[next], new(big.Int).SetUint64(a.Amount), -1)
					next++
				}
			}
		}
		if t.genesis {
			continue
		}
		for _, birth := range order {
			switch n := left[birth]; n.Sign() {
			case 1:
				t.mints = append(t.mints, mint{birth, n.Neg(n)})
			case -1:
				return fmt.Errorf("%s: %w", v.where(t), badBlock(fmt.Errorf("makes %v of the asset born at %v out of nothing", n.Neg(n), birth)))
			}
		}
	}
	return nil
}

// readSpentAssets reads the assets of the outputs that the window spends and that stand before every pending window.
func (v *resolver) readSpentAssets() (map[model.UtxoPk][]assetEntry, error) {
	first := v.w
	if len(v.before) > 0 {
		first = v.before[0]
	}
	var keys [][]byte
	for _, s := range v.w.spends {
		if len(first.txs) == 0 || s.utxo < model.UtxoPk(first.txs[0].pk) {
			keys = append(keys, s.utxo.AppendTo(nil))
		}
	}
	vs, err := v.r.GetMany(familyAssets, keys)
	if err != nil {
		return nil, err
	}
	assets := map[model.UtxoPk][]assetEntry{}
	for i, b := range vs {
		if b == nil {
			continue
		}
		pk, err1 := model.ParseUtxoPk(keys[i])
		entries, err2 := parseAssetsRow(pk, b)
		if err := errors.Join(err1, err2); err != nil {
			return nil, err
		}
		assets[pk] = entries
	}
	return assets, nil
}

// assetsOf is the assets of an output of the window.
func (w *window) assetsOf(pk model.UtxoPk) []assetEntry {
	t := w.tx(pk.Tx())
	next := t.assets
	for oi := range t.Outputs {
		var entries []assetEntry
		for _, a := range t.Outputs[oi].Assets {
			if a.Amount > 0 {
				entries = append(entries, assetEntry{amount: a.Amount, birth: w.assetBirths[next]})
				next++
			}
		}
		if oi == pk.Index() {
			return entries
		}
	}
	return nil
}
