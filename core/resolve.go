package core

import (
	"context"
	"errors"
	"fmt"

	"birthmark/model"
	"birthmark/storage"
)

// prepare gives the blocks their pointers and resolves what they refer to. The window it returns is pending until it
// is committed. After an error it is not, and abandon must be called once nothing else is under way.
func (db *DB) prepare(ctx context.Context, blocks []*model.Block) (*window, error) {
	db.mu.Lock()
	head, before := db.head, append([]*window(nil), db.pending...)
	assets := db.totals.rows[familyAssets] > 0
	db.mu.Unlock()

	w, err := db.newWindow(head, blocks)
	if err == nil {
		// The pending windows are taken before the snapshot: one that is committed in between is seen twice, never missed.
		err = db.store.View(ctx, func(r storage.Reader) error {
			return (&resolver{DB: db, w: w, r: r, before: before, assetsStored: assets}).resolve()
		})
	}
	if err != nil {
		return nil, err
	}
	db.mu.Lock()
	defer db.mu.Unlock()
	db.pending = append(db.pending, w)
	db.head = blocks[len(blocks)-1].Point()
	return w, nil
}

// abandon forgets, after something failed, every pending window and whatever the caches learned from them. Nothing may
// be preparing or committing.
func (db *DB) abandon(ctx context.Context) {
	db.mu.Lock()
	db.pending, db.head = nil, db.tip
	db.cache.forget()
	db.mu.Unlock()
	db.doubt = true
	_ = db.settle(context.WithoutCancel(ctx)) // the next write tries again, and tells
}

// settle finds out where the store stands, where that is in doubt: a write that failed may have been applied all the
// same, when it was the making durable that failed.
func (db *DB) settle(ctx context.Context) error {
	if !db.doubt {
		return nil
	}
	if err := db.recall(ctx); err != nil {
		return err
	}
	db.doubt = false
	return nil
}

// resolver is the second pass over one window: what inputs spend, and where values and assets were born.
type resolver struct {
	*DB
	w      *window
	r      storage.Reader
	before []*window // pending, oldest first

	assetsStored bool // there are assets in the database

	unread   []unreadInput       // inputs that only the database can know
	again    map[int32]int32     // transactions whose hash stands in the window before -> where
	repeated map[model.TxPk]bool // transactions known to have the hash of an earlier one
	lookups  []mintLookup        // assets of mints that no output of the window has
}

// unreadInput is input ii of transaction ti, whose spend is at in the window's spends.
type unreadInput struct{ ti, ii, at int32 }

func (v *resolver) resolve() error {
	v.again, v.repeated = map[int32]int32{}, map[model.TxPk]bool{}
	w := v.w
	for ti := range w.txs {
		t := &w.txs[ti]
		if err := v.inputs(int32(ti), t); err != nil {
			return fmt.Errorf("%s: %w", v.where(t), err)
		}
		if err := v.outputs(t); err != nil {
			return fmt.Errorf("%s: %w", v.where(t), err)
		}
		if prev, ok := w.byHash[t.Hash]; ok {
			v.again[int32(ti)] = prev
		}
		w.byHash[t.Hash] = int32(ti)
	}
	if err := v.readInputs(); err != nil {
		return err
	}
	if err := v.repeats(); err != nil {
		return err
	}
	if err := w.values.resolve(v.DB, v.r, v.before); err != nil {
		return err
	}
	if err := v.births(); err != nil {
		return err
	}
	return v.mints()
}

// outputs notes the values and assets of a transaction's outputs: those a cache knows are resolved at once.
func (v *resolver) outputs(t *windowTx) error {
	c := v.cache
	if t.FirstOutput > 0 && !v.traits.LateOutputs {
		return model.Errorf(model.BadSource, "bad_block", "its outputs begin with output %d: expected 0", t.FirstOutput)
	}
	t.outputs = len(v.w.outputs)
	outpoints := c.fp.outpoints(&t.Hash)
	for oi := range t.Outputs {
		o := &t.Outputs[oi]
		index := t.OutputIndex(oi)
		pk, err := t.pk.Utxo(index)
		if err != nil {
			return badBlock(err)
		}
		spendable := outpoints.output(uint32(index))
		v.w.outputs = append(v.w.outputs, outputAt{int32(len(v.w.births)), int32(len(v.w.assetBirths))})
		var seen uint64
		for ki := range o.Keys {
			k := &o.Keys[ki]
			x, birth, err := v.occurrence(o, ki, pk, &seen)
			if err != nil {
				return fmt.Errorf("output %d: %w", index, err)
			}
			key := c.fp.value(x.number, k.Value)
			if x == v.spendBy {
				spendable = key
			}
			if err := v.occur(x, key, k.Value, birth); err != nil {
				return fmt.Errorf("output %d: %w", index, err)
			}
		}
		if err := v.assets(o, pk); err != nil {
			return fmt.Errorf("output %d: %w", index, err)
		}
		c.unspent.put(spendable, uint64(pk), o.Value)
	}
	return nil
}

func badBlock(err error) error { return model.Errorf(model.BadSource, "bad_block", "%w", err) }

// occurrence is the index of key ki of an output and the birth the value has if it is born there. seen has a bit for
// every index met in the output.
func (v *resolver) occurrence(o *model.Output, ki int, pk model.UtxoPk, seen *uint64) (*index, model.BirthPk, error) {
	k := &o.Keys[ki]
	if k.Index < 0 || k.Index >= len(v.indexes) {
		return nil, model.BirthPk{}, fmt.Errorf("key of index %d, the database has %d", k.Index, len(v.indexes))
	}
	x := v.indexes[k.Index]
	if len(k.Value) == 0 || len(k.Value) > model.MaxValueSize {
		return nil, model.BirthPk{}, badBlock(fmt.Errorf("value of %s has %d bytes, expected 1 to %d", x.Name, len(k.Value), model.MaxValueSize))
	}
	birth := model.BirthPk{Utxo: pk}
	bit := uint64(1) << (k.Index & 63)
	if *seen&bit != 0 {
		same := 0
		for i := range o.Keys[:ki] {
			if o.Keys[i].Index != k.Index {
				continue
			}
			if same++; string(o.Keys[i].Value) == string(k.Value) {
				return nil, birth, badBlock(fmt.Errorf("value %s of %s is named twice", x.Format(k.Value), x.Name))
			}
		}
		if same > 0 && !x.Kind.Wide() {
			return nil, birth, badBlock(fmt.Errorf("two values of %s, which is %v", x.Name, x.Kind))
		}
		ordinal, err := model.NewOrdinal(same)
		if err != nil {
			return nil, birth, badBlock(err)
		}
		birth.Ordinal = ordinal
	}
	*seen |= bit
	return x, birth, nil
}

// occur resolves a value from the cache or leaves it to the window's table.
func (v *resolver) occur(x *index, key fingerprint, value []byte, birth model.BirthPk) error {
	w := v.w
	at := int32(len(w.births))
	w.births = append(w.births, birth)
	if x.Kind != model.OneToOne {
		if pk, ordinal, ok := v.cache.births.get(key); ok {
			w.births[at] = model.BirthPk{Utxo: model.UtxoPk(pk), Ordinal: uint16(ordinal)}
			return nil
		}
	} else if i, known := w.values.byKey[key]; known {
		return badBlock(fmt.Errorf("value %s of %s occurs at %v already", x.Format(value), x.Name, w.values.entries[i].first))
	}
	entry := w.values.occur(x.number, key, value, birth)
	w.values.pending = append(w.values.pending, reference{at: at, entry: entry})
	return nil
}

func (v *resolver) assets(o *model.Output, pk model.UtxoPk) error {
	w, kept := v.w, 0
	for i := range o.Assets {
		a := &o.Assets[i]
		if a.Amount == 0 {
			continue
		}
		if len(a.ID) == 0 || len(a.ID) > model.MaxValueSize {
			return badBlock(fmt.Errorf("asset id has %d bytes, expected 1 to %d", len(a.ID), model.MaxValueSize))
		}
		ordinal, err := model.NewOrdinal(kept)
		if err != nil {
			return badBlock(err)
		}
		kept++
		birth := model.AssetBirthPk{Utxo: pk, Index: ordinal}
		at := int32(len(w.assetBirths))
		key := v.cache.fp.value(assetSpace, a.ID)
		if pk, index, ok := v.cache.births.get(key); ok {
			w.assetBirths = append(w.assetBirths, model.AssetBirthPk{Utxo: model.UtxoPk(pk), Index: uint16(index)})
			continue
		}
		w.assetBirths = append(w.assetBirths, birth)
		entry := w.values.occur(assetSpace, key, a.ID, model.BirthPk{Utxo: birth.Utxo, Ordinal: birth.Index})
		w.values.pending = append(w.values.pending, reference{at: at, entry: entry, asset: true})
	}
	return nil
}

// births fills in what the table resolved and teaches the cache.
func (v *resolver) births() error {
	w := v.w
	for _, ref := range w.values.pending {
		birth := w.values.entries[ref.entry].birth
		if ref.asset {
			w.assetBirths[ref.at] = model.AssetBirthPk{Utxo: birth.Utxo, Index: birth.Ordinal}
		} else {
			w.births[ref.at] = birth
		}
	}
	w.values.pending = nil
	for i := range w.values.entries {
		e := &w.values.entries[i]
		if e.space != assetSpace {
			if x := v.indexByNumber(uint64(e.space)); x.Kind == model.OneToOne {
				if !e.born {
					return fmt.Errorf("%s: %w", v.where(w.tx(e.first.Utxo.Tx())),
						badBlock(fmt.Errorf("value %s of %s occurs at %v already", x.Format(e.value), x.Name, e.birth)))
				}
				continue
			}
		}
		v.cache.births.put(e.key, uint64(e.birth.Utxo), uint64(e.birth.Ordinal))
	}
	return nil
}

// repeats finds the transactions whose hash stands in the chain already (BIP 30). That can only be one that spends
// nothing, or one that spends an output of such a repeated transaction: any other would spend an output twice.
func (v *resolver) repeats() error {
	w := v.w
	w.repeats = map[model.Hash][]model.TxPk{}
	stored, err := v.storedPlaces()
	if err != nil {
		return err
	}
	for ti := range w.txs {
		t := &w.txs[ti]
		var older []model.TxPk
		if prev, ok := v.again[int32(ti)]; ok {
			if older = w.repeats[t.Hash]; older == nil {
				older = []model.TxPk{w.txs[prev].pk}
			}
		} else if len(t.Inputs) == 0 {
			if older = v.pendingPlaces(&t.Hash); older == nil {
				older = stored[t.Hash]
			}
		} else if v.spendsRepeated(t) {
			if older = v.pendingPlaces(&t.Hash); older == nil {
				if older, err = v.placesOf(&t.Hash); err != nil {
					return err
				}
			}
		}
		if older == nil {
			continue
		}
		w.repeats[t.Hash] = append([]model.TxPk{t.pk}, older...)
		v.repeated[t.pk] = true
		// The caches do not know how to name two places: what spends from here is resolved by reading.
		outpoints := v.cache.fp.outpoints(&t.Hash)
		for oi := range t.Outputs {
			v.cache.unspent.take(outpoints.output(uint32(t.OutputIndex(oi))))
		}
	}
	return nil
}

func (v *resolver) spendsRepeated(t *windowTx) bool {
	if len(v.repeated) == 0 {
		return false
	}
	for _, s := range v.w.spends[t.spends : t.spends+len(t.Inputs)] {
		if v.repeated[s.utxo.Tx()] {
			return true
		}
	}
	return false
}

// storedPlaces reads where the window's transactions without inputs stand already.
func (v *resolver) storedPlaces() (map[model.Hash][]model.TxPk, error) {
	var keys [][]byte
	for i := range v.w.txs {
		if t := &v.w.txs[i]; len(t.Inputs) == 0 {
			keys = append(keys, t.Hash[:])
		}
	}
	vs, err := v.r.GetMany(familyTxPk, keys)
	if err != nil {
		return nil, err
	}
	places := map[model.Hash][]model.TxPk{}
	for i, b := range vs {
		if b == nil {
			continue
		}
		if places[model.Hash(keys[i])], err = parseTxPkRow(b); err != nil {
			return nil, err
		}
	}
	return places, nil
}

// pendingPlaces is where the windows before this one put a hash, newest first; nil where they do not have it.
func (v *resolver) pendingPlaces(hash *model.Hash) []model.TxPk {
	for i := len(v.before) - 1; i >= 0; i-- {
		if places := v.before[i].repeats[*hash]; places != nil {
			return places
		}
		if t := v.before[i].find(hash); t != nil {
			return []model.TxPk{t.pk}
		}
	}
	return nil
}

func (v *resolver) placesOf(hash *model.Hash) ([]model.TxPk, error) {
	b, err := v.r.Get(familyTxPk, hash[:])
	if errors.Is(err, storage.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return parseTxPkRow(b)
}
