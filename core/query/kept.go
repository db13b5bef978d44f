package query

import (
	"iter"

	"birthmark/core/schema"
	"birthmark/model"
)

// keptUnspent yields the unspent outputs of a value in s, in order, from an index that stores them.
func (q *Query) keptUnspent(x *schema.Index, birth model.BirthPk, s Span, descending bool) iter.Seq2[model.UtxoPk, error] {
	return func(yield func(model.UtxoPk, error) bool) {
		if s.Empty() {
			return
		}
		from, to := schema.AppendRelationKey(nil, x, birth, s.First), append(schema.AppendRelationKey(nil, x, birth, s.Last), 0)
		for row, err := range schema.Rows(q.R, x.Family(schema.IndexUnspent), from, to, descending, x.ParseRelationRow) {
			if !yield(row.At, err) {
				return
			}
		}
	}
}

// keptMovements returns the first limit transactions in s that pay to a value or spend from it, in order, from an
// index that stores histories.
func (q *Query) keptMovements(x *schema.Index, birth model.BirthPk, s Span, descending bool, limit int) (moves []schema.TxAmounts, err error) {
	from, to := schema.AppendHistoryKey(nil, x, birth, s.First.Tx()), append(schema.AppendHistoryKey(nil, x, birth, s.Last.Tx()), 0)
	for row, err := range schema.Rows(q.R, x.Family(schema.IndexHistory), from, to, descending, x.ParseHistoryRow) {
		if err != nil {
			return nil, err
		}
		if moves = append(moves, row.TxAmounts); len(moves) == limit {
			break
		}
	}
	return moves, nil
}
