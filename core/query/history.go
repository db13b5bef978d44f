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
		h, err := q.holder(index, value)
		if err != nil {
			return nil, err
		}
		l, err := q.list(p, "history", h.index.Name, h.scope(), r.String())
		if err != nil {
			return nil, err
		}
		s, base, err := l.historySpan(r)
		a := &HistoryAnswer{Index: h.index.Name, Value: h.text, Derived: h.answer(false), Txs: []HistoryTxAnswer{}}
		if err != nil || h.first() == nil {
			return a, err
		}
		found, base, err := q.balancedAmounts(h.index, h.births, s, p.Descending, l.limit+1, base)
		if err != nil {
			return nil, err
		}
		balances := balancesAfter(found, base, p.Descending)
		more := len(found) > l.limit
		if found = found[:min(len(found), l.limit)]; more {
			last, balance := found[len(found)-1], uint64(0)
			if balances != nil {
				balance = balances[len(found)-1]
			}
			if p.Descending {
				balance -= last.Received - last.Sent
			}
			if a.Next, err = l.next(historyPosition(last.Tx, balance, balances != nil)); err != nil {
				return nil, err
			}
		}
		txs := []model.TxPk{h.first().Tx()}
		for _, m := range found {
			txs = append(txs, m.Tx)
		}
		hashes, err := q.Hashes(txs)
		if err != nil {
			return nil, err
		}
		first := firstSeen(*h.first(), hashes)
		a.FirstSeen = &first
		for i, m := range found {
			t := HistoryTxAnswer{Hash: hashes[m.Tx], Height: uint32(m.Tx.Height()), Index: q.TxIndex(m.Tx),
				Received: strconv.FormatUint(m.Received, 10), Sent: strconv.FormatUint(m.Sent, 10)}
			if balances != nil {
				t.Balance = q.balanceText(balances[i])
			}
			if h.wallet != nil {
				t.Net = strconv.FormatInt(int64(m.Received-m.Sent), 10)
			}
			a.Txs = append(a.Txs, t)
		}
		if err := q.setTimes(a.Txs, found); err != nil {
			return nil, err
		}
		return a, q.setHistoryAssets(a.Txs, h.index, h.births, found)
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
		return q.storedHistory(x, []model.BirthPk{birth}, s, descending, limit)
	}
	txs, _, err := q.computedHistory(x, []model.BirthPk{birth}, s, descending, limit)
	return txs, err
}

func (q *Query) storedHistory(
	x *schema.Index, births []model.BirthPk, s setops.Span, descending bool, limit int,
) (txs []schema.TxAmounts, err error) {
	for m, err := range q.StoredHistoryOf(x, births, s, descending) {
		if err != nil {
			return nil, err
		}
		if txs = append(txs, m); len(txs) == limit {
			break
		}
	}
	return txs, nil
}

// computedHistory reads the outputs of values. A transaction in s may spend outputs from before s. base is the balance
// before the first transaction of s, or after the last one if descending is set.
func (q *Query) computedHistory(
	x *schema.Index, births []model.BirthPk, s setops.Span, descending bool, limit int,
) (txs []schema.TxAmounts, base uint64, err error) {
	counts := func(tx model.TxPk) bool { // in base
		return descending && model.UtxoPk(tx) <= s.Last || !descending && model.UtxoPk(tx) < s.First
	}
	last, unordered := s.Last, q.Chain.Traits().Unordered
	if unordered { // a transaction in s can spend a later output of the last block
		last = q.LastPk(last.Height())
	}
	before := func(a, b model.TxPk) bool { return (a < b) != descending && a != b }
	first := setops.Top[model.TxPk]{Limit: limit, Before: before}
	amounts := map[model.TxPk]*schema.TxAmounts{}
	// of returns the amounts of a transaction, or nil if it is not among the first limit transactions in s.
	of := func(tx model.TxPk) *schema.TxAmounts {
		m := amounts[tx]
		if m == nil && s.HasTx(tx) {
			added, evicted := first.Offer(tx)
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
	for batch, err := range q.batches(q.OccurrencesOf(x, births, setops.Span{Last: last}, false)) {
		if err != nil {
			return nil, 0, err
		}
		values, spenders, err := q.AmountsAndSpenders(batch)
		if err != nil {
			return nil, 0, err
		}
		done := false
		for i, pk := range batch {
			last, full := first.Last()
			if done = !descending && full && last < pk.Tx() && !(unordered && last.Height() == pk.Height()); done {
				break // later outputs are received, and spent, after all transactions found
			}
			if m := of(pk.Tx()); m != nil {
				m.Received += values[i]
			}
			if counts(pk.Tx()) {
				base += values[i]
			}
			if spenders[i] == nil {
				continue
			}
			if counts(spenders[i].Tx()) {
				base -= values[i]
			}
			if m := of(spenders[i].Tx()); m != nil {
				m.Sent += values[i]
			}
		}
		if done {
			break
		}
	}
	txs = make([]schema.TxAmounts, 0, len(amounts))
	for _, tx := range first.Sorted() {
		txs = append(txs, *amounts[tx])
	}
	return txs, base, nil
}
