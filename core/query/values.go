package query

import (
	"bytes"
	"context"
	"slices"

	"birthmark/core/schema"
	"birthmark/model"
	"birthmark/storage"
)

// Values returns a page of the values of an index, in the order of first occurrence or its reverse.
func (ask Queries) Values(ctx context.Context, index string, p Page) (a *ValuesAnswer, err error) {
	err = ask.From(ctx, func(q *Query) error {
		x, err := q.Index(index)
		if err != nil {
			return err
		}
		family, wide := x.Family(schema.IndexValue), x.Kind.HasOrdinal()
		a = &ValuesAnswer{Index: index, Count: q.Totals.Rows[family]}
		keys, values, next, err := q.births(family, schema.PointerSize(wide), cursorScope("values", index, order(p.Descending)), p)
		if err != nil {
			return err
		}
		a.Next = next
		births := make([]model.BirthPk, len(keys))
		for i, key := range keys {
			if births[i], err = model.ParseBirthPk(key, wide); err != nil {
				return err
			}
		}
		a.Values, err = q.valueAnswers(x, births, values)
		return err
	})
	return a, err
}

// valueAnswers returns the answers for values of an index with their births.
func (q *Query) valueAnswers(x *schema.Index, births []model.BirthPk, values [][]byte) ([]ValueAnswer, error) {
	txs := make([]model.TxPk, len(births))
	for i, b := range births {
		txs[i] = b.Utxo.Tx()
	}
	hashes, err := q.Hashes(txs)
	answers := make([]ValueAnswer, len(births))
	for i, b := range births {
		answers[i] = ValueAnswer{x.Format(values[i]), FirstSeenAnswer{hashes[b.Utxo.Tx()], b.Utxo.Index(), uint32(b.Utxo.Height())}}
	}
	return answers, err
}

// ValuesByText returns a page of the values of an index whose texts begin with prefix, in byte order of the texts or
// its reverse. Only the first 255 bytes of a text count; ties are in the order of first occurrence. It reads only the
// rows of the page. It returns a Usage error if the index does not store texts (not_kept; feature prefix) or if the
// prefix is longer than 255 bytes (bad_value).
func (ask Queries) ValuesByText(ctx context.Context, index, prefix string, p Page) (a *ValuesAnswer, err error) {
	err = ask.From(ctx, func(q *Query) error {
		x, err := q.Index(index)
		if err != nil {
			return err
		}
		if !x.Active.Has(schema.FeaturePrefix) {
			return model.Errorf(model.Usage, "not_kept", "index %s does not keep its values in the order of their texts: set prefix: true for it, and run birthmark index add %s", index, index)
		}
		if len(prefix) > schema.MaxTextSize {
			return model.Errorf(model.Usage, "bad_value", "prefix of %d bytes: expected %d at most", len(prefix), schema.MaxTextSize)
		}
		births, next, err := q.texts(x, []byte(prefix), p)
		if err != nil {
			return err
		}
		a = &ValuesAnswer{Index: index, Prefix: prefix, Count: q.Totals.Rows[x.Family(schema.IndexValue)], Next: next}
		keys := make([][]byte, len(births))
		for i, b := range births {
			keys[i] = b.AppendTo(nil, x.Kind.HasOrdinal())
		}
		values, err := q.many(x.Family(schema.IndexValue), keys)
		if err != nil {
			return err
		}
		a.Values, err = q.valueAnswers(x, births, values)
		return err
	})
	return a, err
}

// texts returns a page of the births of values whose texts begin with prefix.
func (q *Query) texts(x *schema.Index, prefix []byte, p Page) (births []model.BirthPk, next *string, err error) {
	limit, err := p.limit()
	if err != nil {
		return nil, nil, err
	}
	list := cursorScope("texts", x.Name, string(prefix), order(p.Descending))
	position, err := q.afterText(x, p, list)
	if err != nil {
		return nil, nil, err
	}
	from, to := prefix, schema.PrefixEnd(prefix)
	switch {
	case position == nil:
	case p.Descending:
		to = position
	default:
		from = append(position, 0)
	}
	var last []byte
	for kv, err := range q.R.Scan(x.Family(schema.IndexText), from, to, p.Descending) {
		if err != nil {
			return nil, nil, err
		}
		text, birth, err := schema.ParseTextKey(x, kv.Key)
		if err != nil {
			return nil, nil, err
		}
		if !bytes.HasPrefix(text, prefix) { // the key matches the prefix beyond the end of its text
			continue
		}
		if len(births) == limit {
			next, err = q.next(list, births[limit-1].Utxo.Height(), last)
			return births, next, err
		}
		births, last = append(births, birth), append(last[:0], kv.Key...)
	}
	return births, nil, nil
}

// afterText returns the key after which a page starts, or nil for the first page.
func (q *Query) afterText(x *schema.Index, p Page, list [8]byte) ([]byte, error) {
	c, err := q.cursor(p, list, anySize)
	if c == nil || err != nil {
		return nil, err
	}
	_, birth, err := schema.ParseTextKey(x, c.position)
	if err != nil {
		return nil, model.Errorf(model.Usage, "bad_cursor", "cursor %q is damaged", p.After)
	}
	return c.position, q.stands(p, c, birth.Utxo.Height())
}

// Assets returns a page of all assets, in the order of first occurrence or its reverse. It reads a few rows per
// asset.
func (ask Queries) Assets(ctx context.Context, p Page) (a *AssetsAnswer, err error) {
	err = ask.From(ctx, func(q *Query) error {
		a = &AssetsAnswer{Count: q.Totals.Rows[schema.FamilyAssetID]}
		keys, ids, next, err := q.births(schema.FamilyAssetID, model.PkOrdinalSize, cursorScope("assets", order(p.Descending)), p)
		if err != nil {
			return err
		}
		a.Next = next
		births := make([]model.AssetBirthPk, len(keys))
		for i, key := range keys {
			if births[i], err = model.ParseAssetBirthPk(key); err != nil {
				return err
			}
		}
		a.Assets, err = q.assets(births, ids)
		return err
	})
	return a, err
}

// births returns a page of a family whose keys are births of size bytes.
func (q *Query) births(f storage.Family, size int, list [8]byte, p Page) (keys, values [][]byte, next *string, err error) {
	limit, err := p.limit()
	if err != nil {
		return nil, nil, nil, err
	}
	position, err := q.after(p, list, size)
	if err != nil {
		return nil, nil, nil, err
	}
	from, to := schema.Between(nil, position, p.Descending)
	for kv, err := range q.R.Scan(f, from, to, p.Descending) {
		if err != nil {
			return nil, nil, nil, err
		}
		if len(keys) == limit {
			last := keys[limit-1]
			pk, err := model.ParseUtxoPk(last[:model.PkSize])
			if err != nil {
				return nil, nil, nil, err
			}
			next, err = q.next(list, pk.Height(), last)
			return keys, values, next, err
		}
		keys, values = append(keys, slices.Clone(kv.Key)), append(values, slices.Clone(kv.Value))
	}
	return keys, values, nil, nil
}
