package core

import (
	"context"
	"errors"
	"fmt"

	"birthmark/model"
	"birthmark/storage"
)

// Append writes a window of blocks, children of the tip in order: all of it and the new tip, or, with an error that
// names the block, nothing. A window of no blocks is nothing to do.
func (db *DB) Append(ctx context.Context, blocks []*model.Block) error {
	db.write.Lock()
	defer db.write.Unlock()
	if len(blocks) == 0 {
		return nil
	}
	if err := db.settle(ctx); err != nil {
		return err
	}
	w, err := db.prepare(ctx, blocks)
	if err == nil {
		err = db.commit(ctx, w, DefaultBulkWeight)
	}
	if err != nil {
		db.abandon(ctx)
	}
	return err
}

// commit writes w, the oldest pending window, in bulk where it holds so much. After an error abandon must be called, as
// after one of prepare.
func (db *DB) commit(ctx context.Context, w *window, bulkWeight int) error {
	t := db.totals.clone()
	tip := w.blocks[len(w.blocks)-1].Point()
	update := db.store.Update
	if db.inBulk(w, bulkWeight) {
		update = db.store.(storage.BulkUpdater).UpdateBulk
	}
	err := update(ctx, func(r storage.Reader, b storage.Batch) error {
		e := emitter{catalogue: db.catalogue(), w: w, b: b, t: &t, rows: make([]uint64, db.catalogue().families())}
		if err := e.window(); err != nil {
			return err
		}
		if len(w.txs) > 0 {
			s := settler{r: r, b: b, t: &t, since: model.UtxoPk(w.txs[0].pk)}
			if err := s.settle(&w.changes, w.tallies); err != nil {
				return err
			}
		}
		b.Put(familyMeta, metaTip, appendTip(nil, tip))
		b.Put(familyMeta, metaTotals, t.appendTo(nil))
		return nil
	})
	if err != nil {
		return err
	}
	db.mu.Lock()
	defer db.mu.Unlock()
	db.totals = t
	db.move(tip)
	db.pending = db.pending[1:]
	return nil
}

// inBulk reports whether a window is written in bulk: where the store can, and it holds so much. A negative weight is never
// reached.
func (db *DB) inBulk(w *window, bulkWeight int) bool {
	_, can := db.store.(storage.BulkUpdater)
	return can && bulkWeight >= 0 && w.weight() >= bulkWeight
}

// emitter is the third pass over a window: it makes the rows.
type emitter struct {
	*catalogue
	w          *window
	b          storage.Batch
	t          *totals
	key, value []byte // of the row being made
	head       []byte
	rows       []uint64 // of each family

	spends, births, assets int // how many of the window's are done
}

// put adds the row in key and value, which is a new one, to the batch.
func (e *emitter) put(f storage.Family) {
	e.b.Put(f, e.key, e.value)
	e.rows[f]++
}

// putBirth adds the row that leads from the value in value to the birth in key.
func (e *emitter) putBirth(f storage.Family) {
	e.head = appendBirthKey(e.head[:0], e.value, e.key)
	e.b.Put(f, e.head, nil)
	e.rows[f]++
}

func (e *emitter) window() error {
	for _, b := range e.w.blocks {
		e.block(b)
	}
	for i := range e.w.txs {
		if err := e.tx(&e.w.txs[i]); err != nil {
			return fmt.Errorf("%s: %w", where(e.chain, &e.w.txs[i]), err)
		}
	}
	for f, n := range e.rows {
		if n > 0 {
			e.t.rows[storage.Family(f)] += n
		}
	}
	return nil
}

func (e *emitter) block(b *model.Block) {
	e.key = b.Height.AppendTo(e.key[:0])
	row := blockRow{b.Hash, b.Parent, b.Time, b.Slot, len(b.Txs), b.Size, b.Header}
	e.value = appendBlockRow(e.value[:0], &row)
	e.put(familyBlock)
	e.t.checksum += row.checksum()

	e.key = append(e.key[:0], b.Hash[:]...)
	e.value = appendHeightRow(e.value[:0], b.Height, b.Time)
	e.put(familyHeight)
}

func (e *emitter) tx(t *windowTx) error {
	e.key = t.pk.AppendTo(e.key[:0])
	e.value = appendTxHashRow(e.value[:0], &t.Hash, t.Fee)
	e.put(familyTxHash)
	e.raw(t)
	e.t.checksum += hashChecksum(&t.Hash) + t.Fee.Amount

	e.key, e.value = appendTxPkKey(e.key[:0], &t.Hash, t.pk), e.value[:0]
	e.put(familyTxPk)

	if t.genesis {
		e.t.genesisTxs++
		e.t.genesisOutputs += uint64(len(t.Outputs))
	}
	e.inputs(t)
	for oi := range t.Outputs {
		if err := e.output(t, oi); err != nil {
			return fmt.Errorf("output %d: %w", t.OutputIndex(oi), err)
		}
	}
	for _, m := range t.mints {
		e.key = appendSupplyKey(e.key[:0], m.birth, t.pk)
		e.value = appendSupplyRow(e.value[:0], m.amount)
		e.put(familyAssetSupply)
		if len(m.info) > 0 && m.birth.Utxo.Tx() == t.pk {
			e.key, e.value = m.birth.AppendTo(e.key[:0]), append(e.value[:0], m.info...)
			e.put(familyAssetInfo)
			e.t.checksum += infoChecksum(m.info)
		}
	}
	return nil
}

func (e *emitter) inputs(t *windowTx) {
	for ii := range t.Inputs {
		s := e.w.spends[e.spends]
		e.spends++
		input, _ := t.pk.Input(ii) // resolution made the same pointer
		e.key, e.value = input.AppendTo(e.key[:0]), s.utxo.AppendTo(e.value[:0])
		e.put(familySpentUtxo)
		e.key, e.value = e.value, e.key
		e.put(familySpentInput)
		e.t.unspentValue -= s.value
	}
}

var errSupply = errors.New("the value of all unspent outputs does not fit 64 bits")

func (e *emitter) output(t *windowTx, oi int) error {
	o := &t.Outputs[oi]
	pk, _ := t.pk.Utxo(t.OutputIndex(oi)) // resolution made the same pointer
	if e.t.unspentValue+o.Value < o.Value {
		return badBlock(errSupply)
	}
	e.t.unspentValue += o.Value
	e.t.checksum += o.Value

	births := e.w.births[e.births : e.births+len(o.Keys)]
	e.births += len(o.Keys)
	e.value = appendUtxoValue(e.value[:0], o.Value)
	for ki := range o.Keys {
		e.value = appendOccurrence(e.value, pk, e.indexes[o.Keys[ki].Index], births[ki])
	}
	e.key = pk.AppendTo(e.key[:0])
	e.put(familyUtxo)

	for ki := range o.Keys {
		k := &o.Keys[ki]
		x, birth := e.indexes[k.Index], births[ki]
		if birth.Utxo != pk {
			e.key, e.value = appendRelationKey(e.key[:0], x, birth, pk), e.value[:0]
			e.put(x.family(indexRelations))
			continue
		}
		e.key, e.value = birth.AppendTo(e.key[:0], x.Kind.HasOrdinal()), append(e.value[:0], k.Value...)
		e.put(x.family(indexValue))
		e.putBirth(x.family(indexBirth))
		if x.live.has(partPrefix) {
			e.head = appendTextKey(e.head[:0], &x.Index, e.value, e.key)
			e.b.Put(x.family(indexText), e.head, nil)
			e.rows[x.family(indexText)]++
		}
	}
	e.outputAssets(t, o, pk)
	return nil
}

func (e *emitter) outputAssets(t *windowTx, o *model.Output, pk model.UtxoPk) {
	if len(o.Assets) == 0 {
		return
	}
	first := e.assets
	e.value = e.value[:0]
	for i := range o.Assets {
		if o.Assets[i].Amount == 0 {
			continue
		}
		birth := e.w.assetBirths[e.assets]
		e.assets++
		e.t.checksum += o.Assets[i].Amount
		e.value = appendAssetEntry(e.value, pk, assetEntry{o.Assets[i].Amount, birth, t.minted(birth)})
	}
	if e.assets == first {
		return
	}
	e.key = pk.AppendTo(e.key[:0])
	e.put(familyAssets)
	e.t.assets += uint64(e.assets - first)

	entry := uint16(0)
	for i := range o.Assets {
		if o.Assets[i].Amount == 0 {
			continue
		}
		birth, at := e.w.assetBirths[first+int(entry)], model.AssetPk{Utxo: pk, Index: entry}
		entry++
		if birth != model.AssetBirthPk(at) {
			e.key, e.value = appendAssetRelationKey(e.key[:0], birth, at), e.value[:0]
			e.put(familyAssetRelations)
			continue
		}
		e.key, e.value = birth.AppendTo(e.key[:0]), append(e.value[:0], o.Assets[i].ID...)
		e.put(familyAssetID)
		e.putBirth(familyAssetBirth)
		if fp := e.traits.Fingerprint; fp != nil {
			e.key, e.value = append(e.key[:0], fp.Of(o.Assets[i].ID)...), birth.AppendTo(e.value[:0])
			e.put(familyFingerprint)
		}
	}
}

// minted reports whether the transaction mints the asset.
func (t *windowTx) minted(birth model.AssetBirthPk) bool {
	for i := range t.mints {
		if t.mints[i].birth == birth {
			return t.mints[i].amount.Sign() > 0
		}
	}
	return false
}

// raw makes the row of the transaction whose key is in e.key.
func (e *emitter) raw(t *windowTx) {
	if !e.catalogue.raw || t.genesis {
		return
	}
	e.b.Put(familyRaw, e.key, t.Raw)
	e.rows[familyRaw]++
	e.t.checksum += rawChecksum(t.pk, t.Raw)
}
