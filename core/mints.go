package core

import (
	"errors"
	"fmt"
	"math/big"
	"slices"

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
	return v.balance()
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

// weighed reports whether the assets of a transaction are balanced: where burns are implied those of all, else those
// of transactions that mint or burn. What existed before the first block may come from nowhere.
func (v *resolver) weighed(t *windowTx) bool {
	return len(t.mints) > 0 || (v.traits.ImpliedBurns && !t.genesis)
}

// balance weighs what goes into a transaction of an asset, or is minted by it, against what comes out. Where burns are
// implied the rest is burned. Rollback relies on it: whatever is minted comes out, whatever is burned goes in.
func (v *resolver) balance() error {
	stored, err := v.readSpentAssets()
	if err != nil {
		return err
	}
	for ti := range v.w.txs {
		t := &v.w.txs[ti]
		if !v.weighed(t) {
			continue
		}
		if err := v.weigh(t, stored); err != nil {
			return fmt.Errorf("%s: %w", v.where(t), badBlock(err))
		}
	}
	return nil
}

func (v *resolver) weigh(t *windowTx, stored map[model.UtxoPk][]assetEntry) error {
	w := v.w
	var order []model.AssetBirthPk // in which they are met
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
	minted := make(map[model.AssetBirthPk]int, len(t.mints))
	for i, m := range t.mints {
		if _, twice := minted[m.birth]; twice {
			return fmt.Errorf("mints the asset born at %v twice", m.birth)
		}
		minted[m.birth] = i
		add(m.birth, m.amount, 1)
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
	next := t.assets
	for oi := range t.Outputs {
		for _, a := range t.Outputs[oi].Assets {
			if a.Amount > 0 {
				add(w.assetBirths[next], new(big.Int).SetUint64(a.Amount), -1)
				next++
			}
		}
	}
	for _, birth := range order {
		n := left[birth]
		i, stated := minted[birth]
		switch {
		case n.Sign() < 0:
			return fmt.Errorf("makes %v of the asset born at %v out of nothing", n.Neg(n), birth)
		case n.Sign() == 0:
		case !v.traits.ImpliedBurns:
			return fmt.Errorf("loses %v of the asset born at %v", n, birth)
		case stated:
			t.mints[i].amount = n.Sub(t.mints[i].amount, n)
		default:
			t.mints = append(t.mints, mint{birth, n.Neg(n)})
		}
	}
	t.mints = slices.DeleteFunc(t.mints, func(m mint) bool { return m.amount.Sign() == 0 })
	return nil
}

// readSpentAssets reads the assets of the outputs that transactions to weigh spend and that stand before every pending
// window.
func (v *resolver) readSpentAssets() (map[model.UtxoPk][]assetEntry, error) {
	first := v.w
	if len(v.before) > 0 {
		first = v.before[0]
	}
	var keys [][]byte
	for ti := range v.w.txs {
		t := &v.w.txs[ti]
		if !v.weighed(t) {
			continue
		}
		for _, s := range v.w.spends[t.spends : t.spends+len(t.Inputs)] {
			if len(first.txs) == 0 || s.utxo < model.UtxoPk(first.txs[0].pk) {
				keys = append(keys, s.utxo.AppendTo(nil))
			}
		}
	}
	if len(keys) == 0 {
		return nil, nil
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
		if t.OutputIndex(oi) == pk.Index() {
			return entries
		}
	}
	return nil
}
