package core

import (
	"fmt"

	"birthmark/model"
)

// inputs resolves what a transaction spends: from the cache of unspent outputs, from the window, from windows that
// are still being written. What is left is read later, all at once.
func (v *resolver) inputs(ti int32, t *windowTx) error {
	w, c := v.w, v.cache
	t.spends = len(w.spends)
	for ii := range t.Inputs {
		in := &t.Inputs[ii]
		input, err := t.pk.Input(ii)
		if err != nil {
			return badBlock(err)
		}
		if (in.Value != nil) != (v.spendBy != nil) {
			return badBlock(fmt.Errorf("input %d does not name what inputs of %s name", ii, v.chain.Name()))
		}
		// An output that the cache has is unspent, here and in every window before.
		if pk, value, ok := c.unspent.take(v.spendKey(in)); ok {
			w.spent[model.UtxoPk(pk)] = input
			w.spends = append(w.spends, spend{model.UtxoPk(pk), value})
			continue
		}
		s, found, err := v.pendingOutput(t, ii)
		if err != nil {
			return err
		}
		if !found {
			v.unread = append(v.unread, unreadInput{ti, int32(ii), int32(len(w.spends))})
		} else if err := v.spend(t, ii, s); err != nil {
			return err
		}
		w.spends = append(w.spends, s)
	}
	return nil
}

func (v *resolver) spendKey(in *model.Input) fingerprint {
	if v.spendBy != nil {
		return v.cache.fp.value(v.spendBy.number, in.Value)
	}
	return v.cache.fp.outpoints(&in.Tx).output(in.Index)
}

// pendingOutput finds the output an input names in this window or one before it that is still being written.
func (v *resolver) pendingOutput(t *windowTx, ii int) (s spend, found bool, err error) {
	in := &t.Inputs[ii]
	for i := len(v.before); i >= 0; i-- {
		w := v.w
		if i < len(v.before) {
			w = v.before[i]
		}
		var made *windowTx
		n := in.Index
		if v.spendBy == nil {
			made = w.find(&in.Tx)
		} else if e, ok := w.values.byKey[v.spendKey(in)]; ok {
			// A value of a one-to-one index occurs once: its first occurrence is its birth.
			pk := w.values.entries[e].first.Utxo
			made, n = w.tx(pk.Tx()), uint32(pk.Index())
		}
		if made == nil {
			continue
		}
		oi := int64(n) - int64(made.FirstOutput)
		if oi < 0 || oi >= int64(len(made.Outputs)) {
			return s, false, v.unknown(t, ii)
		}
		if v.spendBy == nil && len(w.repeats[in.Tx]) > 0 {
			v.repeated[made.pk] = true
		}
		pk, err := made.pk.Utxo(int(n))
		return spend{pk, made.Outputs[oi].Value}, true, err
	}
	return s, false, nil
}

// spend notes that input ii of t spends s, unless this window or one before it that is being written spends it too.
func (v *resolver) spend(t *windowTx, ii int, s spend) error {
	other, twice := v.w.spent[s.utxo]
	for i := 0; i < len(v.before) && !twice; i++ {
		other, twice = v.before[i].spent[s.utxo]
	}
	if twice {
		return v.alreadySpent(t, ii, other)
	}
	input, err := t.pk.Input(ii)
	v.w.spent[s.utxo] = input
	return err
}

// named is how an input names what it spends, as people write it.
func (db *DB) named(in *model.Input) string {
	if db.spendBy != nil {
		return db.spendBy.Name + " " + db.spendBy.Format(in.Value)
	}
	return fmt.Sprintf("%s:%d", db.chain.FormatHash(in.Tx), in.Index)
}

func (v *resolver) unknown(t *windowTx, ii int) error {
	return model.Errorf(model.BadSource, "unknown_output", "input %d spends unknown %s", ii, v.named(&t.Inputs[ii]))
}

func (v *resolver) alreadySpent(t *windowTx, ii int, by model.InputPk) error {
	name := by.String()
	for _, w := range append(v.before[:len(v.before):len(v.before)], v.w) {
		if w.contains(model.UtxoPk(by)) {
			name = v.chain.FormatHash(w.tx(by.Tx()).Hash)
		}
	}
	if name == by.String() {
		if b, err := v.r.Get(familyTxHash, by.Tx().AppendTo(nil)); err == nil {
			if hash, _, err := parseTxHashRow(b); err == nil {
				name = v.chain.FormatHash(hash)
			}
		}
	}
	return model.Errorf(model.BadSource, "already_spent", "input %d spends %s, which input %d of %s in block %d has spent already",
		ii, v.named(&t.Inputs[ii]), by.Index(), name, by.Height())
}

// readInputs resolves from the database what is left: where the outputs stand, what they are worth, and that nothing
// has spent them.
func (v *resolver) readInputs() error {
	if len(v.unread) == 0 {
		return nil
	}
	w := v.w
	places, err := v.readPlaces()
	if err != nil {
		return err
	}
	keys := make([][]byte, len(places))
	for i, pk := range places {
		keys[i] = pk.AppendTo(nil)
	}
	rows, err := v.r.GetMany(familyUtxo, keys)
	if err != nil {
		return err
	}
	spent, err := v.r.GetMany(familySpentInput, keys)
	if err != nil {
		return err
	}
	for i, u := range v.unread {
		t := &w.txs[u.ti]
		fail := func(err error) error { return fmt.Errorf("%s: %w", v.where(t), err) }
		if rows[i] == nil {
			return fail(v.unknown(t, int(u.ii)))
		}
		value, err := parseUtxoValue(rows[i])
		if err != nil {
			return fail(err)
		}
		if spent[i] != nil {
			by, err := model.ParseInputPk(spent[i])
			if err != nil {
				return fail(err)
			}
			return fail(v.alreadySpent(t, int(u.ii), by))
		}
		s := spend{places[i], value}
		if err := v.spend(t, int(u.ii), s); err != nil {
			return fail(err)
		}
		w.spends[u.at] = s
	}
	return nil
}

// readPlaces is where the outputs that the unread inputs name stand, in the order of unread.
func (v *resolver) readPlaces() ([]model.UtxoPk, error) {
	w := v.w
	f := familyTxPk
	if v.spendBy != nil {
		f = v.spendBy.family(indexBirth)
	}
	keys := make([][]byte, len(v.unread))
	for i, u := range v.unread {
		if in := &w.txs[u.ti].Inputs[u.ii]; v.spendBy != nil {
			keys[i] = in.Value
		} else {
			keys[i] = in.Tx[:]
		}
	}
	vs, err := v.r.GetMany(f, keys)
	if err != nil {
		return nil, err
	}
	places := make([]model.UtxoPk, len(vs))
	for i, b := range vs {
		u := v.unread[i]
		t := &w.txs[u.ti]
		if b == nil {
			return nil, fmt.Errorf("%s: %w", v.where(t), v.unknown(t, int(u.ii)))
		}
		if places[i], err = v.place(t, int(u.ii), b); err != nil {
			return nil, fmt.Errorf("%s: %w", v.where(t), err)
		}
	}
	return places, nil
}

// place reads the row that says where the output stands that input ii of t names.
func (v *resolver) place(t *windowTx, ii int, row []byte) (model.UtxoPk, error) {
	if v.spendBy != nil {
		return model.ParseUtxoPk(row)
	}
	pks, err := parseTxPkRow(row)
	if err != nil {
		return 0, err
	}
	if len(pks) > 1 {
		v.repeated[pks[0]] = true
	}
	pk, err := pks[0].Utxo(int(t.Inputs[ii].Index))
	if err != nil {
		return 0, v.unknown(t, ii)
	}
	return pk, nil
}
