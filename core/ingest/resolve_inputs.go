package ingest

import (
	"fmt"

	"birthmark/core/cache"
	"birthmark/core/schema"
	"birthmark/model"
)

// cacheMiss is input ii of transaction ti, whose entry in Batch.spends is at.
type cacheMiss struct{ ti, ii, at int32 }

// inputs looks up the outputs that a transaction spends in the table of unspent outputs. readInputs reads the misses
// later, in one batch.
func (v *resolver) inputs(ti int32, t *BatchTx) error {
	w, c := v.w, v.cache
	t.spends = len(w.spends)
	for ii := range t.Inputs {
		in := &t.Inputs[ii]
		if _, err := t.pk.Input(ii); err != nil {
			return BadBlock(err)
		}
		if (in.Value != nil) != (v.SpendIndex != nil) {
			return BadBlock(fmt.Errorf("input %d does not name what inputs of %s name", ii, v.Chain.Name()))
		}
		pk, value, ok := c.Unspent.Take(v.nextKey())
		if !ok {
			v.misses = append(v.misses, cacheMiss{ti, int32(ii), int32(len(w.spends))})
		}
		w.spends = append(w.spends, spend{model.UtxoPk(pk), value})
	}
	return nil
}

func (v *resolver) spendKey(in *model.Input) cache.Fingerprint {
	if v.SpendIndex != nil {
		return v.cache.Fingerprints.Value(v.SpendIndex.Number, in.Value)
	}
	return v.cache.Fingerprints.Outpoints(&in.Tx).Output(in.Index)
}

// InputName formats the outpoint or the value that an input refers to.
func InputName(c *schema.Layout, in *model.Input) string {
	if by := c.SpendIndex; by != nil {
		return by.Name + " " + by.Format(in.Value)
	}
	return fmt.Sprintf("%s:%d", c.Chain.FormatHash(in.Tx), in.Index)
}

func (v *resolver) unknown(t *BatchTx, ii int) error {
	return model.Errorf(model.BadSource, "unknown_output", "input %d spends unknown %s", ii, InputName(v.Layout, &t.Inputs[ii]))
}

func (v *resolver) alreadySpent(t *BatchTx, ii int, by model.InputPk) error {
	name := by.String()
	if w := v.pendingWith(model.UtxoPk(by)); w != nil {
		name = v.Chain.FormatHash(w.tx(by.Tx()).Hash)
	} else if b, err := v.r.Get(schema.FamilyTxHash, by.Tx().AppendTo(nil)); err == nil {
		if hash, _, err := schema.ParseTxHashRow(b); err == nil {
			name = v.Chain.FormatHash(hash)
		}
	}
	return model.Errorf(model.BadSource, "already_spent", "input %d spends %s, which input %d of %s in block %d has spent already",
		ii, InputName(v.Layout, &t.Inputs[ii]), by.Index(), name, by.Height())
}

// readInputs reads the missed outputs from the database: their pointers, their values, and that no input has spent
// them. Errors: unknown_output, already_spent.
func (v *resolver) readInputs() error {
	if len(v.misses) == 0 {
		return nil
	}
	w := v.w
	fail := func(u cacheMiss, err error) error { return fmt.Errorf("%s: %w", where(v.Chain, &w.Txs[u.ti]), err) }
	if u, err := v.checkUncommittedOutputs(); err != nil {
		return fail(u, err)
	}
	places, err := v.locateOutputs()
	if err != nil {
		return err
	}
	keys := schema.Keys(places)
	rows, err := v.r.GetMany(schema.FamilyUtxo, keys)
	if err != nil {
		return err
	}
	spent, err := v.r.GetMany(schema.FamilySpentInput, keys)
	if err != nil {
		return err
	}
	for i, u := range v.misses {
		t := &w.Txs[u.ti]
		if rows[i] == nil {
			return fail(u, v.unknown(t, int(u.ii)))
		}
		value, err := schema.ParseUtxoValue(rows[i])
		if err != nil {
			return fail(u, err)
		}
		if spent[i] != nil {
			by, err := model.ParseInputPk(spent[i])
			if err != nil {
				return fail(u, err)
			}
			return fail(u, v.alreadySpent(t, int(u.ii), by))
		}
		w.spends[u.at] = spend{places[i], value}
	}
	if u, err := v.checkUncommittedSpends(places); err != nil {
		return fail(u, err)
	}
	return nil
}

// checkUncommittedOutputs rejects a missed input that refers to an output of an uncommitted batch. The table of unspent
// outputs contains all unspent outputs of those batches, so the output is already spent, or it does not exist.
func (v *resolver) checkUncommittedOutputs() (cacheMiss, error) {
	wanted := make(map[string][]cacheMiss, len(v.misses))
	for _, u := range v.misses {
		name := v.spentName(u)
		wanted[name] = append(wanted[name], u)
	}
	for _, w := range append(v.before[:len(v.before):len(v.before)], v.w) {
		for ti := range w.Txs {
			made := &w.Txs[ti]
			if v.SpendIndex == nil {
				for _, u := range wanted[string(made.Hash[:])] {
					t := &v.w.Txs[u.ti]
					n := int64(t.Inputs[u.ii].Index)
					if made.pk >= t.pk {
						continue
					}
					if oi := n - int64(made.FirstOutput); oi < 0 || oi >= int64(len(made.Outputs)) {
						return u, v.unknown(t, int(u.ii))
					}
					return u, v.doubleSpend(u, model.UtxoPk(made.pk)+model.UtxoPk(n))
				}
				continue
			}
			for oi := range made.Outputs {
				for _, k := range made.Outputs[oi].Keys {
					if v.Indexes[k.Index] != v.SpendIndex {
						continue
					}
					for _, u := range wanted[string(k.Value)] {
						if made.pk < v.w.Txs[u.ti].pk {
							return u, v.doubleSpend(u, model.UtxoPk(made.pk)+model.UtxoPk(made.OutputIndex(oi)))
						}
					}
				}
			}
		}
	}
	return cacheMiss{}, nil
}

// spentName returns the transaction hash, or the value, that an input refers to.
func (v *resolver) spentName(u cacheMiss) string {
	in := &v.w.Txs[u.ti].Inputs[u.ii]
	if v.SpendIndex != nil {
		return string(in.Value)
	}
	return string(in.Tx[:])
}

// doubleSpend returns already_spent with the uncommitted input that spends the output at place, or unknown_output.
func (v *resolver) doubleSpend(u cacheMiss, place model.UtxoPk) error {
	t := &v.w.Txs[u.ti]
	for by, spend := range v.uncommittedSpends() {
		if spend.Utxo == place && by != model.InputPk(t.pk)+model.InputPk(u.ii) {
			return v.alreadySpent(t, int(u.ii), by)
		}
	}
	return v.unknown(t, int(u.ii))
}

// checkUncommittedSpends rejects a missed input if another input of an uncommitted batch spends the same output.
func (v *resolver) checkUncommittedSpends(places []model.UtxoPk) (cacheMiss, error) {
	by := make(map[model.UtxoPk]int, len(places))
	for i, pk := range places {
		by[pk] = i
	}
	for other, spend := range v.uncommittedSpends() {
		i, met := by[spend.Utxo]
		if !met {
			continue
		}
		u := v.misses[i]
		t := &v.w.Txs[u.ti]
		if other != model.InputPk(t.pk)+model.InputPk(u.ii) {
			return u, v.alreadySpent(t, int(u.ii), other)
		}
	}
	return cacheMiss{}, nil
}

// uncommittedSpends yields the inputs of the uncommitted batches and of this batch.
func (v *resolver) uncommittedSpends() func(yield func(model.InputPk, spend) bool) {
	return func(yield func(model.InputPk, spend) bool) {
		for _, w := range append(v.before[:len(v.before):len(v.before)], v.w) {
			for ti := range w.Txs {
				t := &w.Txs[ti]
				for ii, s := range w.spends[t.spends : t.spends+len(t.Inputs)] {
					if !yield(model.InputPk(t.pk)+model.InputPk(ii), s) {
						return
					}
				}
			}
		}
	}
}

// locateOutputs returns the pointers of the outputs that v.misses refer to, in the same order. Error: unknown_output.
func (v *resolver) locateOutputs() ([]model.UtxoPk, error) {
	places := make([]model.UtxoPk, len(v.misses))
	unknown := func(u cacheMiss) error {
		t := &v.w.Txs[u.ti]
		return fmt.Errorf("%s: %w", where(v.Chain, t), v.unknown(t, int(u.ii)))
	}
	if v.SpendIndex != nil {
		values := make([][]byte, len(v.misses))
		for i, u := range v.misses {
			values[i] = v.w.Txs[u.ti].Inputs[u.ii].Value
		}
		births, err := v.Births(v.r, v.SpendIndex.Number, values)
		if err != nil {
			return nil, err
		}
		for i, birth := range births {
			if birth == nil {
				return nil, unknown(v.misses[i])
			}
			places[i] = birth.Utxo
		}
		return places, nil
	}
	hashes := make([]model.Hash, len(v.misses))
	for i, u := range v.misses {
		hashes[i] = v.w.Txs[u.ti].Inputs[u.ii].Tx
	}
	txs, err := schema.TxPks(v.r, hashes)
	if err != nil {
		return nil, err
	}
	for i, found := range txs {
		u := v.misses[i]
		if len(found) == 0 {
			return nil, unknown(u)
		}
		if places[i], err = found[0].Utxo(int(v.w.Txs[u.ti].Inputs[u.ii].Index)); err != nil {
			return nil, unknown(u)
		}
	}
	return places, nil
}
