package ingest

import (
	"fmt"
	"slices"

	"birthmark/core/ledger"
	"birthmark/core/schema"
	"birthmark/model"
	"birthmark/storage"
)

// mintLookup is a mint whose asset the caches do not contain: mint mi of transaction ti.
type mintLookup struct{ ti, mi int }

// mints resolves the stated mints and burns, then finds implied burns. Errors: bad_block, unknown_asset.
func (v *resolver) mints() error {
	batch := v.batch
	if batch.derives {
		return v.assetDeltas()
	}
	for ti := range batch.Txs {
		t := &batch.Txs[ti]
		for mi := range t.Mints {
			m := &t.Mints[mi]
			if m.Amount.Sign() == 0 {
				return fmt.Errorf("%s: %w", describe(v.Chain, t), BadBlock(fmt.Errorf("mint of 0 of asset %s", v.Chain.FormatAsset(m.Asset))))
			}
			if len(m.Info) > model.MaxValueSize {
				return fmt.Errorf("%s: %w", describe(v.Chain, t), BadBlock(fmt.Errorf("%d bytes of metadata of asset %s, expected at most %d", len(m.Info), v.Chain.FormatAsset(m.Asset), model.MaxValueSize)))
			}
			birth, found := v.cache.Birth(v.cache.Fingerprints.Value(schema.AssetSpace, m.Asset))
			if !found {
				v.mintsOf = append(v.mintsOf, mintLookup{ti, len(t.mints)})
			}
			t.mints = append(t.mints, mint{model.AssetBirthPk{Utxo: birth.Utxo, Index: birth.Ordinal}, m.Amount, m.Info})
		}
	}
	if err := v.readMints(); err != nil {
		return err
	}
	return v.assetDeltas()
}

// addBurns adds the lookups of assets that only burns name and no cache contains to v.burned. findBirths reads them with
// those of the outputs.
func (v *resolver) addBurns() {
	if v.batch.derives {
		return
	}
	for ti := range v.batch.Txs {
		t := &v.batch.Txs[ti]
		for mi := range t.Mints {
			id := t.Mints[mi].Asset
			if at := v.batch.assetEntry(t, id); at >= 0 {
				continue
			}
			if _, found := v.cache.Birth(v.cache.Fingerprints.Value(schema.AssetSpace, id)); !found {
				v.burned.Values = append(v.burned.Values, id)
			}
		}
	}
}

// assetEntry returns the number of the first asset entry with this id in the outputs of a transaction, in
// [Batch.assetBirths]; -1 if there is none.
func (b *Batch) assetEntry(t *BatchTx, id []byte) int {
	for oi := range t.Outputs {
		entry := int(b.outputs[t.outputs+oi].assets)
		for i := range t.Outputs[oi].Assets {
			if a := &t.Outputs[oi].Assets[i]; a.Amount > 0 {
				if string(a.ID) == string(id) {
					return entry
				}
				entry++
			}
		}
	}
	return -1
}

// readMints finds the births of minted assets that no cache contains: in the outputs of the transaction, or in the
// database.
func (v *resolver) readMints() error {
	burned := make(map[string]*model.BirthPk, len(v.burned.Values))
	for i, id := range v.burned.Values {
		burned[string(id)] = v.burned.Births[i]
	}
	for _, l := range v.mintsOf {
		t := &v.batch.Txs[l.ti]
		id := t.Mints[l.mi].Asset
		if at := v.batch.assetEntry(t, id); at >= 0 {
			t.mints[l.mi].birth = v.batch.assetBirths[at]
			continue
		}
		birth, read := burned[string(id)]
		if !read { // evicted since addBurns
			var err error
			if birth, err = v.Birth(v.r, schema.AssetSpace, id); err != nil {
				return err
			}
		}
		if birth == nil {
			return fmt.Errorf("%s: %w", describe(v.Chain, t), model.Errorf(model.BadSource, "unknown_asset",
				"mints %v of asset %s, which never occurred in an output", t.mints[l.mi].amount, v.Chain.FormatAsset(id)))
		}
		t.mints[l.mi].birth = model.AssetBirthPk{Utxo: birth.Utxo, Index: birth.Ordinal}
	}
	return nil
}

// isBalanced reports whether a transaction's assets must balance: every transaction on chains with implied burns or mints,
// otherwise transactions that mint or burn. Genesis transactions may create assets without a mint.
func (v *resolver) isBalanced(t *BatchTx) bool {
	if v.batch.derives {
		return false
	}
	return len(t.mints) > 0 || ((v.Traits.ImpliedBurns || v.Traits.ImpliedMints) && !t.genesis)
}

// assetDeltas computes the changes of asset totals, holdings and held assets, and balances the inputs and mints of each
// transaction against its outputs. Rollback relies on this balance: a minted asset occurs in an output, a burned asset
// in an input.
func (v *resolver) assetDeltas() error {
	batch := v.batch
	if !batch.derives && !v.assetsStored && !slices.ContainsFunc(v.batches, func(batch *Batch) bool { return len(batch.assetBirths) > 0 }) {
		return nil
	}
	tokens, holders := v.newTokens(), v.Holders()
	more, use := tokens.reads()
	tokens.takeHeld(holders)
	stored, err := v.readSpentAssets(tokens, more...)
	if err != nil {
		return err
	}
	if err := use(); err != nil {
		return err
	}
	v.stored = stored
	var (
		buf     []schema.AssetEntry
		balance assetBalance
	)
	for ti := range batch.Txs {
		t := &batch.Txs[ti]
		var b *assetBalance
		if v.isBalanced(t) {
			b = &balance
			b.begin(t)
		}
		for i, s := range batch.spends[t.spends : t.spends+len(t.Inputs)] {
			if !v.mayHold(s.Utxo) {
				continue
			}
			held, known := tokens.heldBy(t.spends+i, s.Utxo)
			if made := v.pendingWith(s.Utxo); !known && made != nil {
				tx := made.tx(s.Utxo.Tx())
				held = made.held(v.Indexes, holders, tx, s.Utxo.Index()-int(tx.FirstOutput), buf[:0])
				buf = held.Entries
			} else if !known {
				held = stored[s.Utxo]
			}
			batch.assets.AddOutput(s.Utxo, &held, 0, -1)
			for _, o := range batch.owners.of(t.spends + i) {
				ledger.DeltasOf(batch.deltas, o.Index).AddAssets(o.Birth, held.Entries, -1)
			}
			b.add(held.Entries, 1)
			tokens.spend(t, i, held.Entries)
		}
		if err := tokens.derive(t); err != nil {
			return err
		}
		outputs := len(t.Outputs)
		if batch.derives {
			outputs = t.derived.count()
		}
		for n := range outputs {
			oi := n
			if batch.derives {
				oi = t.derived.outputs[n].at
			} else if len(t.Outputs[oi].Assets) == 0 {
				continue
			}
			pk, err := t.pk.Utxo(t.OutputIndex(oi))
			if err != nil {
				return err
			}
			var held ledger.OutputAssets
			if batch.derives {
				if held.Entries = schema.Holdings(t.derived.outputs[n].entries); len(held.Entries) == 0 {
					continue
				}
				batch.setHolder(&held, v.Indexes, holders, t, oi)
				tokens.keepHeld(pk, &held)
			} else {
				held = batch.held(v.Indexes, holders, t, oi, buf[:0])
				buf = held.Entries
			}
			batch.assets.AddOutput(pk, &held, 1, 1)
			for ki, k := range t.Outputs[oi].Keys {
				if d := ledger.DeltasOf(batch.deltas, v.Indexes[k.Index]); d != nil {
					d.AddAssets(batch.births[int(batch.outputs[t.outputs+oi].births)+ki], held.Entries, 1)
				}
			}
			b.add(held.Entries, -1)
		}
		if err := b.finish(v.Traits.ImpliedBurns, v.Traits.ImpliedMints); err != nil {
			return fmt.Errorf("%s: %w", describe(v.Chain, t), BadBlock(err))
		}
		for _, m := range t.mints {
			batch.assets.AddMint(m.birth, schema.SupplyOf(m.amount), 1)
		}
	}
	return nil
}

// pendingWith returns the uncommitted batch that has the output at pk; nil if there is none.
func (v *resolver) pendingWith(pk model.UtxoPk) *Batch {
	for i := len(v.batches) - 1; i >= 0; i-- {
		if v.batches[i].contains(pk) {
			return v.batches[i]
		}
	}
	return nil
}

// assetBalance balances the amounts of each asset in inputs and mints of a transaction against its outputs. A nil
// assetBalance accepts everything.
type assetBalance struct {
	t      *BatchTx
	assets []balancedAsset            // in the order of first occurrence, mints first
	at     map[model.AssetBirthPk]int // positions in assets, if there are more than fewAssets
	twice  error
}

// balancedAsset is an asset of a transaction.
type balancedAsset struct {
	birth model.AssetBirthPk
	mint  int               // position in the transaction's mints, plus 1; 0: none
	left  schema.HeldChange // inputs minus outputs
}

// fewAssets is the number of assets that are searched one by one.
const fewAssets = 16

// begin begins a transaction.
func (b *assetBalance) begin(t *BatchTx) {
	b.t, b.assets, b.twice = t, b.assets[:0], nil
	if len(b.at) > 0 {
		clear(b.at)
	}
	for i, m := range t.mints {
		a := b.of(m.birth)
		if a.mint > 0 {
			b.twice = fmt.Errorf("mints the asset born at %v twice", m.birth)
		}
		a.mint = i + 1
	}
}

// of returns an asset, valid until the next call.
func (b *assetBalance) of(birth model.AssetBirthPk) *balancedAsset {
	if len(b.assets) <= fewAssets {
		for i := range b.assets {
			if b.assets[i].birth == birth {
				return &b.assets[i]
			}
		}
	} else if i, known := b.at[birth]; known {
		return &b.assets[i]
	}
	b.assets = append(b.assets, balancedAsset{birth: birth})
	switch n := len(b.assets); {
	case n > fewAssets+1:
		b.at[birth] = n - 1
	case n > fewAssets:
		if b.at == nil {
			b.at = map[model.AssetBirthPk]int{}
		}
		for i := range b.assets {
			b.at[b.assets[i].birth] = i
		}
	}
	return &b.assets[len(b.assets)-1]
}

// add counts the entries of an input (sign 1) or of an output (sign -1).
func (b *assetBalance) add(entries []schema.AssetEntry, sign int64) {
	if b == nil {
		return
	}
	for _, e := range entries {
		a := b.of(e.Birth)
		a.left = a.left.Add(schema.HeldChangeOf(e.Amount, sign))
	}
}

// finish records the remaining amounts as burns and the missing ones as mints, if these are implied; otherwise it
// returns an error if there are any.
func (b *assetBalance) finish(impliedBurns, impliedMints bool) error {
	if b == nil {
		return nil
	}
	if b.twice != nil {
		return b.twice
	}
	t := b.t
	for i := range b.assets {
		a := &b.assets[i]
		if a.mint == 0 && a.left.IsZero() {
			continue
		}
		n := a.left.Big()
		if a.mint > 0 {
			n.Add(n, t.mints[a.mint-1].amount)
		}
		switch {
		case n.Sign() < 0 && !impliedMints:
			return fmt.Errorf("creates %v of the asset born at %v without a mint", n.Neg(n), a.birth)
		case n.Sign() == 0:
		case n.Sign() > 0 && !impliedBurns:
			return fmt.Errorf("loses %v of the asset born at %v without a burn", n, a.birth)
		case a.mint > 0:
			t.mints[a.mint-1].amount = n.Sub(t.mints[a.mint-1].amount, n)
		default:
			t.mints = append(t.mints, mint{birth: a.birth, amount: n.Neg(n)})
		}
	}
	t.mints = slices.DeleteFunc(t.mints, func(m mint) bool { return m.amount.Sign() == 0 })
	return nil
}

// readSpentAssets reads the assets and holders of spent outputs that precede every uncommitted batch, except the
// outputs that tokens has. It reads more in the same call.
func (v *resolver) readSpentAssets(tokens *tokens, more ...*storage.Read) (map[model.UtxoPk]ledger.OutputAssets, error) {
	if !v.assetsStored && !v.batch.derives {
		return nil, nil
	}
	first := v.batches[0]
	var pks []model.UtxoPk
	known := tokens.takenSpends()
	for i, s := range v.batch.spends {
		if len(known) > 0 && known[0].spend == i {
			known = known[1:]
			continue
		}
		if (len(first.Txs) == 0 || s.Utxo < model.UtxoPk(first.Txs[0].pk)) && v.mayHold(s.Utxo) {
			pks = append(pks, s.Utxo)
		}
	}
	slices.Sort(pks)
	rows := make(map[model.UtxoPk][]byte, len(v.missed))
	for n, at := range v.missed {
		rows[v.batch.spends[at].Utxo] = v.missedRows[n]
	}
	return readHeld(v.Layout, v.r, pks, rows, more...)
}

// readHeld reads the assets and holders of outputs; outputs without assets are absent from the result. outputs has the
// rows of outputs that were read before. It reads more in the same call.
func readHeld(
	l *schema.Layout, r storage.Reader, pks []model.UtxoPk, outputs map[model.UtxoPk][]byte, more ...*storage.Read,
) (map[model.UtxoPk]ledger.OutputAssets, error) {
	assets := &storage.Read{Family: schema.FamilyAssets, Keys: schema.Keys(pks)}
	if err := storage.ReadTogether(r, append(more, assets)...); err != nil {
		return nil, err
	}
	rows := assets.Values
	holders, found := l.Holders(), map[model.UtxoPk]ledger.OutputAssets{}
	setHolder := func(pk model.UtxoPk, held ledger.OutputAssets, b []byte) error {
		row, err := l.ParseUtxoRow(pk, b)
		if err != nil {
			return fmt.Errorf("output %v: %w", pk, err)
		}
		held.SetHolder(holders, row.Occurrences)
		found[pk] = held
		return nil
	}
	var unread []model.UtxoPk
	for i, b := range rows {
		if b == nil {
			continue
		}
		pk := pks[i]
		entries, err := schema.ParseAssetsRow(pk, b)
		if err != nil {
			return nil, fmt.Errorf("assets of output %v: %w", pk, err)
		}
		held := ledger.OutputAssets{Entries: schema.Holdings(entries)}
		if len(held.Entries) == 0 {
			continue
		}
		found[pk] = held
		if holders == nil {
			continue
		}
		if output := outputs[pk]; output == nil {
			unread = append(unread, pk)
		} else if err := setHolder(pk, held, output); err != nil {
			return nil, err
		}
	}
	if len(unread) == 0 {
		return found, nil
	}
	rows, err := r.GetMany(schema.FamilyUtxo, schema.Keys(unread))
	if err != nil {
		return nil, err
	}
	for i, b := range rows {
		if err := setHolder(unread[i], found[unread[i]], b); err != nil {
			return nil, err
		}
	}
	return found, nil
}
