package ingest

import (
	"cmp"
	"fmt"
	"runtime"
	"slices"

	"birthmark/core/cache"
	"birthmark/core/ledger"
	"birthmark/core/schema"
	"birthmark/internal/guard"
	"birthmark/model"
	"birthmark/storage"
)

// FirstPk returns the first pointer of the oldest uncommitted batch.
func FirstPk(l *schema.Layout, batches []*Batch) model.UtxoPk {
	for _, b := range batches {
		if len(b.Txs) > 0 {
			return model.UtxoPk(b.Txs[0].pk)
		}
	}
	return model.UtxoPk(l.FirstPk(batches[len(batches)-1].Blocks[0].Height))
}

// resolver is the second pass over one batch: it finds spent outputs and the births of values and assets. resolve
// divides the transactions into chunks, which goroutines prepare, and the caches answer the lookups of all chunks at
// once.
type resolver struct {
	*schema.Layout
	cache   *cache.Caches
	batch   *Batch
	r       storage.Reader
	batches []*Batch // uncommitted batches, oldest first; the last one is batch

	assetsStored bool // the database contains assets
	replay       bool // the database has later blocks too
	room         *Room

	// whole is the layout of the database if only assets are derived, and it has all other rows of the batch: see
	// [DeriveAssets]. Otherwise nil.
	whole  *schema.Layout
	held   model.TxPk                           // outputs of earlier transactions have no assets; 0: unknown
	stored map[model.UtxoPk]ledger.OutputAssets // assets of spent outputs of earlier batches

	lookups *cache.Lookups
	missed  []int32 // inputs that must be read from the database, in the order of Batch.spends

	missedRows [][]byte           // the rows of the outputs that they spend
	burned     schema.BirthLookup // assets that only burns name and the caches do not contain
	mintsOf    []mintLookup       // minted assets that the caches do not contain
	pending    []pendingLookup    // values that the database may contain
	words      []int              // by position of an index: the word of its owner in cache entries; -1 if it has none
}

// chunkTxs is the minimum number of transactions that a goroutine prepares at a time.
const chunkTxs = 256

func (v *resolver) resolve() error {
	batch, c := v.batch, v.cache
	c.Divide(v.Indexes) // an index may have been added or dropped since the last batch
	v.words = make([]int, len(v.Indexes))
	for i, x := range v.Indexes {
		v.words[i] = c.WordOf(x)
	}
	chunks := v.chunks(max(chunkTxs, len(batch.Txs)/(4*runtime.GOMAXPROCS(0))+1))
	v.lookups = c.Prepare(len(chunks), batch.keys+batch.entries, len(batch.outputs), batch.inputs) // births: of keys, then of assets
	err := inParallel(len(chunks), func(i int) error { return v.prepare(chunks[i], &v.lookups.Chunks[i]) })
	if err != nil {
		return err
	}
	if err := v.findBirths(); err != nil {
		return err
	}
	if c.Words() > 0 {
		cache.Parallel(len(chunks), func(i int) { v.putOwners(chunks[i]) })
	}
	v.missed = c.Outputs(v.lookups)
	batch.spends = v.lookups.Spent
	if err := v.readInputs(); err != nil {
		return err
	}
	if err := v.deltas(); err != nil {
		return err
	}
	if err := v.mints(); err != nil {
		return err
	}
	var waits []func()
	for _, d := range v.batch.deltas {
		waits = append(waits, guard.Beside(d.Sort))
	}
	for _, wait := range waits {
		wait()
	}
	return nil
}

// inParallel calls fn for 0 to n-1 on all processors and returns the first error in this order.
func inParallel(n int, fn func(i int) error) error {
	errs := make([]error, n)
	cache.Parallel(n, func(i int) { errs[i] = fn(i) })
	return cmp.Or(errs...)
}

// chunks divides the transactions. On unordered chains each block is in one chunk.
func (v *resolver) chunks(size int) (chunks [][]BatchTx) {
	if !v.Traits.Unordered {
		return slices.Collect(slices.Chunk(v.batch.Txs, size))
	}
	for txs := v.batch.Txs; len(txs) > 0; {
		n := 0
		for n < min(size, len(txs)) {
			n += sameBlock(txs[n:])
		}
		chunks, txs = append(chunks, txs[:n]), txs[n:]
	}
	return chunks
}

// sameBlock returns the number of transactions that are in the block of the first one.
func sameBlock(txs []BatchTx) int {
	n := 1
	for n < len(txs) && txs[n].block == txs[0].block {
		n++
	}
	return n
}

// prepare checks some transactions and adds their lookups: inputs, outputs, and values and assets of the outputs. On
// unordered chains the outputs of a block precede its inputs, otherwise the inputs of each transaction its outputs.
func (v *resolver) prepare(txs []BatchTx, to *cache.Chunk) error {
	for v.Traits.Unordered && len(txs) > 0 {
		n := sameBlock(txs)
		for _, add := range []func(*BatchTx, *cache.Chunk) error{v.outputs, v.inputs} {
			for i := range txs[:n] {
				if err := add(&txs[i], to); err != nil {
					return fmt.Errorf("%s: %w", describe(v.Chain, &txs[i]), err)
				}
			}
		}
		txs = txs[n:]
	}
	for i := range txs {
		t := &txs[i]
		if err := v.inputs(t, to); err != nil {
			return fmt.Errorf("%s: %w", describe(v.Chain, t), err)
		}
		if err := v.outputs(t, to); err != nil {
			return fmt.Errorf("%s: %w", describe(v.Chain, t), err)
		}
	}
	return nil
}

// outputs adds the lookups of a transaction's outputs.
func (v *resolver) outputs(t *BatchTx, to *cache.Chunk) error {
	batch, c, l := v.batch, v.cache, v.lookups
	if t.FirstOutput > 0 && !v.Traits.OutputOffset {
		return model.Errorf(model.BadSource, "bad_block", "its outputs begin with output %d: expected 0", t.FirstOutput)
	}
	outpoints := c.Fingerprints.Outpoints(&t.Hash)
	for oi := range t.Outputs {
		o := &t.Outputs[oi]
		index := t.OutputIndex(oi)
		pk, err := t.pk.Utxo(index)
		if err != nil {
			return BadBlock(err)
		}
		spendable, at := outpoints.Output(uint32(index)), batch.outputs[t.outputs+oi]
		var seen uint64
		for ki := range o.Keys {
			x, birth, err := v.occurrence(o, ki, pk, &seen)
			if err != nil {
				return fmt.Errorf("output %d: %w", index, err)
			}
			key := c.Fingerprints.Value(x.Number, o.Keys[ki].Value)
			if x == v.SpendIndex {
				spendable = key
			}
			place := int(at.births) + ki
			l.Births[place] = birth
			c.AddBirth(to, key, place, x.Kind == model.OneToOne)
		}
		if err := v.assets(o, pk, batch.keys+int(at.assets), to); err != nil {
			return fmt.Errorf("output %d: %w", index, err)
		}
		l.Outputs[t.outputs+oi] = cache.Output{Utxo: pk, Value: o.Value}
		c.AddOutput(to, spendable, t.outputs+oi)
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

// assets adds the lookups of an output's assets; place is the position of the first one in Lookups.Births.
func (v *resolver) assets(o *model.Output, pk model.UtxoPk, place int, to *cache.Chunk) error {
	kept := 0
	if v.Traits.Tokens != nil {
		return nil // see derive
	}
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
		v.lookups.Births[place+kept] = model.BirthPk{Utxo: pk, Ordinal: ordinal}
		v.cache.AddBirth(to, v.cache.Fingerprints.Value(schema.AssetSpace, a.ID), place+kept, false)
		kept++
	}
	return nil
}

// Resolve finds the outputs that the inputs of the last batch spend, and the births of its values and assets: in the
// caches, in the uncommitted batches, which are all in batches, oldest first, and in the database that r reads. assets
// reports whether the database contains assets. Errors: bad_block, unknown_output, already_spent, unknown_asset,
// block_too_large, [*BatchTooLarge].
func Resolve(l *schema.Layout, c *cache.Caches, r storage.Reader, batches []*Batch, assets bool, room *Room) error {
	v := resolver{Layout: l, cache: c, batch: batches[len(batches)-1], r: r, batches: batches, assetsStored: assets, room: room}
	return v.run()
}

func (v *resolver) run() error {
	v.burned.Space = schema.AssetSpace
	return v.resolve()
}
