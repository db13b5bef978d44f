package core

import (
	"context"
	"iter"
	"math/big"
	"slices"

	"birthmark/model"
)

// holdersIndex is the index whose values are an asset's holders.
const holdersIndex = "address"

// assetOccurrences yields the asset entries of an asset, in order.
func (q *query) assetOccurrences(birth model.AssetBirthPk) iter.Seq2[model.AssetPk, error] {
	return func(yield func(model.AssetPk, error) bool) {
		if !yield(model.AssetPk(birth), nil) {
			return
		}
		prefix := birth.AppendTo(nil)
		for kv, err := range q.r.Scan(familyAssetRelations, prefix, after(prefix), false) {
			at := model.AssetPk{}
			if err == nil {
				_, at, err = parseAssetRelationKey(kv.Key)
			}
			if !yield(at, err) || err != nil {
				return
			}
		}
	}
}

// holding of an asset by one output.
type assetHolding struct {
	pk      model.UtxoPk
	amount  uint64
	unspent bool
	holder  *model.BirthPk // of the output's address; nil where it has none
}

// assetHoldings visits every entry of an asset.
func (q *query) assetHoldings(birth model.AssetBirthPk, visit func(assetHolding)) error {
	holders := q.indexByName(holdersIndex)
	for batch, err := range batches(q.ctx, q.assetOccurrences(birth), occurrenceBatch) {
		if err != nil {
			return err
		}
		keys := make([][]byte, len(batch))
		for i, at := range batch {
			keys[i] = at.Utxo.AppendTo(nil)
		}
		entries, err := q.many(familyAssets, keys)
		if err != nil {
			return err
		}
		outputs, err := q.many(familyUtxo, keys)
		if err != nil {
			return err
		}
		spent, err := q.r.GetMany(familySpentInput, keys)
		if err != nil {
			return err
		}
		for i, at := range batch {
			es, err := parseAssetsRow(at.Utxo, entries[i])
			if err != nil {
				return err
			}
			row, err := q.parseUtxoRow(at.Utxo, outputs[i])
			if err != nil {
				return err
			}
			if int(at.Index) >= len(es) {
				return errRow
			}
			h := assetHolding{pk: at.Utxo, amount: es[at.Index].amount, unspent: spent[i] == nil}
			for _, o := range row.occurrences {
				if o.index == holders {
					h.holder = &o.birth
				}
			}
			visit(h)
		}
	}
	return nil
}

// Asset is the totals of an asset. It reads every entry of the asset.
func (db *DB) Asset(ctx context.Context, id string) (a *AssetAnswer, err error) {
	err = db.ask(ctx, func(q *query) error {
		raw, birth, err := q.asset(id)
		if err != nil {
			return err
		}
		a = &AssetAnswer{Asset: db.chain.FormatAsset(raw)}
		if a.FirstSeen, err = q.firstSeen(birth.Utxo); err != nil {
			return err
		}
		minted, burned := new(big.Int), new(big.Int)
		prefix := birth.AppendTo(nil)
		for kv, err := range q.r.Scan(familyAssetSupply, prefix, after(prefix), false) {
			if err != nil {
				return err
			}
			amount, err := parseSupplyRow(kv.Value)
			if err != nil {
				return err
			}
			if amount.Sign() > 0 {
				minted.Add(minted, amount)
				a.MintCount++
			} else {
				burned.Sub(burned, amount)
				a.BurnCount++
			}
		}
		a.Minted, a.Burned, a.Supply = minted.String(), burned.String(), new(big.Int).Sub(minted, burned).String()
		holders := map[model.BirthPk]bool{}
		last := model.UtxoPk(1<<64 - 1)
		err = q.assetHoldings(birth, func(h assetHolding) {
			if h.unspent && h.holder != nil {
				holders[*h.holder] = true
			}
			if h.pk == last {
				return // a further entry of the same output
			}
			last = h.pk
			a.OutputCount++
			if h.unspent {
				a.UnspentCount++
			}
		})
		if q.indexByName(holdersIndex) != nil {
			n := uint64(len(holders))
			a.HolderCount = &n
		}
		return err
	})
	return a, err
}

// AssetEvents is a page of an asset's mints and burns.
func (db *DB) AssetEvents(ctx context.Context, id string, p Page) (a *AssetEventsAnswer, err error) {
	err = db.ask(ctx, func(q *query) error {
		limit, err := p.limit()
		if err != nil {
			return err
		}
		raw, birth, err := q.asset(id)
		if err != nil {
			return err
		}
		list := question("asset-events", string(raw), order(p.Descending))
		position, err := q.after(p, list, model.PkSize)
		if err != nil {
			return err
		}
		prefix := birth.AppendTo(nil)
		from, to := prefix, after(prefix)
		if position != nil && p.Descending {
			to = slices.Concat(prefix, position)
		} else if position != nil {
			from = append(slices.Concat(prefix, position), 0)
		}
		a = &AssetEventsAnswer{Asset: db.chain.FormatAsset(raw), Events: []AssetEventAnswer{}}
		var txs []model.TxPk
		for kv, err := range q.r.Scan(familyAssetSupply, from, to, p.Descending) {
			if err != nil {
				return err
			}
			if len(txs) == limit {
				last := txs[limit-1]
				if a.Next, err = q.next(list, last.Height(), last.AppendTo(nil)); err != nil {
					return err
				}
				break
			}
			_, tx, err := parseSupplyKey(kv.Key)
			if err != nil {
				return err
			}
			amount, err := parseSupplyRow(kv.Value)
			if err != nil {
				return err
			}
			action := "mint"
			if amount.Sign() < 0 {
				action = "burn"
			}
			txs = append(txs, tx)
			a.Events = append(a.Events, AssetEventAnswer{Height: uint32(tx.Height()), Index: q.txIndex(tx), Action: action, Amount: amount.String()})
		}
		hashes, err := q.hashes(slices.Clone(txs))
		for i, tx := range txs {
			a.Events[i].Tx = hashes[tx]
		}
		return err
	})
	return a, err
}

// AssetHolders is a page of the addresses that hold an asset and how much, in the order in which the addresses first
// occurred. It reads every entry of the asset.
func (db *DB) AssetHolders(ctx context.Context, id string, p Page) (a *AssetHoldersAnswer, err error) {
	err = db.ask(ctx, func(q *query) error {
		limit, err := p.limit()
		if err != nil {
			return err
		}
		raw, birth, err := q.asset(id)
		if err != nil {
			return err
		}
		x, err := q.index(holdersIndex)
		if err != nil {
			return err
		}
		list := question("asset-holders", string(raw), order(p.Descending))
		position, err := q.after(p, list, model.PkSize)
		if err != nil {
			return err
		}
		held := map[model.BirthPk]*big.Int{}
		err = q.assetHoldings(birth, func(h assetHolding) {
			if !h.unspent || h.holder == nil {
				return
			}
			n, ok := held[*h.holder]
			if !ok {
				n = new(big.Int)
				held[*h.holder] = n
			}
			n.Add(n, new(big.Int).SetUint64(h.amount))
		})
		if err != nil {
			return err
		}
		births := make([]model.UtxoPk, 0, len(held))
		for b := range held {
			births = append(births, b.Utxo)
		}
		slices.Sort(births)
		if p.Descending {
			slices.Reverse(births)
		}
		if position != nil {
			last, err := model.ParseUtxoPk(position)
			if err != nil {
				return err
			}
			births = slices.DeleteFunc(births, func(b model.UtxoPk) bool { return (b <= last) != p.Descending || b == last })
		}
		a = &AssetHoldersAnswer{Asset: db.chain.FormatAsset(raw), Holders: []HolderAnswer{}}
		if len(births) > limit {
			births = births[:limit]
			last := births[limit-1]
			if a.Next, err = q.next(list, last.Height(), last.AppendTo(nil)); err != nil {
				return err
			}
		}
		values, err := q.many(x.family(indexValue), keysOf(births))
		for i, v := range values {
			a.Holders = append(a.Holders, HolderAnswer{x.Format(v), held[model.BirthPk{Utxo: births[i]}].String()})
		}
		return err
	})
	return a, err
}
