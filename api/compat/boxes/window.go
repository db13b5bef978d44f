package boxes

import (
	"iter"
	"math"

	"birthmark/core/query/setops"
	"birthmark/core/schema"
	"birthmark/model"
)

// List is a list of boxes, or of transactions, of the chain in order.
type List struct {
	key    place
	scan   func(s setops.Span) setops.Outputs
	first  model.UtxoPk                                              // the genesis is before it, if it is left out
	filter func(pks []model.UtxoPk) (kept []model.UtxoPk, err error) // nil: all
}

// place identifies a place in a list: before its item number n.
type place struct {
	kind       byte
	index      int
	birth      model.BirthPk
	descending bool
	genesis    bool
	tip        model.Hash
	n          int
}

// placeOf is the item before a place.
type placeOf = model.UtxoPk

// Kinds of lists.
const (
	kindAll = iota + 1
	kindUnspent
	kindAsset
	kindAssetUnspent
	kindHistory
	kindSpending
)

func (v *View) list(kind byte, index int, birth model.BirthPk, genesis, descending bool) *List {
	l := &List{key: place{kind, index, birth, descending, genesis, v.Tip.Hash, 0}}
	if !genesis {
		l.first = model.UtxoPk(v.Q.FirstPk(firstHeight))
	}
	return l
}

// BoxList returns the boxes with a value of an index. The genesis is left out unless genesis is set.
func (v *View) BoxList(x *schema.Index, birth model.BirthPk, genesis, descending bool) *List {
	l := v.list(kindAll, x.Number, birth, genesis, descending)
	l.scan = func(s setops.Span) setops.Outputs { return v.Q.Occurrences(x, birth, s, descending) }
	return l
}

// UnspentList returns the unspent boxes with a value of an index that stores them.
func (v *View) UnspentList(x *schema.Index, birth model.BirthPk, genesis, descending bool) *List {
	l := v.list(kindUnspent, x.Number, birth, genesis, descending)
	l.scan = func(s setops.Span) setops.Outputs { return v.Q.StoredUnspent(x, birth, s, descending) }
	return l
}

// AssetList returns the boxes with a token.
func (v *View) AssetList(birth model.AssetBirthPk, unspent, descending bool) *List {
	l := v.list(kindAsset, schema.AssetSpace, model.BirthPk{Utxo: birth.Utxo, Ordinal: birth.Index}, true, descending)
	l.scan = func(s setops.Span) setops.Outputs { return v.Q.AssetOccurrences(birth, s, descending) }
	if unspent {
		l.key.kind = kindAssetUnspent
		l.filter = v.unspent
	}
	return l
}

// HistoryList returns the transactions that pay to a value of an index or spend from it, or with spending only those
// that spend from it. A genesis transaction is not among them. With received and sent, only those are listed for which
// keep returns true.
func (v *View) HistoryList(x *schema.Index, birth model.BirthPk, descending, spending bool, keep func(schema.TxAmounts) bool) *List {
	l := v.list(kindHistory, x.Number, birth, keep == nil, descending)
	l.first = model.UtxoPk(v.Q.FirstPk(firstHeight))
	if spending {
		l.key.kind = kindSpending
	}
	l.scan = func(s setops.Span) setops.Outputs {
		return func(yield func(model.UtxoPk, error) bool) {
			for t, err := range v.Q.StoredHistory(x, birth, s, descending) {
				if err == nil && (spending && t.Sent == 0 || keep != nil && !keep(t)) {
					continue
				}
				if !yield(model.UtxoPk(t.Tx), err) || err != nil {
					return
				}
			}
		}
	}
	return l
}

// unspent returns the outputs that are unspent.
func (v *View) unspent(pks []model.UtxoPk) (kept []model.UtxoPk, err error) {
	spenders, err := v.Q.SpendersOf(pks)
	for i, by := range spenders {
		if by == nil {
			kept = append(kept, pks[i])
		}
	}
	return kept, err
}

// Where keeps the items of a list that keep returns.
func (l *List) Where(keep func([]model.UtxoPk) ([]model.UtxoPk, error)) *List {
	before := l.filter
	l.key.kind = 0 // places of another list with the same key would be wrong
	l.filter = func(pks []model.UtxoPk) (kept []model.UtxoPk, err error) {
		if before != nil {
			if pks, err = before(pks); err != nil {
				return nil, err
			}
		}
		return keep(pks)
	}
	return l
}

// WithoutPendingSpends leaves out the boxes that unconfirmed transactions spend.
func (v *View) WithoutPendingSpends(l *List) *List {
	if v.pool == nil || v.pool.Count() == 0 {
		return l
	}
	return l.Where(func(pks []model.UtxoPk) (kept []model.UtxoPk, err error) {
		spent, err := v.pendingSpent(pks)
		for i, pk := range pks {
			if err == nil && !spent[i] {
				kept = append(kept, pk)
			}
		}
		return kept, err
	})
}

// Union returns the boxes of any of several lists of values of indexes, which have the same order.
func Union(lists []*List) *List {
	if len(lists) == 1 {
		return lists[0]
	}
	descending := lists[0].key.descending
	return &List{first: lists[0].first, scan: func(s setops.Span) setops.Outputs {
		var all setops.Union
		for _, l := range lists {
			scan := func(s setops.Span, _ bool) setops.Outputs { return l.scan(s) }
			all = append(all, &setops.ScanStream{
				Scan: scan, Span: s, Descending: descending, Budget: &setops.Budget{Left: math.MaxInt},
			})
		}
		var cut *model.UtxoPk // remains nil: no budget is used up
		return setops.Merged(all, descending, &cut)
	}}
}

// Within restricts a list to the blocks from a height to another one.
func (v *View) Within(l *List, from, to model.HeightPk) *List {
	scan := l.scan
	l.key.kind = 0
	l.scan = func(s setops.Span) setops.Outputs {
		s.First, s.Last = max(s.First, model.UtxoPk(v.Q.FirstPk(from))), min(s.Last, v.Q.LastPk(to))
		if s.Empty() {
			return func(func(model.UtxoPk, error) bool) {}
		}
		return scan(s)
	}
	return l
}

// filterBatch is the number of outputs that are filtered at once.
const filterBatch = 64

// Window returns the items of a list from an offset on, at most limit. The place where it ends is cached, so that
// the next window of the same list begins there.
func (v *View) Window(l *List, offset, limit int) (pks []model.UtxoPk, err error) {
	if limit <= 0 {
		return nil, nil
	}
	span, skip := setops.Span{First: l.first, Last: setops.Everywhere.Last}, offset
	l.key.n = offset
	if last, known := v.chain.places.Get(l.key); known && offset > 0 && l.key.kind != 0 {
		span, skip = span.After(last, l.key.descending), 0
	}
	take := func(batch []model.UtxoPk) (more bool) {
		n := min(skip, len(batch))
		batch, skip = batch[n:], skip-n
		pks = append(pks, batch[:min(len(batch), limit-len(pks))]...)
		return len(pks) < limit
	}
	var batch []model.UtxoPk
	size := 1
	if l.filter != nil {
		size = filterBatch
	}
	flush := func() (bool, error) {
		kept := batch
		if l.filter != nil {
			if kept, err = l.filter(batch); err != nil {
				return false, err
			}
			if err := v.Q.Ctx.Err(); err != nil {
				return false, err
			}
		}
		more := take(kept)
		batch = batch[:0]
		return more, nil
	}
	if span.Empty() {
		return nil, nil
	}
	more := true
	for pk, err := range l.scan(span) {
		if err != nil {
			return nil, err
		}
		if batch = append(batch, pk); len(batch) < size {
			continue
		}
		if more, err = flush(); err != nil {
			return nil, err
		}
		if !more {
			break
		}
	}
	if more && len(batch) > 0 {
		if _, err := flush(); err != nil {
			return nil, err
		}
	}
	if len(pks) == limit && l.key.kind != 0 {
		l.key.n = offset + limit
		v.chain.places.Put(l.key, pks[len(pks)-1])
	}
	return pks, v.Q.Ctx.Err()
}

// TxWindow is [View.Window] of a list of transactions.
func (v *View) TxWindow(l *List, offset, limit int) ([]model.TxPk, error) {
	pks, err := v.Window(l, offset, limit)
	txs := make([]model.TxPk, len(pks))
	for i, pk := range pks {
		txs[i] = pk.Tx()
	}
	return txs, err
}

// Count returns the number of items of a list; ok is false if it has more than most.
func (v *View) Count(l *List, most int) (n int, ok bool, err error) {
	for _, err := range l.scan(setops.Span{First: l.first, Last: setops.Everywhere.Last}) {
		if err != nil {
			return 0, false, err
		}
		if n++; n > most {
			return 0, false, nil
		}
		if n%4096 == 0 && v.Q.Ctx.Err() != nil {
			return 0, false, v.Q.Ctx.Err()
		}
	}
	return n, true, nil
}

// All yields the items of a list.
func (v *View) All(l *List) iter.Seq2[model.UtxoPk, error] {
	return func(yield func(model.UtxoPk, error) bool) {
		part := make([]model.UtxoPk, 0, filterBatch)
		flush := func() bool {
			kept, err := part, v.Q.Ctx.Err()
			if err == nil && l.filter != nil {
				kept, err = l.filter(part)
			}
			if err != nil {
				yield(0, err)
				return false
			}
			part = part[:0]
			for _, pk := range kept {
				if !yield(pk, nil) {
					return false
				}
			}
			return true
		}
		for pk, err := range l.scan(setops.Span{First: l.first, Last: setops.Everywhere.Last}) {
			if err != nil {
				yield(0, err)
				return
			}
			if part = append(part, pk); len(part) == filterBatch && !flush() {
				return
			}
		}
		flush()
	}
}
