package actions

import (
	"iter"

	"birthmark/api/compat/blockfrost/exchange"
	"birthmark/core/query/setops"
	"birthmark/core/schema"
	"birthmark/model"
)

// entry is a part of a transaction that a list has.
type entry[T any] struct {
	tx    model.TxPk
	place int // among the parts of the transaction that belong to the list
	part  T
}

// before reports whether an entry precedes another one in the order of the chain.
func (e *entry[T]) before(other *entry[T]) bool {
	return e.tx < other.tx || e.tx == other.tx && e.place < other.place
}

// birthOf returns the index of subjects, and the birth of one; nil: no transaction has it.
func birthOf(q *exchange.Request, subject string) (*schema.Index, *model.BirthPk, error) {
	x, err := q.Optional(exchange.Subjects, 0)
	if err != nil {
		return nil, nil, err
	}
	birth, err := q.Q.Birth(x, []byte(subject))
	return x, birth, err
}

// Names reports whether a transaction names a subject; false without the index of subjects.
func Names(q *exchange.Request, subject string) (bool, error) {
	_, birth, err := birthOf(q, subject)
	if exchange.Unanswered(err) {
		err = nil
	}
	return birth != nil, err
}

// entries yields the parts of transactions with a subject, after an entry. parts returns those of one transaction.
func entries[T any](
	q *exchange.Request, subject string, parts func(*exchange.Decoded) []T, after *entry[T], descending bool,
) iter.Seq2[entry[T], error] {
	return func(yield func(entry[T], error) bool) {
		x, birth, err := birthOf(q, subject)
		if err != nil {
			yield(entry[T]{}, err)
			return
		}
		if birth == nil {
			return
		}
		span := setops.Everywhere
		if after != nil && descending {
			span.Last = model.UtxoPk(after.tx) | model.MaxIndex // the other parts of its transaction can follow
		} else if after != nil {
			span.First = model.UtxoPk(after.tx)
		}
		for pk, err := range q.Q.Occurrences(x, *birth, span, descending) {
			var d *exchange.Decoded
			if err == nil {
				err = q.Ctx.Err()
			}
			if err == nil {
				d, err = q.DecodeTx(pk.Tx())
			}
			if err != nil {
				yield(entry[T]{}, err)
				return
			}
			all := parts(d)
			for i := range all {
				if descending {
					i = len(all) - 1 - i
				}
				e := entry[T]{pk.Tx(), i, all[i]}
				if after != nil && (!descending && !after.before(&e) || descending && !e.before(after)) {
					continue
				}
				if !yield(e, nil) {
					return
				}
			}
		}
	}
}

// page returns the entries of a page of a list, and the hashes of their transactions.
func page[T any](q *exchange.Request, subject string, parts func(*exchange.Decoded) []T) ([]entry[T], []string, error) {
	p := q.Page
	all, err := exchange.PageOf(q, p, func(after *entry[T]) iter.Seq2[entry[T], error] {
		return entries(q, subject, parts, after, p.Descending)
	})
	if err != nil {
		return nil, nil, err
	}
	txs := make([]model.TxPk, len(all))
	heights := make([]model.HeightPk, len(all))
	for i, e := range all {
		txs[i], heights[i] = e.tx, e.tx.Height()
	}
	if err := q.ReadPoints(heights...); err != nil {
		return nil, nil, err
	}
	hashes, err := q.Hashes(txs)
	return all, hashes, err
}
