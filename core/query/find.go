package query

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"slices"
	"strconv"

	"birthmark/core/query/setops"
	"birthmark/core/schema"
	"birthmark/model"
)

// OccurrenceBatch is the number of occurrences of a value that are read together.
const OccurrenceBatch = 512

// batches groups outputs into batches that are read together.
func (q *Query) batches(outputs setops.Outputs) iter.Seq2[[]model.UtxoPk, error] {
	return Batches(q, outputs, OccurrenceBatch, OccurrenceBatch)
}

// Batches groups the items of seq into batches that grow from size first to size last: a consumer with a limit may stop
// early. It yields an error if the query exceeds its row limit or its context ends.
func Batches[T any](q *Query, seq iter.Seq2[T, error], first, last int) iter.Seq2[[]T, error] {
	return func(yield func([]T, error) bool) {
		size, batch := first, []T(nil)
		send := func() bool {
			if err := q.Pass(len(batch)); err != nil {
				yield(nil, err)
				return false
			}
			return yield(batch, nil)
		}
		for v, err := range seq {
			if err != nil {
				yield(nil, err)
				return
			}
			if batch = append(batch, v); len(batch) < size {
				continue
			}
			if !send() {
				return
			}
			size, batch = min(size*2, last), nil
		}
		if len(batch) > 0 {
			send()
		}
	}
}

// AssetTerm replaces the index name in a [Term] whose value is the id or the fingerprint of an asset.
const AssetTerm = "asset"

// Term is a value of an index, or an asset.
type Term struct {
	Index string `json:"index"` // or AssetTerm
	Value string `json:"value"`
}

// Terms filters the outputs of a value. An output matches if it contains the value or one of Or, and all of And.
type Terms struct {
	And, Or []Term
	Unspent bool // exclude spent outputs
	Range   Range
}

// MaxTerms is the maximum number of terms of one query: each term needs its own scan.
const MaxTerms = 100

// term is a resolved [Term].
type term struct {
	Term                  // in canonical form
	birth   *model.UtxoPk // the first output that has it; nil: none
	cost    int           // of a new scan, in rows; 0: that of one list
	holder  *holder       // nil: an asset
	outputs setops.Scan   // scans the occurrences
	unspent bool          // outputs yields unspent outputs only
}

// scope identifies the term in cursors.
func (t *term) scope() string {
	if t.holder == nil || t.holder.wallet == nil {
		return t.Value
	}
	return t.holder.scope()
}

// notFound returns a term without outputs.
func notFound(t Term) term {
	none := func(setops.Span, bool) setops.Outputs { return func(func(model.UtxoPk, error) bool) {} }
	return term{Term: t, outputs: none, unspent: true}
}

// operand resolves a term. With unspent, it scans only unspent outputs if the index stores them. It returns NotFound
// (unknown_asset) if no output has the asset. A value that no output has is not an error.
func (q *Query) operand(t Term, unspent bool) (term, error) {
	if t.Index == AssetTerm {
		raw, birth, err := q.Asset(t.Value)
		if err != nil {
			return notFound(t), err
		}
		outputs := func(s setops.Span, descending bool) setops.Outputs {
			return q.AssetOccurrences(birth, s, descending)
		}
		return term{Term: Term{t.Index, q.Chain.FormatAsset(raw)}, birth: &birth.Utxo, outputs: outputs}, nil
	}
	h, err := q.holder(t.Index, t.Value)
	if err != nil {
		return notFound(t), err
	}
	o := notFound(Term{h.index.Name, h.text})
	o.holder = h
	if o.birth = h.first(); o.birth == nil {
		return o, nil
	}
	o.unspent = unspent && h.index.Active.Has(schema.FeatureUnspent)
	if len(h.births) > 16 {
		o.cost = len(h.births)
	}
	o.outputs = func(s setops.Span, descending bool) setops.Outputs {
		if o.unspent {
			return q.StoredUnspentOf(h.index, h.births, s, descending)
		}
		return q.OccurrencesOf(h.index, h.births, s, descending)
	}
	return o, nil
}

// UnknownAsset reports whether err means that no output has an asset.
func UnknownAsset(err error) bool {
	kind, code := model.KindOf(err)
	return kind == model.NotFound && code == "unknown_asset"
}

// plan is a prepared find query.
type plan struct {
	*list
	base    term
	and, or []term
	span    setops.Span
	terms   *Terms
}

// plan prepares a find query. A value that no output has matches nothing: as an And term it makes the result
// empty. An asset that no output has is NotFound, except as an Or term.
func (q *Query) plan(base Term, t *Terms, p Page) (*plan, error) {
	if n := len(t.And) + len(t.Or); n > MaxTerms {
		return nil, model.Errorf(model.Usage, "too_many_terms", "%d values to combine with %s %s, expected at most %d", n, base.Index, base.Value, MaxTerms)
	}
	f := &plan{terms: t}
	var err error
	if f.base, err = q.operand(base, t.Unspent); err != nil {
		return nil, err
	}
	parts := []string{"find", f.base.Index, f.base.scope(), strconv.FormatBool(t.Unspent), t.Range.String()}
	for _, term := range t.And {
		o, err := q.operand(term, t.Unspent)
		if err != nil {
			return nil, err
		}
		f.and = append(f.and, o)
		parts = append(parts, "and", o.Index, o.scope())
	}
	for _, term := range t.Or {
		o, err := q.operand(term, t.Unspent)
		if err != nil && !UnknownAsset(err) {
			return nil, err
		}
		f.or = append(f.or, o)
		parts = append(parts, "or", o.Index, o.scope())
	}
	if f.list, err = q.list(p, parts...); err != nil {
		return nil, err
	}
	f.span, err = f.list.span(t.Range, false)
	return f, err
}

// unspent reports whether the terms yield unspent outputs only.
func (f *plan) unspent() bool {
	if slices.ContainsFunc(f.and, func(o term) bool { return o.unspent }) {
		return true
	}
	return f.base.unspent && !slices.ContainsFunc(f.or, func(o term) bool { return !o.unspent })
}

// stream returns the combined outputs of the terms.
func (f *plan) stream(budget *setops.Budget) setops.Stream {
	scan := func(o *term) setops.Stream {
		return &setops.ScanStream{Scan: o.outputs, Span: f.span, Descending: f.Descending, Budget: budget, Cost: o.cost}
	}
	if len(f.and)+len(f.or) == 0 {
		return scan(&f.base)
	}
	alternatives := setops.Union{scan(&f.base)}
	for i := range f.or {
		alternatives = append(alternatives, scan(&f.or[i]))
	}
	if len(f.and) == 0 {
		return alternatives
	}
	all := setops.Intersection{alternatives}
	for i := range f.and {
		all = append(all, scan(&f.and[i]))
	}
	return all
}

// findBudget is the default maximum number of rows that one page of Find reads. A page that reaches it is short and
// has a cursor.
const findBudget = 100_000

// Find returns a page of the outputs that contain a value and match the terms, in chain order or its reverse. The
// page is empty for a value that no output has. The value may be an asset ([AssetTerm]). The rows read per page are
// bounded ([Page].Budget): a page can be short or even empty although more pages follow.
func (qs Queries) Find(ctx context.Context, index, value string, t Terms, p Page) (*FindAnswer, error) {
	return read(ctx, qs, func(q *Query) (*FindAnswer, error) {
		f, err := q.plan(Term{index, value}, &t, p)
		if err != nil {
			return nil, err
		}
		pks, last, err := q.find(f)
		if err != nil {
			return nil, err
		}
		a := &FindAnswer{Index: f.base.Index, Value: f.base.Value, And: termsOf(f.and), Or: termsOf(f.or)}
		spentFrom := 0
		if t.Unspent {
			spentFrom = len(pks) // nothing to read
		}
		l := q.NewLoad()
		o := q.loadOutputs(l, pks, nil, spentFrom, true)
		if f.base.birth != nil {
			l.Hashes(o.hashes, []model.TxPk{f.base.birth.Tx()})
		}
		if last != nil {
			f.loadNext(l, at(*last), &a.Next)
		}
		if a.Outputs, err = q.outputAnswers(l, o, nil); err != nil {
			return nil, err
		}
		none := make([]Optional[SpentByAnswer], spentFrom)
		for i := range none {
			a.Outputs[i].SpentBy = &none[i]
		}
		if f.base.birth != nil {
			first := firstSeen(*f.base.birth, o.hashes)
			a.FirstSeen = &first
		}
		if f.base.holder != nil {
			a.Derived = f.base.holder.answer(false)
			err = f.base.holder.setPaths(a.Outputs)
		}
		return a, err
	})
}

func termsOf(os []term) (terms []Term) {
	for _, o := range os {
		terms = append(terms, o.Term)
	}
	return terms
}

// find returns the first outputs that match, up to the limit. If more may follow, last is the last output that was
// examined.
func (q *Query) find(f *plan) (pks []model.UtxoPk, last *model.UtxoPk, err error) {
	if f.span.Empty() {
		return nil, nil, nil
	}
	size, look := min(f.limit+1, OccurrenceBatch), f.terms.Unspent && !f.unspent()
	if look {
		size = OccurrenceBatch
	}
	var seen, cut *model.UtxoPk
	budget := cmp.Or(f.Budget, findBudget)
	rows := budget
	if q.most > 0 {
		rows = min(rows, q.most)
	}
	for batch, err := range Batches(q, setops.Merged(f.stream(&setops.Budget{Left: rows}), f.Descending, &cut), size, size) {
		if rows < budget && errors.Is(err, setops.ErrBudget) {
			err = ErrTooManyRows // the limit was reached before the first output
		}
		if err != nil {
			return nil, nil, err
		}
		var spent [][]byte
		if look {
			if spent, err = q.R.GetMany(schema.FamilySpentInput, schema.Keys(batch)); err != nil {
				return nil, nil, err
			}
		}
		for i := range batch {
			if len(pks) == f.limit {
				return pks, seen, nil
			}
			seen = &batch[i]
			if !look || spent[i] == nil {
				pks = append(pks, batch[i])
			}
		}
	}
	if cut != nil && rows < budget {
		return nil, nil, ErrTooManyRows
	}
	return pks, cut, nil
}
