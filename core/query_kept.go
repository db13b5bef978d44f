package core

import (
	"iter"

	"birthmark/model"
)

// keptUnspent yields the unspent outputs in s of a value whose index keeps them, in order.
func (q *query) keptUnspent(x *index, birth model.BirthPk, s span, descending bool) iter.Seq2[model.UtxoPk, error] {
	return func(yield func(model.UtxoPk, error) bool) {
		if s.empty() {
			return
		}
		from, to := appendRelationKey(nil, x, birth, s.first), append(appendRelationKey(nil, x, birth, s.last), 0)
		for kv, err := range q.r.Scan(x.family(indexUnspent), from, to, descending) {
			var at model.UtxoPk
			if err == nil {
				_, at, err = parseRelationKey(x, kv.Key)
			}
			if !yield(at, err) || err != nil {
				return
			}
		}
	}
}

// keptMovements reads the first limit transactions in s that pay to a value or spend from it, in order, where the index keeps
// them.
func (q *query) keptMovements(x *index, birth model.BirthPk, s span, descending bool, limit int) (moves []movement, err error) {
	from, to := appendHistoryKey(nil, x, birth, s.first.Tx()), append(appendHistoryKey(nil, x, birth, s.last.Tx()), 0)
	for kv, err := range q.r.Scan(x.family(indexHistory), from, to, descending) {
		if err != nil {
			return nil, err
		}
		_, tx, err := parseHistoryKey(x, kv.Key)
		if err != nil {
			return nil, err
		}
		m, err := parseHistoryRow(kv.Value)
		if err != nil {
			return nil, err
		}
		m.tx = tx
		if moves = append(moves, m); len(moves) == limit {
			break
		}
	}
	return moves, nil
}
