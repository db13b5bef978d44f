package query

import (
	"container/heap"
	"context"
	"strconv"

	"birthmark/core/schema"
	"birthmark/model"
)

// History returns a page of the transactions in r that pay to a value or spend from it, each once. The page is empty
// if no output has the value. A transaction in r may spend outputs from before r.
func (ask Queries) History(ctx context.Context, index, value string, r Range, p Page) (a *HistoryAnswer, err error) {
	err = ask.From(ctx, func(q *Query) error {
		limit, err := p.limit()
		if err != nil {
			return err
		}
		x, raw, birth, err := q.Value(index, value)
		if err != nil {
			return err
		}
		id := cursorScope("history", index, string(raw), r.String(), order(p.Descending))
		s, err := q.Span(r)
		if err != nil {
			return err
		}
		if s, err = q.behindTx(s, p, id); err != nil {
			return err
		}
		a = &HistoryAnswer{Index: index, Value: x.Format(raw), Txs: []HistoryTxAnswer{}}
		if birth == nil {
			return nil
		}
		moves, err := q.Movements(x, *birth, s, p.Descending, limit+1)
		if err != nil {
			return err
		}
		if len(moves) > limit {
			moves = moves[:limit]
			last := moves[limit-1].Tx
			if a.Next, err = q.next(id, last.Height(), last.AppendTo(nil)); err != nil {
				return err
			}
		}
		first := birth.Utxo
		txs := []model.TxPk{first.Tx()}
		for _, m := range moves {
			txs = append(txs, m.Tx)
		}
		hashes, err := q.Hashes(txs)
		if err != nil {
			return err
		}
		a.FirstSeen = &FirstSeenAnswer{hashes[first.Tx()], first.Index(), uint32(first.Height())}
		for _, m := range moves {
			a.Txs = append(a.Txs, HistoryTxAnswer{hashes[m.Tx], uint32(m.Tx.Height()), q.txIndex(m.Tx),
				strconv.FormatUint(m.Received, 10), strconv.FormatUint(m.Sent, 10)})
		}
		return nil
	})
	return a, err
}

// Movements returns the first limit transactions in s that pay to a value or spend from it, in order. Unless the
// index stores histories, it reads every output of the value (in ascending order only up to the last transaction
// returned). Memory use is proportional to limit.
func (q *Query) Movements(x *schema.Index, birth model.BirthPk, s Span, descending bool, limit int) ([]schema.TxAmounts, error) {
	if s.Empty() {
		return nil, nil
	}
	if x.Active.Has(schema.FeatureHistory) {
		return q.keptMovements(x, birth, s, descending, limit)
	}
	l := topTxs{limit: limit, span: s, descending: descending, entries: map[model.TxPk]*schema.TxAmounts{}}
	// A transaction in s may spend outputs from before s.
	if err := q.enter(x, birth, Span{0, s.Last}, &l); err != nil {
		return nil, err
	}
	return l.sorted(), nil
}

// enter adds the outputs of a value in s to l.
func (q *Query) enter(x *schema.Index, birth model.BirthPk, s Span, l *topTxs) error {
	for batch, err := range batches(q, q.Occurrences(x, birth, s, false), OccurrenceBatch) {
		if err != nil {
			return err
		}
		keys := schema.Keys(batch)
		rows, err := q.many(schema.FamilyUtxo, keys)
		if err != nil {
			return err
		}
		spent, err := q.R.GetMany(schema.FamilySpentInput, keys)
		if err != nil {
			return err
		}
		for i, pk := range batch {
			if l.beyond(pk.Tx()) {
				// Later outputs are received, and spent, after all entries of l.
				return nil
			}
			value, err := schema.ParseUtxoValue(rows[i])
			if err != nil {
				return err
			}
			if m := l.entry(pk.Tx()); m != nil {
				m.Received += value
			}
			if spent[i] == nil {
				continue
			}
			input, err := model.ParseInputPk(spent[i])
			if err != nil {
				return err
			}
			if m := l.entry(input.Tx()); m != nil {
				m.Sent += value
			}
		}
	}
	return nil
}

// topTxs holds the first limit transactions of a history in a span.
type topTxs struct {
	limit      int
	span       Span
	descending bool
	entries    map[model.TxPk]*schema.TxAmounts
	worst      []model.TxPk // heap of the entries, the next to evict at the root
}

// less reports whether a comes before b.
func (l *topTxs) less(a, b model.TxPk) bool { return (a < b) != l.descending && a != b }

func (l *topTxs) Len() int           { return len(l.worst) }
func (l *topTxs) Less(i, j int) bool { return l.less(l.worst[j], l.worst[i]) }
func (l *topTxs) Swap(i, j int)      { l.worst[i], l.worst[j] = l.worst[j], l.worst[i] }
func (l *topTxs) Push(v any)         { l.worst = append(l.worst, v.(model.TxPk)) }
func (l *topTxs) Pop() any {
	last := len(l.worst) - 1
	v := l.worst[last]
	l.worst = l.worst[:last]
	return v
}

// entry returns the amounts of a transaction, or nil if it is not among the first limit transactions in the span.
func (l *topTxs) entry(tx model.TxPk) *schema.TxAmounts {
	if m, ok := l.entries[tx]; ok {
		return m
	}
	if !l.span.hasTx(tx) {
		return nil
	}
	if len(l.worst) == l.limit {
		if !l.less(tx, l.worst[0]) {
			return nil
		}
		delete(l.entries, heap.Pop(l).(model.TxPk))
	}
	m := &schema.TxAmounts{Tx: tx}
	l.entries[tx] = m
	heap.Push(l, tx)
	return m
}

// beyond reports whether tx and all later transactions are outside the first limit transactions.
func (l *topTxs) beyond(tx model.TxPk) bool {
	return !l.descending && len(l.worst) == l.limit && l.worst[0] < tx
}

// sorted removes and returns the transactions in order.
func (l *topTxs) sorted() []schema.TxAmounts {
	moves := make([]schema.TxAmounts, len(l.worst))
	for i := len(moves) - 1; i >= 0; i-- {
		moves[i] = *l.entries[heap.Pop(l).(model.TxPk)]
	}
	return moves
}
