package query

import (
	"context"
	"strconv"

	"birthmark/core/query/setops"
	"birthmark/core/schema"
	"birthmark/model"
)

// History returns a page of the transactions in r that pay to a value or spend from it, each once. The page is empty
// if no output has the value. A transaction in r may spend outputs from before r.
func (qs Queries) History(ctx context.Context, index, value string, r Range, p Page) (*HistoryAnswer, error) {
	return read(ctx, qs, func(q *Query) (*HistoryAnswer, error) {
		x, raw, birth, err := q.Value(index, value)
		if err != nil {
			return nil, err
		}
		l, err := q.list(p, "history", index, string(raw), r.String())
		if err != nil {
			return nil, err
		}
		s, err := l.span(r, true)
		a := &HistoryAnswer{Index: index, Value: q.formatValue(x, raw, birth), Txs: []HistoryTxAnswer{}}
		if err != nil || birth == nil {
			return a, err
		}
		found, err := q.TxAmounts(x, *birth, s, p.Descending, l.limit+1)
		if err != nil {
			return nil, err
		}
		found, next, err := cut(l, found, func(m *schema.TxAmounts) position { return at(model.UtxoPk(m.Tx)) })
		if err != nil {
			return nil, err
		}
		a.Next = next
		txs := []model.TxPk{birth.Utxo.Tx()}
		for _, m := range found {
			txs = append(txs, m.Tx)
		}
		hashes, err := q.Hashes(txs)
		if err != nil {
			return nil, err
		}
		first := firstSeen(birth.Utxo, hashes)
		a.FirstSeen = &first
		for _, m := range found {
			a.Txs = append(a.Txs, HistoryTxAnswer{hashes[m.Tx], uint32(m.Tx.Height()), q.txIndex(m.Tx),
				strconv.FormatUint(m.Received, 10), strconv.FormatUint(m.Sent, 10)})
		}
		return a, nil
	})
}

// TxAmounts returns the first limit transactions in s that pay to a value or spend from it, in order. Unless the
// index stores histories, it reads every output of the value (in ascending order only up to the last transaction
// returned). Memory use is proportional to limit.
func (q *Query) TxAmounts(
	x *schema.Index, birth model.BirthPk, s setops.Span, descending bool, limit int,
) ([]schema.TxAmounts, error) {
	switch {
	case s.Empty():
		return nil, nil
	case x.Active.Has(schema.FeatureHistory):
		return q.storedHistory(x, birth, s, descending, limit)
	}
	return q.computedHistory(x, birth, s, descending, limit)
}

func (q *Query) storedHistory(
	x *schema.Index, birth model.BirthPk, s setops.Span, descending bool, limit int,
) (txs []schema.TxAmounts, err error) {
	from, to := s.Keys(birth.AppendTo(nil, x.Kind.HasOrdinal()))
	for row, err := range schema.Rows(q.R, x.Family(schema.IndexHistory), from, to, descending, x.ParseHistoryRow) {
		if err != nil {
			return nil, err
		}
		if txs = append(txs, row.TxAmounts); len(txs) == limit {
			break
		}
	}
	return txs, nil
}

// computedHistory reads the outputs of a value. A transaction in s may spend outputs from before s.
func (q *Query) computedHistory(
	x *schema.Index, birth model.BirthPk, s setops.Span, descending bool, limit int,
) ([]schema.TxAmounts, error) {
	before := func(a, b model.TxPk) bool { return (a < b) != descending && a != b }
	first := topN[model.TxPk]{limit: limit, before: before}
	amounts := map[model.TxPk]*schema.TxAmounts{}
	// of returns the amounts of a transaction, or nil if it is not among the first limit transactions in s.
	of := func(tx model.TxPk) *schema.TxAmounts {
		m := amounts[tx]
		if m == nil && s.HasTx(tx) {
			added, evicted := first.offer(tx)
			if !added {
				return nil
			}
			if evicted != nil {
				delete(amounts, *evicted)
			}
			m = &schema.TxAmounts{Tx: tx}
			amounts[tx] = m
		}
		return m
	}
	for batch, err := range q.batches(q.Occurrences(x, birth, setops.Span{Last: s.Last}, false)) {
		if err != nil {
			return nil, err
		}
		keys := schema.Keys(batch)
		values, err := q.amounts(keys)
		if err != nil {
			return nil, err
		}
		spenders, err := q.spenders(batch, keys)
		if err != nil {
			return nil, err
		}
		done := false
		for i, pk := range batch {
			if done = !descending && first.full() && first.items[0] < pk.Tx(); done {
				break // later outputs are received, and spent, after all transactions found
			}
			if m := of(pk.Tx()); m != nil {
				m.Received += values[i]
			}
			if spenders[i] == nil {
				continue
			}
			if m := of(spenders[i].Tx()); m != nil {
				m.Sent += values[i]
			}
		}
		if done {
			break
		}
	}
	txs := make([]schema.TxAmounts, 0, len(amounts))
	for _, tx := range first.sorted() {
		txs = append(txs, *amounts[tx])
	}
	return txs, nil
}
