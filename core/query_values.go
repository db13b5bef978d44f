package core

import (
	"context"
	"slices"

	"birthmark/model"
	"birthmark/storage"
)

// Values is a page of the values of an index, in the order in which they first occurred or the other way round.
func (db *DB) Values(ctx context.Context, index string, p Page) (a *ValuesAnswer, err error) {
	err = db.ask(ctx, func(q *query) error {
		x, err := q.index(index)
		if err != nil {
			return err
		}
		family, wide := x.family(indexValue), x.Kind.Wide()
		a = &ValuesAnswer{Index: index, Count: q.totals.rows[family], Values: []ValueAnswer{}}
		keys, values, next, err := q.births(family, pointerSize(wide), question("values", index, order(p.Descending)), p)
		if err != nil {
			return err
		}
		a.Next = next
		births := make([]model.BirthPk, len(keys))
		txs := make([]model.TxPk, len(keys))
		for i, key := range keys {
			if births[i], err = model.ParseBirthPk(key, wide); err != nil {
				return err
			}
			txs[i] = births[i].Utxo.Tx()
		}
		hashes, err := q.hashes(txs)
		for i, b := range births {
			a.Values = append(a.Values, ValueAnswer{x.Format(values[i]), FirstSeenAnswer{hashes[b.Utxo.Tx()], b.Utxo.Index(), uint32(b.Utxo.Height())}})
		}
		return err
	})
	return a, err
}

// Assets is a page of all assets, in the order in which they first occurred or the other way round. It reads a few rows of each.
func (db *DB) Assets(ctx context.Context, p Page) (a *AssetsAnswer, err error) {
	err = db.ask(ctx, func(q *query) error {
		a = &AssetsAnswer{Count: q.totals.rows[familyAssetID]}
		keys, ids, next, err := q.births(familyAssetID, model.WidePkSize, question("assets", order(p.Descending)), p)
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

// births is a page of a family whose keys are births, of size bytes.
func (q *query) births(f storage.Family, size int, list [8]byte, p Page) (keys, values [][]byte, next *string, err error) {
	limit, err := p.limit()
	if err != nil {
		return nil, nil, nil, err
	}
	position, err := q.after(p, list, size)
	if err != nil {
		return nil, nil, nil, err
	}
	from, to := between(nil, position, p.Descending)
	for kv, err := range q.r.Scan(f, from, to, p.Descending) {
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
