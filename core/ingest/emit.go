package ingest

import (
	"errors"
	"fmt"

	"birthmark/core/ledger"
	"birthmark/core/schema"
	"birthmark/model"
	"birthmark/storage"
)

// emitter is the third pass over a batch: it emits the rows.
type emitter struct {
	*schema.Layout
	batch      *Batch
	b          storage.Batch
	t          *schema.Totals
	key, value []byte   // of the current row
	extra      []byte   // a key made of both
	rows       []uint64 // rows by family

	spends, births, assets int // how many of the batch's entries have been emitted

	early uint64 // value that inputs spent before its outputs were emitted: see [model.Traits.Unordered]
}

// put adds the row in key and value to the batch and counts it.
func (e *emitter) put(f storage.Family) {
	e.b.Put(f, e.key, e.value)
	e.rows[f]++
}

// putBirth adds the row that maps the value in e.value to the birth in e.key.
func (e *emitter) putBirth(f storage.Family) {
	e.extra = schema.AppendBirthKey(e.extra[:0], e.value, e.key)
	e.b.Put(f, e.extra, nil)
	e.rows[f]++
}

func (e *emitter) emit() error {
	for _, b := range e.batch.Blocks {
		if err := e.block(b); err != nil {
			return err
		}
	}
	for i := range e.batch.Txs {
		if err := e.tx(&e.batch.Txs[i]); err != nil {
			return fmt.Errorf("%s: %w", describe(e.Chain, &e.batch.Txs[i]), err)
		}
	}
	e.count()
	return nil
}

// count adds the emitted rows to the totals.
func (e *emitter) count() {
	for f, n := range e.rows {
		if n > 0 {
			e.t.Rows[storage.Family(f)] += n
		}
	}
}

func (e *emitter) block(b *model.Block) error {
	e.key = b.Height.AppendTo(e.key[:0])
	row := schema.BlockRow{Hash: b.Hash, Parent: b.Parent, Time: b.Time, Slot: b.Slot, TxCount: len(b.Txs), Size: b.Size, Header: b.Header}
	e.value = schema.AppendBlockRow(e.value[:0], &row)
	e.put(schema.FamilyBlock)
	e.t.Checksum += row.Checksum()

	e.key = append(e.key[:0], b.Hash[:]...)
	e.value = schema.AppendHeightRow(e.value[:0], b.Height, b.Time)
	e.put(schema.FamilyHeight)

	if p := b.Place; p != nil && e.Layout.RawFiles {
		PutPlace(e.b, b.Height, p)
	}
	for _, x := range e.PerBlock {
		key, err := x.BlocksKey(b.Header, b.Height)
		if err != nil {
			return BadBlock(err)
		}
		if key != nil {
			e.key, e.value = key, e.value[:0]
			e.put(x.Family(schema.IndexBlocks))
		}
	}
	return nil
}

// PutPlace adds the rows of the place of the block at h.
func PutPlace(b storage.Batch, h model.HeightPk, p *model.Place) {
	key := h.AppendTo(nil)
	b.Put(schema.FamilyPlace, key, schema.AppendPlaceRow(nil, h, p))
	b.Put(schema.FamilySizes, key, schema.AppendSizesRow(nil, p))
}

func (e *emitter) tx(t *BatchTx) error {
	e.key = t.pk.AppendTo(e.key[:0])
	e.value = schema.AppendTxHashRow(e.value[:0], &t.Hash, t.Fee)
	e.put(schema.FamilyTxHash)
	e.raw(t)
	e.t.Checksum += schema.HashChecksum(&t.Hash) + t.Fee.Amount

	e.key, e.value = schema.AppendTxPkKey(e.key[:0], &t.Hash, t.pk), e.value[:0]
	e.put(schema.FamilyTxPk)

	if t.genesis {
		e.t.GenesisTxs++
		e.t.GenesisOutputs += uint64(len(t.Outputs))
	}
	e.inputs(t)
	for oi := range t.Outputs {
		if err := e.output(t, oi); err != nil {
			return fmt.Errorf("output %d: %w", t.OutputIndex(oi), err)
		}
	}
	if t.derived != nil {
		e.derived(t)
	}
	for _, m := range t.mints {
		supply := schema.SupplyOf(m.amount)
		e.key = schema.AppendSupplyKey(e.key[:0], m.birth, t.pk)
		e.value = schema.AppendSupplyRow(e.value[:0], &supply)
		e.put(schema.FamilyAssetSupply)
		if len(m.info) > 0 && m.birth.Utxo.Tx() == t.pk {
			e.key, e.value = m.birth.AppendTo(e.key[:0]), append(e.value[:0], m.info...)
			e.put(schema.FamilyAssetInfo)
			e.t.Checksum += schema.InfoChecksum(m.info)
		}
	}
	return nil
}

// derived emits the rows of derived assets, except those of holdings.
func (e *emitter) derived(t *BatchTx) {
	for _, o := range t.derived.outputs {
		pk, _ := t.pk.Utxo(t.OutputIndex(o.at)) // cannot fail: resolve computed the same pointer
		e.value = e.value[:0]
		for _, entry := range o.entries {
			e.value = schema.AppendAssetEntry(e.value, pk, entry)
			e.t.Checksum += schema.AmountChecksum(entry.Amount)
		}
		e.key = pk.AppendTo(e.key[:0])
		e.put(schema.FamilyAssets)
		holdings := schema.Holdings(o.entries)
		e.t.Assets += uint64(len(holdings))
		for i, entry := range schema.Related(holdings) {
			e.key = schema.AppendAssetRelationKey(e.key[:0], entry.Birth, model.AssetPk{Utxo: pk, Index: uint16(i)})
			e.value = e.value[:0]
			e.put(schema.FamilyAssetRelations)
		}
	}
	for i := range t.derived.supplies {
		s := &t.derived.supplies[i]
		e.key = schema.AppendSupplyKey(e.key[:0], s.Asset, t.pk)
		e.value = schema.AppendTokenSupplyRow(e.value[:0], s)
		e.put(schema.FamilyAssetSupply)
	}
	for i := range t.derived.births {
		b := &t.derived.births[i]
		e.key, e.value = b.Asset.AppendTo(e.key[:0]), append(e.value[:0], b.ID...)
		e.put(schema.FamilyAssetID)
		e.putBirth(schema.FamilyAssetBirth)
		e.value = append(e.value[:0], b.Info...)
		e.put(schema.FamilyAssetInfo)
		e.t.Checksum += schema.InfoChecksum(b.Info)
		if len(b.Name) > 0 {
			e.key, e.value = append(e.key[:0], b.Name...), b.Asset.AppendTo(e.value[:0])
			e.put(schema.FamilyFingerprint)
		}
	}
}

func (e *emitter) inputs(t *BatchTx) {
	for ii := range t.Inputs {
		s := e.batch.spends[e.spends]
		e.spends++
		input, _ := t.pk.Input(ii) // cannot fail: resolve computed the same pointer
		e.key, e.value = input.AppendTo(e.key[:0]), s.Utxo.AppendTo(e.value[:0])
		e.put(schema.FamilySpentUtxo)
		e.key, e.value = e.value, e.key
		e.put(schema.FamilySpentInput)
		if s.Utxo.Tx() > t.pk {
			e.early += s.Value
		} else {
			e.t.UnspentValue -= s.Value
		}
	}
}

var errSupply = errors.New("the value of all unspent outputs does not fit 64 bits")

func (e *emitter) output(t *BatchTx, oi int) error {
	o := &t.Outputs[oi]
	pk, _ := t.pk.Utxo(t.OutputIndex(oi)) // cannot fail: resolve computed the same pointer
	spent := min(e.early, o.Value)
	unspent := o.Value - spent
	if e.t.UnspentValue+unspent < unspent {
		return BadBlock(errSupply)
	}
	e.early -= spent
	e.t.UnspentValue += unspent
	e.t.Checksum += o.Value

	births := e.batch.births[e.births : e.births+len(o.Keys)]
	e.births += len(o.Keys)
	e.value = schema.AppendUtxoValue(e.value[:0], o.Value)
	for ki := range o.Keys {
		e.value = schema.AppendOccurrence(e.value, pk, e.Indexes[o.Keys[ki].Index], births[ki])
	}
	e.key = pk.AppendTo(e.key[:0])
	e.put(schema.FamilyUtxo)

	for ki := range o.Keys {
		k := &o.Keys[ki]
		x, birth := e.Indexes[k.Index], births[ki]
		if birth.Utxo != pk {
			e.key, e.value = schema.AppendRelationKey(e.key[:0], x, birth, pk), e.value[:0]
			e.put(x.Family(schema.IndexRelations))
			continue
		}
		e.key, e.value = birth.AppendTo(e.key[:0], x.Kind.HasOrdinal()), append(e.value[:0], k.Value...)
		e.put(x.Family(schema.IndexValue))
		e.putBirth(x.Family(schema.IndexBirth))
		if x.Active.Has(schema.FeaturePrefix) {
			e.extra = schema.AppendTextKey(e.extra[:0], &x.Index, e.value, e.key)
			e.b.Put(x.Family(schema.IndexText), e.extra, nil)
			e.rows[x.Family(schema.IndexText)]++
		}
	}
	e.outputAssets(t, o, pk)
	return nil
}

func (e *emitter) outputAssets(t *BatchTx, o *model.Output, pk model.UtxoPk) {
	if len(o.Assets) == 0 || e.batch.derives {
		return
	}
	first := e.assets
	e.value = e.value[:0]
	for i := range o.Assets {
		if o.Assets[i].Amount == 0 {
			continue
		}
		birth := e.batch.assetBirths[e.assets]
		e.assets++
		e.t.Checksum += o.Assets[i].Amount
		e.value = schema.AppendAssetEntry(e.value, pk, schema.AssetEntry{Amount: model.Uint128Of(o.Assets[i].Amount), Birth: birth, Minted: t.minted(birth)})
	}
	if e.assets == first {
		return
	}
	e.key = pk.AppendTo(e.key[:0])
	e.put(schema.FamilyAssets)
	e.t.Assets += uint64(e.assets - first)

	entry := uint16(0)
	for i := range o.Assets {
		if o.Assets[i].Amount == 0 {
			continue
		}
		birth, at := e.batch.assetBirths[first+int(entry)], model.AssetPk{Utxo: pk, Index: entry}
		entry++
		if birth != model.AssetBirthPk(at) {
			e.key, e.value = schema.AppendAssetRelationKey(e.key[:0], birth, at), e.value[:0]
			e.put(schema.FamilyAssetRelations)
			continue
		}
		e.key, e.value = birth.AppendTo(e.key[:0]), append(e.value[:0], o.Assets[i].ID...)
		e.put(schema.FamilyAssetID)
		e.putBirth(schema.FamilyAssetBirth)
		if fp := e.Traits.Fingerprint; fp != nil {
			e.key, e.value = append(e.key[:0], fp.Of(o.Assets[i].ID, nil)...), birth.AppendTo(e.value[:0])
			e.put(schema.FamilyFingerprint)
		}
	}
}

// minted reports whether the transaction mints the asset.
func (t *BatchTx) minted(birth model.AssetBirthPk) bool {
	for i := range t.mints {
		if t.mints[i].birth == birth {
			return t.mints[i].amount.Sign() > 0
		}
	}
	if t.derived != nil {
		for i := range t.derived.supplies {
			if s := &t.derived.supplies[i]; s.Asset == birth {
				return s.Mints
			}
		}
	}
	return false
}

// raw emits the raw transaction whose key is in e.key.
func (e *emitter) raw(t *BatchTx) {
	if !e.Layout.Raw || t.genesis {
		return
	}
	e.b.Put(schema.FamilyRaw, e.key, t.Raw)
	e.rows[schema.FamilyRaw]++
	e.t.RawChecksum += schema.RawChecksum(t.pk, t.Raw)
}

// WriteRows adds the rows of a resolved batch and its changes of balances, assets and statistics to b, and updates t and
// active. r must contain the rows of all previous batches. Errors: bad_block if the sum of unspent values exceeds 64
// bits, and errors of r.
func WriteRows(l *schema.Layout, batch *Batch, r storage.Reader, b storage.Batch, t *schema.Totals, active *ledger.Active) error {
	e := emitter{Layout: l, batch: batch, b: b, t: t, rows: make([]uint64, l.FamilyCount())}
	if err := e.emit(); err != nil {
		return err
	}
	s := ledger.Applier{
		Reader: r, Batch: b, Totals: t, NewFrom: model.UtxoPk(l.FirstPk(batch.Blocks[0].Height)), Derived: batch.derives,
		Layout: l, Blocks: batch.blockSums(l), Parent: batch.Blocks[0].Parent, Active: active,
	}
	if len(batch.Txs) > 0 {
		s.NewFrom = model.UtxoPk(batch.Txs[0].pk)
	}
	if l.Statistics != nil {
		if err := s.Statistics(l.Statistics, s.Blocks); err != nil {
			return fmt.Errorf("index %s: %w", l.Statistics.Name, err)
		}
	}
	return s.Apply(&batch.assets, batch.deltas)
}
