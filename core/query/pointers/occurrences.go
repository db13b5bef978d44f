package pointers

import (
	"iter"

	"birthmark/core/query/setops"
	"birthmark/core/schema"
	"birthmark/model"
	"birthmark/storage"
)

// Occurrences yields the outputs in s that contain a value, in order.
func (q *Reader) Occurrences(x *schema.Index, birth model.BirthPk, s setops.Span, descending bool) setops.Outputs {
	rows := func(func(model.UtxoPk, error) bool) {}
	if x.Kind != model.OneToOne {
		rows = q.relations(x, schema.IndexRelations, birth, s, descending)
	}
	return withBirth(birth.Utxo, s, descending, rows)
}

// StoredUnspent yields the unspent outputs of a value in s, in order, of an index that stores them.
func (q *Reader) StoredUnspent(x *schema.Index, birth model.BirthPk, s setops.Span, descending bool) setops.Outputs {
	return q.relations(x, schema.IndexUnspent, birth, s, descending)
}

// relations yields the outputs of a value in s from one of the families that have relations.
func (q *Reader) relations(
	x *schema.Index, f storage.Family, birth model.BirthPk, s setops.Span, descending bool,
) setops.Outputs {
	from, to := s.Keys(birth.AppendTo(nil, x.Kind.HasOrdinal()))
	return schema.Rows(q.R, x.Family(f), from, to, descending, func(key, value []byte) (model.UtxoPk, error) {
		row, err := x.ParseRelationRow(key, value)
		return row.At, err
	})
}

// AssetOccurrences yields the outputs in s that contain an asset, in order and without duplicates.
func (q *Reader) AssetOccurrences(birth model.AssetBirthPk, s setops.Span, descending bool) setops.Outputs {
	from := schema.AppendAssetRelationKey(nil, birth, model.AssetPk{Utxo: s.First})
	to := append(schema.AppendAssetRelationKey(nil, birth, model.AssetPk{Utxo: s.Last, Index: 1<<16 - 1}), 0)
	parse := func(key, value []byte) (model.UtxoPk, error) {
		row, err := schema.ParseAssetRelationRow(key, value)
		return row.At.Utxo, err
	}
	rows := schema.Rows(q.R, schema.FamilyAssetRelations, from, to, descending, parse)
	if q.Traits.Tokens != nil { // an output has an asset once, and the birth is not an occurrence
		if s.Empty() {
			return func(func(model.UtxoPk, error) bool) {}
		}
		return rows
	}
	return withBirth(birth.Utxo, s, descending, rows)
}

// withBirth yields the outputs of rows, which are in s and in order, and the birth if it is in s. An output can contain
// an asset more than once, and is yielded once.
func withBirth(birth model.UtxoPk, s setops.Span, descending bool, rows setops.Outputs) setops.Outputs {
	return func(yield func(model.UtxoPk, error) bool) {
		if s.Empty() {
			return
		}
		born := s.Has(birth)
		if born && !descending && !yield(birth, nil) {
			return
		}
		last := birth
		for pk, err := range rows {
			if err == nil && (pk == last || pk == birth) {
				continue
			}
			if last = pk; !yield(pk, err) || err != nil {
				return
			}
		}
		if born && descending {
			yield(birth, nil)
		}
	}
}

// StoredHistory yields the transactions in s that pay to a value or spend from it, in order, of an index that stores
// histories.
func (q *Reader) StoredHistory(
	x *schema.Index, birth model.BirthPk, s setops.Span, descending bool,
) iter.Seq2[schema.TxAmounts, error] {
	from, to := s.Keys(birth.AppendTo(nil, x.Kind.HasOrdinal()))
	parse := func(key, value []byte) (schema.TxAmounts, error) {
		row, err := x.ParseHistoryRow(key, value)
		return row.TxAmounts, err
	}
	return schema.Rows(q.R, x.Family(schema.IndexHistory), from, to, descending, parse)
}
