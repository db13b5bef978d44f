package core

import (
	"iter"
	"slices"

	"birthmark/model"
)

// followed is the outputs that someone follows: those of a value, or all that have one of an index.
type followed struct {
	*query
	index *index         // nil: assets
	birth *model.BirthPk // of the one value or asset that counts; nil: any
	none  bool           // it does not occur yet
}

// followed is the set of what is followed. A value that occurs nowhere yet makes it empty.
func (f *follower) followed() (*followed, error) {
	set := &followed{query: f.query}
	t := f.what.Term
	var err error
	switch {
	case t.Index == AssetTerm && t.Value == "":
	case t.Index == AssetTerm:
		var birth model.AssetBirthPk
		_, birth, err = f.asset(t.Value)
		set.birth = &model.BirthPk{Utxo: birth.Utxo, Ordinal: birth.Index}
	case t.Value == "":
		set.index, err = f.query.index(t.Index)
	default:
		var birth model.BirthPk
		set.index, _, birth, err = f.value(t.Index, t.Value)
		set.birth = &birth
	}
	if nowhere(err) {
		set.none, err = true, nil
	}
	return set, err
}

// outputs yields the outputs of the set that stand in s.
func (f *followed) outputs(s span) iter.Seq2[model.UtxoPk, error] {
	switch {
	case f.none:
		return func(func(model.UtxoPk, error) bool) {}
	case f.birth != nil && f.index != nil:
		return f.occurrences(f.index, *f.birth, s, false)
	case f.birth != nil:
		return f.assetOccurrences(model.AssetBirthPk{Utxo: f.birth.Utxo, Index: f.birth.Ordinal}, s, false)
	}
	family := familyUtxo
	if f.index == nil {
		family = familyAssets
	}
	return func(yield func(model.UtxoPk, error) bool) {
		for kv, err := range f.r.Scan(family, s.first.AppendTo(nil), append(s.last.AppendTo(nil), 0), false) {
			if err != nil {
				yield(0, err)
				return
			}
			pk, err := model.ParseUtxoPk(kv.Key)
			has := false
			if err == nil {
				has, err = f.has(pk, kv.Value)
			}
			if (has || err != nil) && !yield(pk, err) || err != nil {
				return
			}
		}
	}
}

// has reports whether an output is in the set, by its row or that of its assets.
func (f *followed) has(pk model.UtxoPk, row []byte) (bool, error) {
	if f.index == nil {
		entries, err := parseAssetsRow(pk, row)
		return slices.ContainsFunc(entries, func(e assetEntry) bool {
			return f.birth == nil || *f.birth == model.BirthPk{Utxo: e.birth.Utxo, Ordinal: e.birth.Index}
		}), err
	}
	r, err := f.parseUtxoRow(pk, row)
	return slices.ContainsFunc(r.occurrences, func(o occurrence) bool {
		return o.index == f.index && (f.birth == nil || *f.birth == o.birth)
	}), err
}

// comings yields the outputs of the set in s as they are told.
func (f *followed) comings(s span) iter.Seq2[coming, error] {
	return func(yield func(coming, error) bool) {
		for batch, err := range batches(f.ctx, f.outputs(s), occurrenceBatch) {
			var answers []OutputAnswer
			if err == nil {
				answers, err = f.query.outputs(batch, false)
			}
			if err != nil {
				yield(coming{}, err)
				return
			}
			for i, pk := range batch {
				if !yield(coming{pk.Height(), &answers[i]}, nil) {
					return
				}
			}
		}
	}
}

// spending is an input and what it spends.
type spending struct {
	input  model.InputPk
	output model.UtxoPk
}

// goings yields what of the set is spent in s, as it is told.
func (f *followed) goings(s span) iter.Seq2[spent, error] {
	return func(yield func(spent, error) bool) {
		inputs, err := f.inputs(s)
		if err != nil {
			yield(spent{}, err)
			return
		}
		for batch, err := range batches(f.ctx, inputs, occurrenceBatch) {
			if err == nil {
				batch, err = f.only(batch)
			}
			var txs []model.TxPk
			for _, sp := range batch {
				txs = append(txs, sp.input.Tx(), sp.output.Tx())
			}
			var hashes map[model.TxPk]string
			if err == nil {
				hashes, err = f.hashes(txs)
			}
			if err != nil {
				yield(spent{}, err)
				return
			}
			for _, sp := range batch {
				a := &SpendAnswer{hashes[sp.output.Tx()], sp.output.Index(), uint32(sp.output.Height()),
					SpentByAnswer{hashes[sp.input.Tx()], sp.input.Index(), uint32(sp.input.Height())}}
				if !yield(spent{sp.input.Height(), a}, nil) {
					return
				}
			}
		}
	}
}

// only is what of spends is of outputs in the set.
func (f *followed) only(spends []spending) ([]spending, error) {
	keys := make([][]byte, len(spends))
	for i, sp := range spends {
		keys[i] = sp.output.AppendTo(nil)
	}
	family := familyUtxo
	if f.index == nil {
		family = familyAssets
	}
	rows, err := f.r.GetMany(family, keys)
	if err != nil {
		return nil, err
	}
	kept := spends[:0]
	for i, sp := range spends {
		if rows[i] == nil {
			continue
		}
		has, err := f.has(sp.output, rows[i])
		if err != nil {
			return nil, err
		}
		if has {
			kept = append(kept, sp)
		}
	}
	return kept, nil
}

// inputs yields inputs in s, among them all that spend an output of the set: those of every transaction, or those of the
// value's own.
func (f *followed) inputs(s span) (iter.Seq2[spending, error], error) {
	if f.none {
		return func(func(spending, error) bool) {}, nil
	}
	own, err := f.ownIsLess(s)
	if err != nil {
		return nil, err
	}
	if !own {
		return f.allInputs(s.first.AppendTo(nil), append(s.last.AppendTo(nil), 0)), nil
	}
	return func(yield func(spending, error) bool) {
		for {
			moves, err := f.movements(f.index, *f.birth, s, false, movesAtOnce)
			if err != nil {
				yield(spending{}, err)
				return
			}
			for _, m := range moves {
				end := model.TxPk(uint64(m.tx) + model.MaxIndex + 1)
				for sp, err := range f.allInputs(m.tx.AppendTo(nil), end.AppendTo(nil)) {
					if !yield(sp, err) || err != nil {
						return
					}
				}
			}
			if len(moves) < movesAtOnce {
				return
			}
			s = s.behindTx(moves[len(moves)-1].tx, false)
		}
	}, nil
}

// ownIsLess reports whether the history of the value in s takes less reading than all inputs there.
func (f *followed) ownIsLess(s span) (bool, error) {
	if f.index == nil || f.birth == nil || f.index.live.has(partHistory) {
		return f.index != nil && f.birth != nil, nil
	}
	blocks := max(1, f.totals.rows[familyBlock])
	expected := f.totals.rows[familySpentUtxo] / blocks * uint64(s.last.Height()-s.first.Height()+1)
	for _, err := range f.occurrences(f.index, *f.birth, span{0, s.last}, false) {
		if err != nil || expected == 0 {
			return false, err
		}
		expected--
	}
	return true, nil
}

// movesAtOnce is how many transactions of a value are found in one go.
const movesAtOnce = 10_000

// allInputs yields the inputs between two keys.
func (f *followed) allInputs(from, to []byte) iter.Seq2[spending, error] {
	return func(yield func(spending, error) bool) {
		for kv, err := range f.r.Scan(familySpentUtxo, from, to, false) {
			var sp spending
			if err == nil {
				sp.input, err = model.ParseInputPk(kv.Key)
			}
			if err == nil {
				sp.output, err = model.ParseUtxoPk(kv.Value)
			}
			if !yield(sp, err) || err != nil {
				return
			}
		}
	}
}
