package changes

import (
	"iter"
	"math"
	"slices"

	"birthmark/core/query"
	"birthmark/core/query/setops"
	"birthmark/core/schema"
	"birthmark/model"
	"birthmark/storage"
)

// outputFilter is the set of outputs that match a [Filter].
type outputFilter struct {
	*query.Query
	parts []part
}

// part is the set of outputs that match one term.
type part struct {
	index *schema.Index    // nil: assets
	birth *model.BirthPk   // of a single value or asset; nil: any
	every bool             // matches every output
	list  *query.WatchList // only the values of this list; nil: any
}

// matches reports whether a value of an output equals the value of the part, which has no list.
func (p part) matches(index *schema.Index, birth model.BirthPk) bool {
	return p.index == index && p.list == nil && (p.birth == nil || *p.birth == birth)
}

func (p part) family() storage.Family {
	if p.index == nil && !p.every {
		return schema.FamilyAssets
	}
	return schema.FamilyUtxo
}

// outputFilter returns the set of matching outputs. A value or an asset that no output has yet adds nothing to it.
func (f *changeReader) outputFilter() (*outputFilter, error) {
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
	if list := f.what.List; list != nil {
		x, err := f.Index(list.Index)
		if err != nil {
			return nil, err
		}
		set.parts = append(set.parts, part{index: x, list: list})
	}
	return set, nil
}

// every reports whether all outputs are in the set.
func (f *outputFilter) every() bool {
	return slices.ContainsFunc(f.parts, func(p part) bool { return p.every })
}

// partOf returns the outputs that match a term; nil if there are none.
func partOf(q *query.Query, t query.Term) (*part, error) {
	switch {
	case t.Index == query.AssetTerm && t.Value == "":
		return new(part), nil
	case t.Index == query.AssetTerm:
		_, birth, err := q.Asset(t.Value)
		if query.UnknownAsset(err) {
			return nil, nil
		}
		return &part{birth: &model.BirthPk{Utxo: birth.Utxo, Ordinal: birth.Index}}, err
	case t.Value == "":
		x, err := q.Index(t.Index)
		return &part{index: x}, err
	}
	x, _, birth, err := q.ChosenValue(t.Index, t.Value)
	if birth == nil {
		return nil, err
	}
	return &part{index: x, birth: birth}, nil
}

// union yields the positions of several scans, in order and without duplicates.
func union(s setops.Span, scans []setops.Scan) setops.Outputs {
	var all setops.Union
	switch {
	case s.Empty():
		scans = nil
	case len(scans) == 1:
		return scans[0](s, false)
	}
	for _, scan := range scans {
		all = append(all, &setops.ScanStream{Scan: scan, Span: s, Budget: &setops.Budget{Left: math.MaxInt}})
	}
	var cut *model.UtxoPk // never set: the row budget is unlimited
	return setops.Merged(all, false, &cut)
}

// outputs yields the outputs of the set in s.
func (f *outputFilter) outputs(s setops.Span) setops.Outputs {
	scans := make([]setops.Scan, len(f.parts))
	for i, p := range f.parts {
		scans[i] = func(s setops.Span, descending bool) setops.Outputs {
			switch {
			case p.birth != nil && p.index != nil:
				return f.Occurrences(p.index, *p.birth, s, descending)
			case p.birth != nil:
				return f.AssetOccurrences(model.AssetBirthPk{Utxo: p.birth.Utxo, Index: p.birth.Ordinal}, s, descending)
			case p.list != nil:
				return f.listed(p, s)
			}
			return f.all(p, s)
		}
	}
	return union(s, scans)
}

// all yields every output in s that has a value of the part's index, or that holds assets.
func (f *outputFilter) all(p part, s setops.Span) setops.Outputs {
	return func(yield func(model.UtxoPk, error) bool) {
		from, to := s.Keys(nil)
		for kv, err := range f.R.Scan(p.family(), from, to, false) {
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

// has reports whether an output matches one of parts, given its row in a family.
func (f *outputFilter) has(parts []part, family storage.Family, pk model.UtxoPk, row []byte) (bool, error) {
	if family == schema.FamilyAssets {
		entries, err := schema.ParseAssetsRow(pk, row)
		return slices.ContainsFunc(schema.Holdings(entries), func(e schema.AssetEntry) bool {
			birth := model.BirthPk{Utxo: e.Birth.Utxo, Ordinal: e.Birth.Index}
			return slices.ContainsFunc(parts, func(p part) bool { return p.matches(nil, birth) })
		}), err
	}
	r, err := f.ParseUtxoRow(pk, row)
	return slices.ContainsFunc(r.Occurrences, func(o schema.Occurrence) bool {
		return slices.ContainsFunc(parts, func(p part) bool { return p.matches(o.Index, o.Birth) })
	}), err
}

// batches groups the items of seq, in small batches first.
func batches[T any](q *query.Query, seq iter.Seq2[T, error]) iter.Seq2[[]T, error] {
	return query.Batches(q, seq, 16, query.OccurrenceBatch)
}

// created yields the outputs of the set in s with their answers.
func (f *outputFilter) created(s setops.Span) iter.Seq2[createdOutput, error] {
	return func(yield func(createdOutput, error) bool) {
		for batch, err := range batches(f.Query, f.outputs(s)) {
			var answers []query.OutputAnswer
			if err == nil {
				answers, err = f.Query.Outputs(batch, len(batch))
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

// spent yields the spends in s of outputs in the set, with their answers.
func (f *outputFilter) spent(s setops.Span) iter.Seq2[spentOutput, error] {
	return func(yield func(spentOutput, error) bool) {
		inputs, err := f.inputs(s)
		if err != nil {
			yield(spentOutput{}, err)
			return
		}
		for batch, err := range batches(f.Query, inputs) {
			if err == nil {
				batch, err = f.only(batch)
			}
			var txs []model.TxPk
			for _, sp := range batch {
				txs = append(txs, sp.Input.Tx(), sp.Output.Tx())
			}
			var hashes map[model.TxPk]string
			if err == nil {
				hashes, err = f.Hashes(txs)
			}
			var outputs []query.OutputAnswer
			if err == nil && f.every() {
				outputs, err = f.spentOutputs(batch)
			}
			if err != nil {
				yield(spentOutput{}, err)
				return
			}
			for i, sp := range batch {
				var of *query.OutputAnswer
				if outputs != nil {
					of = &outputs[i]
				}
				a := &SpendAnswer{hashes[sp.Output.Tx()], sp.Output.Index(), uint32(sp.Output.Height()),
					query.SpentByAnswer{Tx: hashes[sp.Input.Tx()], Input: sp.Input.Index(), Height: uint32(sp.Input.Height())}}
				if !yield(spentOutput{sp.Input, a, of}, nil) {
					return
				}
			}
		}
	}
}

// spentOutputs returns the outputs that spends spend.
func (f *outputFilter) spentOutputs(spends []schema.SpendRow) ([]query.OutputAnswer, error) {
	pks := make([]model.UtxoPk, len(spends))
	for i, sp := range spends {
		pks[i] = sp.Output
	}
	return f.Query.Outputs(pks, len(pks))
}

// only returns the spends whose outputs are in the set. It overwrites spends.
func (f *outputFilter) only(spends []schema.SpendRow) ([]schema.SpendRow, error) {
	keys := make([][]byte, len(spends))
	for i, sp := range spends {
		keys[i] = sp.Output.AppendTo(nil)
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
			if in[i], err = f.has(f.parts, family, sp.Output, rows[i]); err != nil {
				return nil, err
			}
		}
		if family == schema.FamilyUtxo {
			if err := f.markListed(spends, rows, in); err != nil {
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

// inputs yields inputs in s, including all that spend an output of the set. It reads the inputs of every transaction,
// or only of the transactions in the histories of the values.
func (f *outputFilter) inputs(s setops.Span) (iter.Seq2[schema.SpendRow, error], error) {
	if s.Empty() {
		return func(func(schema.SpendRow, error) bool) {}, nil
	}
	own, err := f.historyIsCheaper(s)
	if err != nil {
		return nil, err
	}
	if !own {
		return f.allInputs(s), nil
	}
	txs := make([]setops.Scan, len(f.parts))
	for i, p := range f.parts {
		txs[i] = func(s setops.Span, descending bool) setops.Outputs { return f.txs(p, s) }
	}
	return func(yield func(schema.SpendRow, error) bool) {
		// The span may start in the middle of a transaction.
		for tx, err := range union(setops.Span{First: model.UtxoPk(s.First.Tx()), Last: s.Last}, txs) {
			if err != nil {
				yield(schema.SpendRow{}, err)
				return
			}
			for sp, err := range f.allInputs(setops.Span{First: max(tx, s.First), Last: tx.Tx().Last()}) {
				if !yield(sp, err) || err != nil {
					return
				}
			}
		}
	}, nil
}

// txs yields the first position of each transaction in s that pays to a value or spends from it.
func (f *outputFilter) txs(p part, s setops.Span) setops.Outputs {
	return func(yield func(model.UtxoPk, error) bool) {
		for {
			moves, err := f.TxAmounts(p.index, *p.birth, s, false, movesAtOnce)
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
			s = s.AfterTx(moves[len(moves)-1].Tx, false)
		}
	}
}

// historyIsCheaper reports whether reading the histories of the values takes fewer rows than reading all inputs in s.
func (f *outputFilter) historyIsCheaper(s setops.Span) (bool, error) {
	blocks := max(1, f.Totals.Rows[schema.FamilyBlock])
	left := f.Totals.Rows[schema.FamilySpentUtxo] / blocks * uint64(s.Last.Height()-s.First.Height()+1)
	for _, p := range f.parts {
		if p.index == nil || p.birth == nil {
			return false, nil
		}
		if p.index.Active.Has(schema.FeatureHistory) {
			continue
		}
		for _, err := range f.Occurrences(p.index, *p.birth, setops.Span{Last: s.Last}, false) {
			if err != nil || left == 0 {
				return false, err
			}
			left--
		}
	}
	return true, nil
}

// movesAtOnce is the number of transactions of a value that are read together.
const movesAtOnce = 10_000

// allInputs yields the inputs in s.
func (f *outputFilter) allInputs(s setops.Span) iter.Seq2[schema.SpendRow, error] {
	from, to := s.Keys(nil)
	return schema.Rows(f.R, schema.FamilySpentUtxo, from, to, false, schema.ParseSpendRow)
}
