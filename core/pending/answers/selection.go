package answers

import (
	"cmp"
	"iter"
	"slices"

	"birthmark/core/pending"
	"birthmark/core/query"
)

// Selection is the outputs that match terms.
type Selection struct {
	any, all []term

	// Unknown reports that a term is the fingerprint of an asset that the database does not have yet. No output matches
	// it.
	Unknown bool
}

// term is a resolved [query.Term].
type term struct {
	has func(pending.Output) bool

	// txs yields the transactions after number after that can have matching inputs or outputs, in the order of arrival.
	txs func(after uint64) iter.Seq[*pending.Tx]
}

// Select returns the outputs that match one of the terms any and all of the terms all. A term without a value matches
// every output with a value of the index, or with assets.
func (r *Reader) Select(any, all []query.Term) (*Selection, error) {
	s := new(Selection)
	for _, list := range []struct {
		terms []query.Term
		to    *[]term
	}{{any, &s.any}, {all, &s.all}} {
		for _, t := range list.terms {
			resolved, err := r.resolve(s, t)
			if err != nil {
				return nil, err
			}
			*list.to = append(*list.to, resolved)
		}
	}
	return s, nil
}

func (r *Reader) resolve(s *Selection, t query.Term) (term, error) {
	switch {
	case t.Index == query.AssetTerm && t.Value == "":
		return term{func(o pending.Output) bool { return holds(o, nil) }, r.Arrivals}, nil
	case t.Index == query.AssetTerm:
		id, _, err := r.Query.Asset(t.Value)
		if query.UnknownAsset(err) {
			if id, err = r.Chain.ParseAsset(t.Value); err != nil {
				s.Unknown = true
				return term{
					func(pending.Output) bool { return false },
					func(uint64) iter.Seq[*pending.Tx] { return func(func(*pending.Tx) bool) {} },
				}, nil
			}
		}
		return term{
			func(o pending.Output) bool { return holds(o, id) },
			func(after uint64) iter.Seq[*pending.Tx] { return r.AssetAfter(id, after) },
		}, err
	case t.Value == "":
		x, err := r.Query.Index(t.Index)
		if err != nil {
			return term{}, err
		}
		position := r.Overlay.Index(x.Name)
		return term{func(o pending.Output) bool { return o.HasAny(position) }, r.Arrivals}, nil
	}
	values, err := r.Values(t.Index, t.Value)
	if err != nil {
		return term{}, err
	}
	return term{values.Has, func(after uint64) iter.Seq[*pending.Tx] { return r.TxsOf(values, after) }}, nil
}

// holds reports whether an output holds an asset, or any if id is nil. An entry with amount 0 is no holding.
func holds(o pending.Output, id []byte) bool {
	return slices.ContainsFunc(o.Assets(), func(a pending.Asset) bool {
		return !a.Amount.IsZero() && (id == nil || string(a.ID) == string(id))
	})
}

// Has reports whether an output is in the selection.
func (s *Selection) Has(o pending.Output) bool {
	has := func(t term) bool { return t.has(o) }
	return slices.ContainsFunc(s.any, has) && !slices.ContainsFunc(s.all, func(t term) bool { return !t.has(o) })
}

// Txs yields the transactions that arrived after number after and that can have inputs or outputs in the selection, in
// the order of arrival.
func (s *Selection) Txs(after uint64) iter.Seq[*pending.Tx] {
	if len(s.any) == 1 {
		return s.any[0].txs(after)
	}
	var txs []*pending.Tx
	for _, t := range s.any {
		txs = slices.AppendSeq(txs, t.txs(after))
	}
	slices.SortFunc(txs, func(a, b *pending.Tx) int { return cmp.Compare(a.Arrival, b.Arrival) })
	return slices.Values(slices.Compact(txs))
}

// selectList adds the outputs that have a value of a watch list.
func (r *Reader) selectList(s *Selection, list *query.WatchList) error {
	x, err := r.Query.Index(list.Index)
	if err != nil {
		return err
	}
	position := r.Overlay.Index(x.Name)
	s.any = append(s.any, term{func(o pending.Output) bool {
		for index, value := range o.Keys() {
			if index == position && list.Values.Has(value) {
				return true
			}
		}
		return false
	}, r.Arrivals})
	return nil
}
