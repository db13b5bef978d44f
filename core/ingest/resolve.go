package ingest

import (
	"fmt"
	"sync"

	"birthmark/core/cache"
	"birthmark/core/schema"
	"birthmark/model"
	"birthmark/storage"
)

// FirstPk returns the first pointer of the oldest uncommitted batch.
func FirstPk(batches []*Batch) model.UtxoPk {
	for _, w := range batches {
		if len(w.Txs) > 0 {
			return model.UtxoPk(w.Txs[0].pk)
		}
	}
	return model.UtxoPk(batches[len(batches)-1].Blocks[0].Height.First())
}

// resolver is the second pass over one batch: it finds spent outputs and the births of values and assets.
type resolver struct {
	*schema.Layout
	cache   *cache.Caches
	w       *Batch
	r       storage.Reader
	batches []*Batch // uncommitted batches, oldest first; the last one is w

	assetsStored bool // the database contains assets

	keys                    []cache.Fingerprint // of the current run of transactions, in the order of lookups
	used                    int                 // number of keys already used
	prefetched              uint64
	spendKeys, valueKeys    []cache.Fingerprint // the keys to prefetch in each kind of table
	misses                  []cacheMiss         // inputs that must be read from the database
	pending                 []pendingLookup     // values that the database may contain
	lookups                 []mintLookup        // minted assets that no cache contains
	birthLookups, birthHits int                 // cache lookups of births, and hits
}

// keysAhead is the minimum number of fingerprints that are computed ahead of their lookups. It is large enough to
// prefetch their table entries from memory, and small enough for the entries to remain in the processor's cache.
const keysAhead = 2048

func (v *resolver) resolve() error {
	w := v.w
	for ti, ahead := 0, 0; ti < len(w.Txs); ti++ {
		if ti == ahead {
			ahead = v.fingerprints(ti)
		}
		t := &w.Txs[ti]
		if err := v.inputs(int32(ti), t); err != nil {
			return fmt.Errorf("%s: %w", describe(v.Chain, t), err)
		}
		if err := v.outputs(t); err != nil {
			return fmt.Errorf("%s: %w", describe(v.Chain, t), err)
		}
	}
	v.count()
	if err := v.readInputs(); err != nil {
		return err
	}
	if err := v.lookupPending(); err != nil {
		return err
	}
	if err := v.deltas(); err != nil {
		return err
	}
	if err := v.mints(); err != nil {
		return err
	}
	var sorting sync.WaitGroup
	for _, y := range v.w.deltas {
		sorting.Go(y.Sort)
	}
	sorting.Wait()
	return nil
}

// fingerprints computes the fingerprints of the next transactions, in lookup order: inputs, the transaction, values and
// assets of outputs. It returns the index of the transaction after them.
func (v *resolver) fingerprints(ti int) int {
	c := v.cache
	v.keys, v.used, v.spendKeys, v.valueKeys = v.keys[:0], 0, v.spendKeys[:0], v.valueKeys[:0]
	for ; ti < len(v.w.Txs) && len(v.keys) < keysAhead; ti++ {
		t := &v.w.Txs[ti]
		for ii := range t.Inputs {
			v.keys = append(v.keys, v.spendKey(&t.Inputs[ii]))
		}
		v.spendKeys = append(v.spendKeys, v.keys[len(v.keys)-len(t.Inputs):]...)
		outpoints := c.Fingerprints.Outpoints(&t.Hash)
		v.keys = append(v.keys, outpoints)
		if v.SpendIndex == nil {
			v.spendKeys = append(v.spendKeys, outpoints.Output(t.FirstOutput))
		}
		from := len(v.keys)
		for oi := range t.Outputs {
			o := &t.Outputs[oi]
			for ki := range o.Keys {
				v.keys = append(v.keys, c.Fingerprints.Value(v.spaceOf(o.Keys[ki].Index), o.Keys[ki].Value))
			}
			for ai := range o.Assets {
				if o.Assets[ai].Amount > 0 {
					v.keys = append(v.keys, c.Fingerprints.Value(schema.AssetSpace, o.Assets[ai].ID))
				}
			}
		}
		v.valueKeys = append(v.valueKeys, v.keys[from:]...)
	}
	v.prefetched += c.Unspent.Prefetch(v.spendKeys) + c.Births.Prefetch(v.valueKeys) + c.Known.Prefetch(v.valueKeys)
	return ti
}

// spaceOf returns the space of the index at a position. occurrence rejects invalid positions later.
func (v *resolver) spaceOf(position int) int {
	if position < 0 || position >= len(v.Indexes) {
		return schema.AssetSpace
	}
	return v.Indexes[position].Number
}

// nextKey returns the next computed fingerprint.
func (v *resolver) nextKey() cache.Fingerprint {
	v.used++
	return v.keys[v.used-1]
}

// outputs resolves the values and assets of a transaction's outputs, and adds them to the table of unspent outputs.
func (v *resolver) outputs(t *BatchTx) error {
	c := v.cache
	if t.FirstOutput > 0 && !v.Traits.OutputOffset {
		return model.Errorf(model.BadSource, "bad_block", "its outputs begin with output %d: expected 0", t.FirstOutput)
	}
	t.outputs = len(v.w.outputs)
	outpoints := v.nextKey()
	for oi := range t.Outputs {
		o := &t.Outputs[oi]
		index := t.OutputIndex(oi)
		pk, err := t.pk.Utxo(index)
		if err != nil {
			return BadBlock(err)
		}
		spendable := outpoints.Output(uint32(index))
		v.w.outputs = append(v.w.outputs, outputAt{int32(len(v.w.births)), int32(len(v.w.assetBirths))})
		var seen uint64
		for ki := range o.Keys {
			k, key := &o.Keys[ki], v.nextKey()
			x, birth, err := v.occurrence(o, ki, pk, &seen)
			if err != nil {
				return fmt.Errorf("output %d: %w", index, err)
			}
			if x == v.SpendIndex {
				spendable = key
			}
			once := x.Kind == model.OneToOne
			v.w.births = append(v.w.births, v.birthOf(x.Number, once, key, k.Value, birth, len(v.w.births)))
		}
		if err := v.assets(o, pk); err != nil {
			return fmt.Errorf("output %d: %w", index, err)
		}
		c.Unspent.Put(spendable, uint64(pk), o.Value)
	}
	return nil
}

func BadBlock(err error) error { return model.Errorf(model.BadSource, "bad_block", "%w", err) }

// occurrence returns the index of key ki of an output, and the birth of its value if this is its first occurrence. seen
// has one bit per index that already occurred in the output. Error: bad_block.
func (v *resolver) occurrence(o *model.Output, ki int, pk model.UtxoPk, seen *uint64) (*schema.Index, model.BirthPk, error) {
	k := &o.Keys[ki]
	if k.Index < 0 || k.Index >= len(v.Indexes) {
		return nil, model.BirthPk{}, fmt.Errorf("key of index %d, the database has %d", k.Index, len(v.Indexes))
	}
	x := v.Indexes[k.Index]
	if len(k.Value) == 0 || len(k.Value) > model.MaxValueSize {
		return nil, model.BirthPk{}, BadBlock(fmt.Errorf("value of %s has %d bytes, expected 1 to %d", x.Name, len(k.Value), model.MaxValueSize))
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
				return nil, birth, BadBlock(fmt.Errorf("duplicate value %s of %s", x.Format(k.Value), x.Name))
			}
		}
		if same > 0 && !x.Kind.HasOrdinal() {
			return nil, birth, BadBlock(fmt.Errorf("two values of %s, which is %v", x.Name, x.Kind))
		}
		ordinal, err := model.NewOrdinal(same)
		if err != nil {
			return nil, birth, BadBlock(err)
		}
		birth.Ordinal = ordinal
	}
	*seen |= bit
	return x, birth, nil
}

// birthOf returns the birth of a value, or of an asset, that occurs here. It is in the cache, or here if the filter proves
// that the value is new; otherwise the lookup is deferred to lookupPending, which sets entry at of Batch.births or
// Batch.assetBirths. once means that each value occurs once.
func (v *resolver) birthOf(space int, once bool, key cache.Fingerprint, value []byte, here model.BirthPk, at int) model.BirthPk {
	c := v.cache
	if !once {
		v.birthLookups++
		if birth, ok := c.Birth(key); ok {
			v.birthHits++
			return birth
		}
	}
	if c.Known.Has(key) {
		v.pending = append(v.pending, pendingLookup{space, key, value, here, int32(at)})
		return here
	}
	c.Known.Add(key)
	if !once {
		c.PutBirth(key, here)
	}
	return here
}

func (v *resolver) assets(o *model.Output, pk model.UtxoPk) error {
	w, kept := v.w, 0
	for i := range o.Assets {
		a := &o.Assets[i]
		if a.Amount == 0 {
			continue
		}
		if len(a.ID) == 0 || len(a.ID) > model.MaxValueSize {
			return BadBlock(fmt.Errorf("asset id has %d bytes, expected 1 to %d", len(a.ID), model.MaxValueSize))
		}
		ordinal, err := model.NewOrdinal(kept)
		if err != nil {
			return BadBlock(err)
		}
		kept++
		birth := v.birthOf(schema.AssetSpace, false, v.nextKey(), a.ID, model.BirthPk{Utxo: pk, Ordinal: ordinal}, len(w.assetBirths))
		w.assetBirths = append(w.assetBirths, model.AssetBirthPk{Utxo: birth.Utxo, Index: birth.Ordinal})
	}
	return nil
}

// count updates the cache counters.
func (v *resolver) count() {
	hits := &v.cache.Counters
	hits.Outputs.Add(len(v.w.spends), len(v.w.spends)-len(v.misses))
	hits.Values.Add(v.birthLookups, v.birthHits)
	perhapsNew := len(v.w.births) + len(v.w.assetBirths) - v.birthHits
	hits.Filter.Add(perhapsNew, perhapsNew-len(v.pending))
}

// Resolve finds the outputs that the inputs of the last batch spend, and the births of its values and assets: in the
// caches, in the uncommitted batches, which are all in batches, oldest first, and in the database that r reads. assets
// reports whether the database contains assets. Errors: bad_block, unknown_output, already_spent, unknown_asset.
func Resolve(l *schema.Layout, c *cache.Caches, r storage.Reader, batches []*Batch, assets bool) error {
	v := resolver{Layout: l, cache: c, w: batches[len(batches)-1], r: r, batches: batches, assetsStored: assets}
	return v.resolve()
}
