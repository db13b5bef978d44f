package core

import (
	"fmt"

	"birthmark/core/schema"
	"birthmark/model"
)

// unreadInput is input ii of transaction ti, whose spend is at in the window's spends.
type unreadInput struct{ ti, ii, at int32 }

// inputs resolves what a transaction spends from the table of unspent outputs. What is not there is read later, all at
// once.
func (v *resolver) inputs(ti int32, t *windowTx) error {
	w, c := v.w, v.cache
	t.spends = len(w.spends)
	for ii := range t.Inputs {
		in := &t.Inputs[ii]
		if _, err := t.pk.Input(ii); err != nil {
			return badBlock(err)
		}
		if (in.Value != nil) != (v.SpendIndex != nil) {
			return badBlock(fmt.Errorf("input %d does not name what inputs of %s name", ii, v.Chain.Name()))
		}
		pk, value, ok := c.unspent.take(v.nextKey())
		if !ok {
			v.unread = append(v.unread, unreadInput{ti, int32(ii), int32(len(w.spends))})
		}
		w.spends = append(w.spends, spend{model.UtxoPk(pk), value})
	}
	return nil
}

func (v *resolver) spendKey(in *model.Input) fingerprint {
	if v.SpendIndex != nil {
		return v.cache.fp.value(v.SpendIndex.Number, in.Value)
	}
	return v.cache.fp.outpoints(&in.Tx).output(in.Index)
}

// named is how an input names what it spends, as people write it.
func named(c *schema.Layout, in *model.Input) string {
	if by := c.SpendIndex; by != nil {
		return by.Name + " " + by.Format(in.Value)
	}
	return fmt.Sprintf("%s:%d", c.Chain.FormatHash(in.Tx), in.Index)
}

func (v *resolver) unknown(t *windowTx, ii int) error {
	return model.Errorf(model.BadSource, "unknown_output", "input %d spends unknown %s", ii, named(v.Layout, &t.Inputs[ii]))
}

func (v *resolver) alreadySpent(t *windowTx, ii int, by model.InputPk) error {
	name := by.String()
	if w := v.pendingWith(model.UtxoPk(by)); w != nil {
		name = v.Chain.FormatHash(w.tx(by.Tx()).Hash)
	} else if b, err := v.r.Get(schema.FamilyTxHash, by.Tx().AppendTo(nil)); err == nil {
		if hash, _, err := schema.ParseTxHashRow(b); err == nil {
			name = v.Chain.FormatHash(hash)
		}
	}
	return model.Errorf(model.BadSource, "already_spent", "input %d spends %s, which input %d of %s in block %d has spent already",
		ii, named(v.Layout, &t.Inputs[ii]), by.Index(), name, by.Height())
}

// readInputs resolves from the database what is left: where the outputs stand, what they are worth, and that nothing
// has spent them.
func (v *resolver) readInputs() error {
	if len(v.unread) == 0 {
		return nil
	}
	w := v.w
	fail := func(u unreadInput, err error) error { return fmt.Errorf("%s: %w", where(v.Chain, &w.txs[u.ti]), err) }
	if u, err := v.madeUnwritten(); err != nil {
		return fail(u, err)
	}
	places, err := v.readPlaces()
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
	for i, u := range v.unread {
		t := &w.txs[u.ti]
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
	if u, err := v.spentUnwritten(places); err != nil {
		return fail(u, err)
	}
	return nil
}

// madeUnwritten refuses an unread input that names an output of a window not written yet: the table of unspent outputs
// has all of those, so it is spent, or there is none of that number.
func (v *resolver) madeUnwritten() (unreadInput, error) {
	wanted := make(map[string][]unreadInput, len(v.unread))
	for _, u := range v.unread {
		name := v.spentName(u)
		wanted[name] = append(wanted[name], u)
	}
	for _, w := range append(v.before[:len(v.before):len(v.before)], v.w) {
		for ti := range w.txs {
			made := &w.txs[ti]
			if v.SpendIndex == nil {
				for _, u := range wanted[string(made.Hash[:])] {
					t := &v.w.txs[u.ti]
					n := int64(t.Inputs[u.ii].Index)
					if made.pk >= t.pk {
						continue
					}
					if oi := n - int64(made.FirstOutput); oi < 0 || oi >= int64(len(made.Outputs)) {
						return u, v.unknown(t, int(u.ii))
					}
					return u, v.spentTwice(u, model.UtxoPk(made.pk)+model.UtxoPk(n))
				}
				continue
			}
			for oi := range made.Outputs {
				for _, k := range made.Outputs[oi].Keys {
					if v.Indexes[k.Index] != v.SpendIndex {
						continue
					}
					for _, u := range wanted[string(k.Value)] {
						if made.pk < v.w.txs[u.ti].pk {
							return u, v.spentTwice(u, model.UtxoPk(made.pk)+model.UtxoPk(made.OutputIndex(oi)))
						}
					}
				}
			}
		}
	}
	return unreadInput{}, nil
}

// spentName is what an input names, but for the number of an output.
func (v *resolver) spentName(u unreadInput) string {
	in := &v.w.txs[u.ti].Inputs[u.ii]
	if v.SpendIndex != nil {
		return string(in.Value)
	}
	return string(in.Tx[:])
}

// spentTwice says which input of the windows not written yet spends what u spends too.
func (v *resolver) spentTwice(u unreadInput, place model.UtxoPk) error {
	t := &v.w.txs[u.ti]
	for by, spend := range v.unwrittenSpends() {
		if spend.utxo == place && by != model.InputPk(t.pk)+model.InputPk(u.ii) {
			return v.alreadySpent(t, int(u.ii), by)
		}
	}
	return v.unknown(t, int(u.ii))
}

// spentUnwritten refuses an unread input where another of a window not written yet spends the same.
func (v *resolver) spentUnwritten(places []model.UtxoPk) (unreadInput, error) {
	by := make(map[model.UtxoPk]int, len(places))
	for i, pk := range places {
		by[pk] = i
	}
	for other, spend := range v.unwrittenSpends() {
		i, met := by[spend.utxo]
		if !met {
			continue
		}
		u := v.unread[i]
		t := &v.w.txs[u.ti]
		if other != model.InputPk(t.pk)+model.InputPk(u.ii) {
			return u, v.alreadySpent(t, int(u.ii), other)
		}
	}
	return unreadInput{}, nil
}

// unwrittenSpends yields the inputs of this window and those before that are not written yet.
func (v *resolver) unwrittenSpends() func(yield func(model.InputPk, spend) bool) {
	return func(yield func(model.InputPk, spend) bool) {
		for _, w := range append(v.before[:len(v.before):len(v.before)], v.w) {
			for ti := range w.txs {
				t := &w.txs[ti]
				for ii, s := range w.spends[t.spends : t.spends+len(t.Inputs)] {
					if !yield(model.InputPk(t.pk)+model.InputPk(ii), s) {
						return
					}
				}
			}
		}
	}
}

// readPlaces is where the outputs that the unread inputs name stand, in the order of unread.
func (v *resolver) readPlaces() ([]model.UtxoPk, error) {
	places := make([]model.UtxoPk, len(v.unread))
	unknown := func(u unreadInput) error {
		t := &v.w.txs[u.ti]
		return fmt.Errorf("%s: %w", where(v.Chain, t), v.unknown(t, int(u.ii)))
	}
	if v.SpendIndex != nil {
		values := make([][]byte, len(v.unread))
		for i, u := range v.unread {
			values[i] = v.w.txs[u.ti].Inputs[u.ii].Value
		}
		births, err := v.Births(v.r, v.SpendIndex.Number, values)
		if err != nil {
			return nil, err
		}
		for i, birth := range births {
			if birth == nil {
				return nil, unknown(v.unread[i])
			}
			places[i] = birth.Utxo
		}
		return places, nil
	}
	hashes := make([]model.Hash, len(v.unread))
	for i, u := range v.unread {
		hashes[i] = v.w.txs[u.ti].Inputs[u.ii].Tx
	}
	txs, err := schema.TxPks(v.r, hashes)
	if err != nil {
		return nil, err
	}
	for i, found := range txs {
		u := v.unread[i]
		if len(found) == 0 {
			return nil, unknown(u)
		}
		if places[i], err = found[0].Utxo(int(v.w.txs[u.ti].Inputs[u.ii].Index)); err != nil {
			return nil, unknown(u)
		}
	}
	return places, nil
}
