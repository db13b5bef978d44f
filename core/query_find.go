package core

import (
	"context"
	"iter"
	"strconv"

	"birthmark/model"
)

// occurrenceBatch is how many occurrences of a value are read together.
const occurrenceBatch = 512

// maxSkipped bounds what one page of Find looks at: a page of unspent outputs may be short, and say where to go on.
const maxSkipped = 100_000

// occurrences yields the outputs in s that a value occurs in, in order.
func (q *query) occurrences(x *index, birth model.BirthPk, s span, descending bool) iter.Seq2[model.UtxoPk, error] {
	return func(yield func(model.UtxoPk, error) bool) {
		if s.empty() {
			return
		}
		born := s.has(birth.Utxo)
		if born && !descending && !yield(birth.Utxo, nil) {
			return
		}
		if x.Kind != model.OneToOne {
			from, to := appendRelationKey(nil, x, birth, s.first), append(appendRelationKey(nil, x, birth, s.last), 0)
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
		if born && descending {
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
		s := everywhere
		if position, err := q.after(p, id, model.PkSize); err != nil {
			return err
		} else if position != nil {
			pk, err := model.ParseUtxoPk(position)
			if err != nil {
				return err
			}
			s = s.behind(pk, p.Descending)
		}
		pks, last, more, err := q.page(q.occurrences(x, birth, s, p.Descending), unspent, limit)
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
