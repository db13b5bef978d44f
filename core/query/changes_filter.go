package query

import (
	"context"
	"iter"
	"math"
	"slices"

	"birthmark/core/schema"
	"birthmark/model"
	"birthmark/storage"
)

// outputFilter is the outputs that someone follows: those of some values, or all that have one of an index.
type outputFilter struct {
	*Query
	parts []part
}

// part is the outputs that one term means.
type part struct {
	index *schema.Index  // nil: assets
	birth *model.BirthPk // of the one value or asset that counts; nil: any
	every bool           // any output at all
}

func (p part) family() storage.Family {
	if p.index == nil && !p.every {
		return schema.FamilyAssets
	}
	return schema.FamilyUtxo
}

// followed is the set of what is followed. A value or an asset that no output has yet adds nothing to it.
func (f *changeReader) followed() (*outputFilter, error) {
	set := &outputFilter{Query: f.Query}
	if f.what.All {
		set.parts = []part{{every: true}}
	}
	terms, err := f.what.terms()
	if err != nil {
		return nil, err
	}
	for _, t := range terms {
		p, err := partOf(f.Query, t)
		if err != nil {
			return nil, err
		}
		if p != nil {
			set.parts = append(set.parts, *p)
		}
	}
	return set, nil
}

// every reports whether all outputs are in the set.
func (f *outputFilter) every() bool {
	return slices.ContainsFunc(f.parts, func(p part) bool { return p.every })
}

// partOf returns the outputs that a term means; nil if there is none.
func partOf(q *Query, t Term) (*part, error) {
	switch {
	case t.Index == AssetTerm && t.Value == "":
		return new(part), nil
	case t.Index == AssetTerm:
		_, birth, err := q.asset(t.Value)
		if unknownAsset(err) {
			return nil, nil
		}
		return &part{birth: &model.BirthPk{Utxo: birth.Utxo, Ordinal: birth.Index}}, err
	case t.Value == "":
		x, err := q.index(t.Index)
		return &part{index: x}, err
	}
	x, _, birth, err := q.value(t.Index, t.Value)
	if birth == nil {
		return nil, err
	}
	return &part{index: x, birth: birth}, nil
}

// union yields the places of several scans, in order and each once.
func union(s span, scans []scan) iter.Seq2[model.UtxoPk, error] {
	var all unionStream
	switch {
	case s.empty():
		scans = nil
	case len(scans) == 1:
		return scans[0](s, false)
	}
	for _, scan := range scans {
		all = append(all, &scanStream{scan: scan, span: s, work: &rowBudget{math.MaxInt}})
	}
	var cut *model.UtxoPk // never: there is work for all
	return merged(all, false, &cut)
}

// outputs yields the outputs of the set that stand in s.
func (f *outputFilter) outputs(s span) iter.Seq2[model.UtxoPk, error] {
	scans := make([]scan, len(f.parts))
	for i, p := range f.parts {
		scans[i] = func(s span, descending bool) iter.Seq2[model.UtxoPk, error] {
			switch {
			case p.birth != nil && p.index != nil:
				return f.occurrences(p.index, *p.birth, s, descending)
			case p.birth != nil:
				return f.assetOccurrences(model.AssetBirthPk{Utxo: p.birth.Utxo, Index: p.birth.Ordinal}, s, descending)
			}
			return f.all(p, s)
		}
	}
	return union(s, scans)
}

// all yields every output in s that has one of an index, or that holds assets.
func (f *outputFilter) all(p part, s span) iter.Seq2[model.UtxoPk, error] {
	return func(yield func(model.UtxoPk, error) bool) {
		for kv, err := range f.R.Scan(p.family(), s.first.AppendTo(nil), append(s.last.AppendTo(nil), 0), false) {
			if err != nil {
				yield(0, err)
				return
			}
			pk, err := model.ParseUtxoPk(kv.Key)
			has := p.every
			if err == nil && !has {
				has, err = f.has([]part{p}, p.family(), pk, kv.Value)
			}
			if (has || err != nil) && !yield(pk, err) || err != nil {
				return
			}
		}
	}
}

// has reports whether an output is in one of parts, by its row in a family.
func (f *outputFilter) has(parts []part, family storage.Family, pk model.UtxoPk, row []byte) (bool, error) {
	if family == schema.FamilyAssets {
		entries, err := schema.ParseAssetsRow(pk, row)
		return slices.ContainsFunc(entries, func(e schema.AssetEntry) bool {
			birth := model.BirthPk{Utxo: e.Birth.Utxo, Ordinal: e.Birth.Index}
			return slices.ContainsFunc(parts, func(p part) bool { return p.index == nil && (p.birth == nil || *p.birth == birth) })
		}), err
	}
	r, err := f.ParseUtxoRow(pk, row)
	return slices.ContainsFunc(r.Occurrences, func(o schema.Occurrence) bool {
		return slices.ContainsFunc(parts, func(p part) bool { return o.Index == p.index && (p.birth == nil || *p.birth == o.Birth) })
	}), err
}

// growing groups what seq yields: few at first, since who follows in parts may have enough soon.
func growing[T any](ctx context.Context, seq iter.Seq2[T, error]) iter.Seq2[[]T, error] {
	return func(yield func([]T, error) bool) {
		size, next := 16, []T(nil)
		for v, err := range seq {
			if err == nil && len(next) == 0 {
				err = ctx.Err()
			}
			if err != nil {
				yield(nil, err)
				return
			}
			if next = append(next, v); len(next) == size {
				if !yield(next, nil) {
					return
				}
				size, next = min(size*2, occurrenceBatch), nil
			}
		}
		if len(next) > 0 {
			yield(next, nil)
		}
	}
}

// created yields the outputs of the set in s as they are told.
func (f *outputFilter) created(s span) iter.Seq2[createdOutput, error] {
	return func(yield func(createdOutput, error) bool) {
		for batch, err := range growing(f.Ctx, f.outputs(s)) {
			var answers []OutputAnswer
			if err == nil {
				answers, err = f.Query.outputs(batch, len(batch))
			}
			if err != nil {
				yield(createdOutput{}, err)
				return
			}
			for i, pk := range batch {
				if !yield(createdOutput{pk, &answers[i]}, nil) {
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

// spent yields what of the set is spent in s, as it is told.
func (f *outputFilter) spent(s span) iter.Seq2[spentOutput, error] {
	return func(yield func(spentOutput, error) bool) {
		inputs, err := f.inputs(s)
		if err != nil {
			yield(spentOutput{}, err)
			return
		}
		for batch, err := range growing(f.Ctx, inputs) {
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
			var outputs []OutputAnswer
			if err == nil && f.every() {
				outputs, err = f.spentOutputs(batch)
			}
			if err != nil {
				yield(spentOutput{}, err)
				return
			}
			for i, sp := range batch {
				var of *OutputAnswer
				if outputs != nil {
					of = &outputs[i]
				}
				a := &SpendAnswer{hashes[sp.output.Tx()], sp.output.Index(), uint32(sp.output.Height()),
					SpentByAnswer{hashes[sp.input.Tx()], sp.input.Index(), uint32(sp.input.Height())}}
				if !yield(spentOutput{sp.input, a, of}, nil) {
					return
				}
			}
		}
	}
}

// spentOutputs are what spends spend.
func (f *outputFilter) spentOutputs(spends []spending) ([]OutputAnswer, error) {
	pks := make([]model.UtxoPk, len(spends))
	for i, sp := range spends {
		pks[i] = sp.output
	}
	return f.Query.outputs(pks, len(pks))
}

// only is what of spends is of outputs in the set.
func (f *outputFilter) only(spends []spending) ([]spending, error) {
	keys := make([][]byte, len(spends))
	for i, sp := range spends {
		keys[i] = sp.output.AppendTo(nil)
	}
	if f.every() {
		return spends, nil
	}
	in := make([]bool, len(spends))
	for _, family := range []storage.Family{schema.FamilyUtxo, schema.FamilyAssets} {
		if !slices.ContainsFunc(f.parts, func(p part) bool { return p.family() == family }) {
			continue
		}
		rows, err := f.R.GetMany(family, keys)
		if err != nil {
			return nil, err
		}
		for i, sp := range spends {
			if in[i] || rows[i] == nil {
				continue
			}
			if in[i], err = f.has(f.parts, family, sp.output, rows[i]); err != nil {
				return nil, err
			}
		}
	}
	kept := spends[:0]
	for i, sp := range spends {
		if in[i] {
			kept = append(kept, sp)
		}
	}
	return kept, nil
}

// inputs yields inputs in s, among them all that spend an output of the set: those of every transaction, or those of the
// values' own.
func (f *outputFilter) inputs(s span) (iter.Seq2[spending, error], error) {
	if s.empty() {
		return func(func(spending, error) bool) {}, nil
	}
	own, err := f.historyIsCheaper(s)
	if err != nil {
		return nil, err
	}
	if !own {
		return f.allInputs(s), nil
	}
	txs := make([]scan, len(f.parts))
	for i, p := range f.parts {
		txs[i] = func(s span, descending bool) iter.Seq2[model.UtxoPk, error] { return f.txs(p, s) }
	}
	return func(yield func(spending, error) bool) {
		// It may begin in the middle of a transaction.
		for tx, err := range union(span{model.UtxoPk(s.first.Tx()), s.last}, txs) {
			if err != nil {
				yield(spending{}, err)
				return
			}
			for sp, err := range f.allInputs(span{max(tx, s.first), tx | model.MaxIndex}) {
				if !yield(sp, err) || err != nil {
					return
				}
			}
		}
	}, nil
}

// txs yields where the transactions in s begin that pay to a value or spend from it.
func (f *outputFilter) txs(p part, s span) iter.Seq2[model.UtxoPk, error] {
	return func(yield func(model.UtxoPk, error) bool) {
		for {
			moves, err := f.movements(p.index, *p.birth, s, false, movesAtOnce)
			if err != nil {
				yield(0, err)
				return
			}
			for _, m := range moves {
				if !yield(model.UtxoPk(m.Tx), nil) {
					return
				}
			}
			if len(moves) < movesAtOnce {
				return
			}
			s = s.behindTx(moves[len(moves)-1].Tx, false)
		}
	}
}

// historyIsCheaper reports whether the histories of the values in s take less reading than all inputs there.
func (f *outputFilter) historyIsCheaper(s span) (bool, error) {
	blocks := max(1, f.Totals.Rows[schema.FamilyBlock])
	left := f.Totals.Rows[schema.FamilySpentUtxo] / blocks * uint64(s.last.Height()-s.first.Height()+1)
	for _, p := range f.parts {
		if p.index == nil || p.birth == nil {
			return false, nil
		}
		if p.index.Active.Has(schema.FeatureHistory) {
			continue
		}
		for _, err := range f.occurrences(p.index, *p.birth, span{0, s.last}, false) {
			if err != nil || left == 0 {
				return false, err
			}
			left--
		}
	}
	return true, nil
}

// movesAtOnce is how many transactions of a value are found in one go.
const movesAtOnce = 10_000

// allInputs yields the inputs in s.
func (f *outputFilter) allInputs(s span) iter.Seq2[spending, error] {
	return func(yield func(spending, error) bool) {
		for kv, err := range f.R.Scan(schema.FamilySpentUtxo, s.first.AppendTo(nil), append(s.last.AppendTo(nil), 0), false) {
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
