package wallet

import (
	"fmt"

	"birthmark/core/query"
	"birthmark/core/schema"
	"birthmark/model"
)

// eachInBlocks calls visit with the births of the values of x in the outputs of the blocks from <= height < to, and in
// the outputs that these blocks spend.
func eachInBlocks(q *query.Query, x *schema.Index, from, to model.HeightPk, visit func(model.BirthPk) error) error {
	each := func(pk model.UtxoPk, raw []byte) error {
		row, err := q.ParseUtxoRow(pk, raw)
		if err != nil {
			return fmt.Errorf("output %v: %w", pk, err)
		}
		for _, o := range row.Occurrences {
			if o.Index == x {
				if err := visit(o.Birth); err != nil {
					return err
				}
			}
		}
		return nil
	}
	first, end := q.FirstPk(from).AppendTo(nil), q.FirstPk(to).AppendTo(nil)
	for kv, err := range q.R.Scan(schema.FamilyUtxo, first, end, false) {
		if err != nil {
			return err
		}
		pk, err := model.ParseUtxoPk(kv.Key)
		if err == nil {
			err = each(pk, kv.Value)
		}
		if err != nil {
			return err
		}
	}
	spent := func(yield func(model.UtxoPk, error) bool) {
		for row, err := range schema.Rows(q.R, schema.FamilySpentUtxo, first, end, false, schema.ParseSpendRow) {
			if !yield(row.Output, err) {
				return
			}
		}
	}
	for pks, err := range query.Batches(q, spent, query.OccurrenceBatch, query.OccurrenceBatch) {
		if err != nil {
			return err
		}
		rows, err := q.Many(schema.FamilyUtxo, schema.Keys(pks))
		if err != nil {
			return err
		}
		for i, pk := range pks {
			if err := each(pk, rows[i]); err != nil {
				return err
			}
		}
	}
	return nil
}
