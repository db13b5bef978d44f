package backfill

import (
	"fmt"

	"birthmark/core/schema"
	"birthmark/model"
	"birthmark/storage"
)

// Clean removes dropped indexes from the rows of outputs with from <= pointer < end. It scans at most about most rows.
// next is where the next call continues; more is false after the last row.
func Clean(l *schema.Layout, r storage.Reader, b storage.Batch, from, end model.UtxoPk, most int) (next model.UtxoPk, more bool, err error) {
	rows := 0
	for kv, err := range r.Scan(schema.FamilyUtxo, from.AppendTo(nil), end.AppendTo(nil), false) {
		if err != nil {
			return 0, false, err
		}
		pk, err := model.ParseUtxoPk(kv.Key)
		if err != nil {
			return 0, false, err
		}
		row, dropped, err := l.ParseUtxoRowWith(pk, kv.Value)
		if err != nil {
			return 0, false, fmt.Errorf("output %v: %w", pk, err)
		}
		if dropped > 0 {
			b.Put(schema.FamilyUtxo, kv.Key, schema.AppendUtxoRow(nil, pk, &row))
		}
		if rows >= most {
			return pk + 1, true, nil
		}
		rows++
	}
	return end, false, nil
}
