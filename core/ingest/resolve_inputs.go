package ingest

import (
	"fmt"
	"iter"
	"math"
	"sort"

	"birthmark/core/cache"
	"birthmark/core/schema"
	"birthmark/model"
	"birthmark/storage"
)

// nowhere is the pointer of an output that is not found.
const nowhere = math.MaxUint64

// inputs adds the lookups of the outputs that a transaction spends. readInputs reads the misses later, in one batch.
func (v *resolver) inputs(t *BatchTx, to *cache.Chunk) error {
	for ii := range t.Inputs {
		in := &t.Inputs[ii]
		if _, err := t.pk.Input(ii); err != nil {
			return BadBlock(err)
		}
		if (in.Value != nil) != (v.SpendIndex != nil) {
			return BadBlock(fmt.Errorf("input %d has the wrong kind of reference for %s", ii, v.Chain.Name()))
		}
		v.cache.AddSpend(to, v.spendKey(in), t.spends+ii)
	}
	return nil
}

// input returns the transaction and the number of the input whose entry in Batch.spends is at.
func (b *Batch) input(at int32) (t *BatchTx, ii int) {
	t = &b.Txs[sort.Search(len(b.Txs), func(i int) bool { return b.Txs[i].spends > int(at) })-1]
	return t, int(at) - t.spends
}

func (v *resolver) spendKey(in *model.Input) cache.Fingerprint {
	if v.SpendIndex != nil {
		return v.cache.Fingerprints.Value(v.SpendIndex.Number, in.Value)
	}
	return v.cache.Fingerprints.Outpoints(&in.Tx).Output(in.Index)
}

// InputName formats the outpoint or the value that an input refers to.
func InputName(l *schema.Layout, in *model.Input) string {
	if by := l.SpendIndex; by != nil {
		return by.Name + " " + by.Format(in.Value)
	}
	return fmt.Sprintf("%s:%d", l.Chain.FormatHash(in.Tx), in.Index)
}

func (v *resolver) unknown(t *BatchTx, ii int) error {
	return model.Errorf(model.BadSource, "unknown_output", "input %d spends unknown %s", ii, InputName(v.Layout, &t.Inputs[ii]))
}

func (v *resolver) alreadySpent(t *BatchTx, ii int, by model.InputPk) error {
	name := by.String()
	if batch := v.pendingWith(model.UtxoPk(by)); batch != nil {
		name = v.Chain.FormatHash(batch.tx(by.Tx()).Hash)
	} else if b, err := v.r.Get(schema.FamilyTxHash, by.Tx().AppendTo(nil)); err == nil {
		if hash, _, err := schema.ParseTxHashRow(b); err == nil {
			name = v.Chain.FormatHash(hash)
		}
	}
	return model.Errorf(model.BadSource, "already_spent", "input %d spends %s, which input %d of %s in block %d has already spent",
		ii, InputName(v.Layout, &t.Inputs[ii]), by.Index(), name, by.Height())
}

// readInputs reads the missed outputs from the database: their pointers, their values, and that no input has spent
// them. The caches have all unspent outputs of uncommitted batches, so a missed output of such a batch is already
// spent, or it does not exist. Errors: unknown_output, already_spent.
func (v *resolver) readInputs() error {
	if len(v.missed) == 0 {
		return nil
	}
	places, err := v.locateOutputs()
	if err != nil {
		return err
	}
	spentBy := v.uncommittedSpends(places)
	keys := schema.Keys(places)
	outputs, spent := storage.Read{Family: schema.FamilyUtxo, Keys: keys}, storage.Read{Family: schema.FamilySpentInput, Keys: keys}
	if err := storage.ReadTogether(v.r, &outputs, &spent); err != nil {
		return err
	}
	v.missedRows = outputs.Values
	for i, at := range v.missed {
		t, ii := v.batch.input(at)
		value, err := v.unspentValue(t, ii, outputs.Values[i], spent.Values[i], spentBy[places[i]])
		if err != nil {
			return fmt.Errorf("%s: %w", describe(v.Chain, t), err)
		}
		v.batch.spends[at] = cache.Output{Utxo: places[i], Value: value}
		spentBy[places[i]] = model.InputPk(t.pk) + model.InputPk(ii)
	}
	return nil
}

// unspentValue returns the value of the output that input ii of t refers to, from the rows of the output and of its
// spender. by is the uncommitted input that spends it; nowhere if none does.
func (v *resolver) unspentValue(t *BatchTx, ii int, row, spender []byte, by model.InputPk) (value uint64, err error) {
	if by == nowhere && spender != nil {
		if by, err = model.ParseInputPk(spender); err != nil {
			return 0, err
		}
	}
	switch {
	case by != nowhere:
		return 0, v.alreadySpent(t, ii, by)
	case row == nil:
		return 0, v.unknown(t, ii)
	}
	return schema.ParseUtxoValue(row)
}

// uncommittedSpends returns the input of an uncommitted batch that spends each of the outputs; nowhere if none does.
func (v *resolver) uncommittedSpends(places []model.UtxoPk) map[model.UtxoPk]model.InputPk {
	by := make(map[model.UtxoPk]model.InputPk, len(places))
	for _, pk := range places {
		by[pk] = nowhere
	}
	for _, batch := range v.batches {
		for ti := range batch.Txs {
			t := &batch.Txs[ti]
			for ii, s := range batch.spends[t.spends : t.spends+len(t.Inputs)] {
				if _, missed := by[s.Utxo]; missed && s.Utxo != nowhere {
					by[s.Utxo] = model.InputPk(t.pk) + model.InputPk(ii)
				}
			}
		}
	}
	return by
}

// locateOutputs returns the pointers of the outputs that v.missed refer to, in the same order; nowhere for unknown
// outputs.
func (v *resolver) locateOutputs() ([]model.UtxoPk, error) {
	places := make([]model.UtxoPk, len(v.missed))
	names := make([][]byte, len(v.missed)) // the value, or the transaction hash, that the input refers to
	hashes := make([]model.Hash, len(v.missed))
	at := make(map[string][]int, len(v.missed))
	spenders, inputs := make([]*BatchTx, len(v.missed)), make([]*model.Input, len(v.missed))
	for i, missed := range v.missed {
		t, ii := v.batch.input(missed)
		in := &t.Inputs[ii]
		spenders[i], inputs[i] = t, in
		places[i], names[i], hashes[i] = nowhere, in.Value, in.Tx
		if v.SpendIndex == nil {
			names[i] = in.Tx[:]
		}
		at[string(names[i])] = append(at[string(names[i])], i)
	}
	if v.SpendIndex != nil {
		births, err := v.Births(v.r, v.SpendIndex.Number, names)
		for i, birth := range births {
			if birth != nil {
				places[i] = birth.Utxo
			}
		}
		for pk, value := range v.uncommittedValues(v.SpendIndex) {
			for _, i := range at[string(value)] {
				if v.precedes(pk.Tx(), spenders[i].pk) {
					places[i] = pk
				}
			}
		}
		return places, err
	}
	outputOf := func(i int, tx model.TxPk) {
		if pk, err := tx.Utxo(int(inputs[i].Index)); err == nil {
			places[i] = pk
		}
	}
	txs, err := schema.TxPks(v.r, hashes)
	for i, found := range txs {
		if len(found) > 0 {
			outputOf(i, found[0])
		}
	}
	for _, batch := range v.batches {
		for ti := range batch.Txs {
			made := &batch.Txs[ti]
			for _, i := range at[string(made.Hash[:])] {
				if v.precedes(made.pk, spenders[i].pk) {
					outputOf(i, made.pk)
				}
			}
		}
	}
	return places, err
}

// precedes reports whether inputs of a transaction can spend outputs of another one.
func (v *resolver) precedes(made, spender model.TxPk) bool {
	return made < spender || v.Traits.Unordered && made > spender && made.Height() == spender.Height()
}

// uncommittedValues yields the occurrences of values of x in the uncommitted batches.
func (v *resolver) uncommittedValues(x *schema.Index) iter.Seq2[model.UtxoPk, []byte] {
	return func(yield func(model.UtxoPk, []byte) bool) {
		for _, batch := range v.batches {
			for ti := range batch.Txs {
				t := &batch.Txs[ti]
				for oi := range t.Outputs {
					for _, k := range t.Outputs[oi].Keys {
						if v.Indexes[k.Index] == x && !yield(model.UtxoPk(t.pk)+model.UtxoPk(t.OutputIndex(oi)), k.Value) {
							return
						}
					}
				}
			}
		}
	}
}
