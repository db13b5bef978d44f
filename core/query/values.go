package query

import (
	"bytes"
	"context"
	"slices"

	"birthmark/core/schema"
	"birthmark/model"
	"birthmark/storage"
)

// birthRow is a value of an index, or an asset, and its birth.
type birthRow struct {
	birth model.BirthPk
	value []byte
}

// births reads a page of a family whose keys are births, of values or of assets.
func (q *Query) births(l *list, f storage.Family, ordinal bool) ([]birthRow, *string, error) {
	start, err := l.start(schema.PointerSize(ordinal))
	if err != nil {
		return nil, nil, err
	}
	from, to := schema.Between(nil, start, l.Descending)
	rows := schema.Rows(q.R, f, from, to, l.Descending, func(key, value []byte) (birthRow, error) {
		birth, err := model.ParseBirthPk(key, ordinal)
		return birthRow{birth, slices.Clone(value)}, err
	})
	return page(l, rows, func(r *birthRow) position {
		return position{r.birth.Utxo.Height(), r.birth.AppendTo(nil, ordinal)}
	})
}

// Values returns a page of the values of an index, in the order of first occurrence or its reverse.
func (qs Queries) Values(ctx context.Context, index string, p Page) (*ValuesAnswer, error) {
	return read(ctx, qs, func(q *Query) (*ValuesAnswer, error) {
		x, err := q.Index(index)
		if err != nil {
			return nil, err
		}
		l, err := q.list(p, "values", index)
		if err != nil {
			return nil, err
		}
		family := x.Family(schema.IndexValue)
		rows, next, err := q.births(l, family, x.Kind.HasOrdinal())
		if err != nil {
			return nil, err
		}
		a := &ValuesAnswer{Index: index, Count: q.Totals.Rows[family], Next: next}
		a.Values, err = q.valueAnswers(x, rows)
		return a, err
	})
}

// valueAnswers returns the answers for values of an index with their births.
func (q *Query) valueAnswers(x *schema.Index, rows []birthRow) ([]ValueAnswer, error) {
	txs := make([]model.TxPk, len(rows))
	for i, r := range rows {
		txs[i] = r.birth.Utxo.Tx()
	}
	hashes, err := q.Hashes(txs)
	answers := make([]ValueAnswer, len(rows))
	for i, r := range rows {
		answers[i] = ValueAnswer{x.Format(r.value), firstSeen(r.birth.Utxo, hashes)}
	}
	return answers, err
}

// firstSeen describes the output in which a value or an asset first occurred.
func firstSeen(pk model.UtxoPk, hashes map[model.TxPk]string) FirstSeenAnswer {
	return FirstSeenAnswer{hashes[pk.Tx()], pk.Index(), uint32(pk.Height())}
}

// ValuesByText returns a page of the values of an index whose texts begin with prefix, in byte order of the texts or
// its reverse. Only the first 255 bytes of a text count; ties are in the order of first occurrence. It reads only the
// rows of the page. It returns a Usage error if the index does not store texts (not_kept; feature prefix) or if the
// prefix is longer than 255 bytes (bad_value).
func (qs Queries) ValuesByText(ctx context.Context, index, prefix string, p Page) (*ValuesAnswer, error) {
	return read(ctx, qs, func(q *Query) (*ValuesAnswer, error) {
		x, err := q.Index(index)
		if err != nil {
			return nil, err
		}
		if !x.Active.Has(schema.FeaturePrefix) {
			return nil, model.Errorf(model.Usage, "not_kept", "prefix search is not enabled for index %[1]s: "+
				"set prefix: true for it, and run birthmark index add %[1]s", index)
		}
		if len(prefix) > schema.MaxTextSize {
			return nil, model.Errorf(model.Usage, "bad_value",
				"prefix of %d bytes: expected at most %d", len(prefix), schema.MaxTextSize)
		}
		l, err := q.list(p, "texts", index, prefix)
		if err != nil {
			return nil, err
		}
		rows, next, err := q.texts(l, x, []byte(prefix))
		if err != nil {
			return nil, err
		}
		keys := make([][]byte, len(rows))
		for i, r := range rows {
			keys[i] = r.birth.AppendTo(nil, x.Kind.HasOrdinal())
		}
		values, err := q.Many(x.Family(schema.IndexValue), keys)
		if err != nil {
			return nil, err
		}
		for i, v := range values {
			rows[i].value = v
		}
		a := &ValuesAnswer{Index: index, Prefix: prefix, Count: q.Totals.Rows[x.Family(schema.IndexValue)], Next: next}
		a.Values, err = q.valueAnswers(x, rows)
		return a, err
	})
}

// texts reads a page of the values whose texts begin with prefix. The value of a row is the key of its text.
func (q *Query) texts(l *list, x *schema.Index, prefix []byte) ([]birthRow, *string, error) {
	from, to := prefix, schema.PrefixEnd(prefix)
	c, err := l.cursor(anySize)
	if err != nil {
		return nil, nil, err
	}
	if c != nil {
		_, birth, err := schema.ParseTextKey(x, c.position)
		if err != nil {
			return nil, nil, model.Errorf(model.Usage, "bad_cursor", "cursor %q is damaged", l.After)
		}
		if err := l.checkBlock(c, birth.Utxo.Height()); err != nil {
			return nil, nil, err
		}
		if l.Descending {
			to = c.position
		} else {
			from = append(c.position, 0)
		}
	}
	rows := func(yield func(birthRow, error) bool) {
		for kv, err := range q.R.Scan(x.Family(schema.IndexText), from, to, l.Descending) {
			var row birthRow
			if err == nil {
				var text []byte
				text, row.birth, err = schema.ParseTextKey(x, kv.Key)
				if err == nil && !bytes.HasPrefix(text, prefix) {
					continue // the key matches the prefix beyond the end of its text
				}
				row.value = slices.Clone(kv.Key)
			}
			if !yield(row, err) {
				return
			}
		}
	}
	return page(l, rows, func(r *birthRow) position { return position{r.birth.Utxo.Height(), r.value} })
}

// Assets returns a page of all assets, in the order of first occurrence or its reverse. It reads a few rows per
// asset.
func (qs Queries) Assets(ctx context.Context, p Page) (*AssetsAnswer, error) {
	return read(ctx, qs, func(q *Query) (*AssetsAnswer, error) {
		l, err := q.list(p, "assets")
		if err != nil {
			return nil, err
		}
		rows, next, err := q.births(l, schema.FamilyAssetID, true)
		if err != nil {
			return nil, err
		}
		births, ids := make([]model.AssetBirthPk, len(rows)), make([][]byte, len(rows))
		for i, r := range rows {
			births[i], ids[i] = model.AssetBirthPk{Utxo: r.birth.Utxo, Index: r.birth.Ordinal}, r.value
		}
		a := &AssetsAnswer{Count: q.Totals.Rows[schema.FamilyAssetID], Next: next}
		a.Assets, err = q.assets(births, ids)
		return a, err
	})
}
