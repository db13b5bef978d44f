package core

import (
	"container/heap"
	"context"
	"iter"
	"strconv"

	"birthmark/model"
)

// occurrenceBatch is how many occurrences of a value are read together.
const occurrenceBatch = 512

// maxSkipped bounds what one page of Find looks at: a page of unspent outputs may be short, and say where to go on.
const maxSkipped = 100_000

// occurrences yields the outputs a value occurs in, in order, those behind after where it is not nil.
func (q *query) occurrences(x *index, birth model.BirthPk, after *model.UtxoPk, descending bool) iter.Seq2[model.UtxoPk, error] {
	return func(yield func(model.UtxoPk, error) bool) {
		wide := x.Kind.Wide()
		first := after == nil || (descending && birth.Utxo < *after) || (!descending && birth.Utxo > *after)
		if first && !descending && !yield(birth.Utxo, nil) {
			return
		}
		if x.Kind != model.OneToOne {
			from, to := birth.AppendTo(nil, wide), model.UtxoPk(1<<64-1).AppendTo(birth.AppendTo(nil, wide))
			if after != nil && descending {
				to = after.AppendTo(birth.AppendTo(nil, wide))
			} else if after != nil {
				from = (*after + 1).AppendTo(birth.AppendTo(nil, wide))
			}
			for kv, err := range q.r.Scan(x.family(indexRelations), from, to, descending) {
				if err != nil {
					yield(0, err)
					return
				}
				_, at, err := parseRelationKey(x, kv.Key)
				if err != nil || !yield(at, nil) {
					if err != nil {
						yield(0, err)
					}
					return
				}
			}
		}
		if first && descending {
			yield(birth.Utxo, nil)
		}
	}
}

// batches groups what seq yields and ends when the query's context does.
func batches[T any](ctx context.Context, seq iter.Seq2[T, error], size int) iter.Seq2[[]T, error] {
	return func(yield func([]T, error) bool) {
		var batch []T
		for v, err := range seq {
			if err == nil && len(batch) == 0 {
				err = ctx.Err()
			}
			if err != nil {
				yield(nil, err)
				return
			}
			if batch = append(batch, v); len(batch) == size {
				if !yield(batch, nil) {
					return
				}
				batch = nil
			}
		}
		if len(batch) > 0 {
			yield(batch, nil)
		}
	}
}

func order(descending bool) string {
	if descending {
		return "desc"
	}
	return "asc"
}

// Find is a page of the outputs where a value occurs, in the order of the chain or the other way round; unspent: only
// those that nothing has spent.
func (db *DB) Find(ctx context.Context, index, value string, unspent bool, p Page) (a *FindAnswer, err error) {
	err = db.ask(ctx, func(q *query) error {
		limit, err := p.limit()
		if err != nil {
			return err
		}
		x, raw, birth, err := q.value(index, value)
		if err != nil {
			return err
		}
		id := question("find", index, string(raw), strconv.FormatBool(unspent), order(p.Descending))
		var after *model.UtxoPk
		if position, err := q.after(p, id, model.PkSize); err != nil {
			return err
		} else if position != nil {
			pk, err := model.ParseUtxoPk(position)
			if err != nil {
				return err
			}
			after = &pk
		}
		pks, last, more, err := q.page(q.occurrences(x, birth, after, p.Descending), unspent, limit)
		if err != nil {
			return err
		}
		a = &FindAnswer{Index: index, Value: x.Format(raw)}
		if a.Outputs, err = q.outputs(pks, true); err != nil {
			return err
		}
		if a.FirstSeen, err = q.firstSeen(birth.Utxo); err != nil {
			return err
		}
		if more {
			a.Next, err = q.next(id, last.Height(), last.AppendTo(nil))
		}
		return err
	})
	return a, err
}

// page takes up to limit outputs of seq, all or those unspent. More says that there is something behind last.
func (q *query) page(seq iter.Seq2[model.UtxoPk, error], unspent bool, limit int) (pks []model.UtxoPk, last model.UtxoPk, more bool, err error) {
	size := min(limit+1, occurrenceBatch)
	if unspent {
		size = occurrenceBatch
	}
	seen := 0
	for batch, err := range batches(q.ctx, seq, size) {
		if err != nil {
			return nil, 0, false, err
		}
		spent := make([][]byte, len(batch))
		if unspent {
			if spent, err = q.r.GetMany(familySpentInput, keysOf(batch)); err != nil {
				return nil, 0, false, err
			}
		}
		for i, pk := range batch {
			if len(pks) == limit || seen == maxSkipped {
				return pks, last, true, nil
			}
			seen++
			last = pk
			if spent[i] == nil {
				pks = append(pks, pk)
			}
		}
	}
	return pks, last, false, nil
}

func (q *query) firstSeen(pk model.UtxoPk) (FirstSeenAnswer, error) {
	hashes, err := q.hashes([]model.TxPk{pk.Tx()})
	return FirstSeenAnswer{hashes[pk.Tx()], pk.Index(), uint32(pk.Height())}, err
}

// History is a page of the transactions that pay to a value or spend from it, each once. Without a family of its own
// it is made from every output of the value, up to the page where the order is ascending; memory is that of a page.
func (db *DB) History(ctx context.Context, index, value string, p Page) (a *HistoryAnswer, err error) {
	err = db.ask(ctx, func(q *query) error {
		limit, err := p.limit()
		if err != nil {
			return err
		}
		x, raw, birth, err := q.value(index, value)
		if err != nil {
			return err
		}
		id := question("history", index, string(raw), order(p.Descending))
		l := ledger{limit: limit + 1, descending: p.Descending, entries: map[model.TxPk]*movement{}}
		if position, err := q.after(p, id, model.PkSize); err != nil {
			return err
		} else if position != nil {
			pk, err := model.ParseTxPk(position)
			if err != nil {
				return err
			}
			l.after = &pk
		}
		if err := q.move(x, birth, &l); err != nil {
			return err
		}
		a = &HistoryAnswer{Index: index, Value: x.Format(raw), Txs: []HistoryTxAnswer{}}
		txs := l.sorted()
		if len(txs) > limit {
			txs = txs[:limit]
			last := txs[limit-1]
			if a.Next, err = q.next(id, last.Height(), last.AppendTo(nil)); err != nil {
				return err
			}
		}
		hashes, err := q.hashes(append([]model.TxPk(nil), txs...))
		if err != nil {
			return err
		}
		for _, tx := range txs {
			m := l.entries[tx]
			a.Txs = append(a.Txs, HistoryTxAnswer{hashes[tx], uint32(tx.Height()), q.txIndex(tx),
				strconv.FormatUint(m.received, 10), strconv.FormatUint(m.sent, 10)})
		}
		return nil
	})
	return a, err
}

// move enters every output of a value into l.
func (q *query) move(x *index, birth model.BirthPk, l *ledger) error {
	for batch, err := range batches(q.ctx, q.occurrences(x, birth, nil, false), occurrenceBatch) {
		if err != nil {
			return err
		}
		keys := keysOf(batch)
		rows, err := q.many(familyUtxo, keys)
		if err != nil {
			return err
		}
		spent, err := q.r.GetMany(familySpentInput, keys)
		if err != nil {
			return err
		}
		for i, pk := range batch {
			if l.beyond(pk.Tx()) {
				// Whatever follows is received later still, and spent later than that.
				return nil
			}
			value, err := parseUtxoValue(rows[i])
			if err != nil {
				return err
			}
			if m := l.entry(pk.Tx()); m != nil {
				m.received += value
			}
			if spent[i] == nil {
				continue
			}
			input, err := model.ParseInputPk(spent[i])
			if err != nil {
				return err
			}
			if m := l.entry(input.Tx()); m != nil {
				m.sent += value
			}
		}
	}
	return nil
}

// ledger holds the first transactions of a history, as many as a page needs.
type ledger struct {
	limit      int
	after      *model.TxPk
	descending bool
	entries    map[model.TxPk]*movement
	worst      []model.TxPk // heap of the entries, the one to give up first on top
}

// movement is what a value received and sent in one transaction.
type movement struct{ received, sent uint64 }

// less orders a before b in the page.
func (l *ledger) less(a, b model.TxPk) bool { return (a < b) != l.descending && a != b }

func (l *ledger) Len() int           { return len(l.worst) }
func (l *ledger) Less(i, j int) bool { return l.less(l.worst[j], l.worst[i]) }
func (l *ledger) Swap(i, j int)      { l.worst[i], l.worst[j] = l.worst[j], l.worst[i] }
func (l *ledger) Push(v any)         { l.worst = append(l.worst, v.(model.TxPk)) }
func (l *ledger) Pop() any {
	last := len(l.worst) - 1
	v := l.worst[last]
	l.worst = l.worst[:last]
	return v
}

// entry is the movement of a transaction, nil where it is not among the first behind after.
func (l *ledger) entry(tx model.TxPk) *movement {
	if m, ok := l.entries[tx]; ok {
		return m
	}
	if l.after != nil && !l.less(*l.after, tx) {
		return nil
	}
	if len(l.worst) == l.limit {
		if !l.less(tx, l.worst[0]) {
			return nil
		}
		delete(l.entries, heap.Pop(l).(model.TxPk))
	}
	m := &movement{}
	l.entries[tx] = m
	heap.Push(l, tx)
	return m
}

// beyond reports whether no transaction from tx on can be in the page any more.
func (l *ledger) beyond(tx model.TxPk) bool {
	return !l.descending && len(l.worst) == l.limit && l.worst[0] < tx
}

// sorted is the transactions in the order of the page.
func (l *ledger) sorted() []model.TxPk {
	txs := make([]model.TxPk, len(l.worst))
	for i := len(txs) - 1; i >= 0; i-- {
		txs[i] = heap.Pop(l).(model.TxPk)
	}
	return txs
}
