package core

import (
	"container/heap"
	"context"
	"iter"
	"math/big"
	"slices"
	"strconv"

	"birthmark/model"
)

// Balance is the totals of a value, assets included. Without a family of its own it reads every output of the value.
func (db *DB) Balance(ctx context.Context, index, value string) (a *BalanceAnswer, err error) {
	err = db.ask(ctx, func(q *query) error {
		x, raw, birth, err := q.value(index, value)
		if err != nil {
			return err
		}
		b := balance{assets: map[model.AssetBirthPk]*big.Int{}}
		for batch, err := range batches(ctx, q.occurrences(x, birth, everywhere, false), occurrenceBatch) {
			if err == nil {
				err = q.addTo(&b, batch)
			}
			if err != nil {
				return err
			}
		}
		a = &BalanceAnswer{
			Index: index, Value: x.Format(raw), Balance: new(big.Int).Sub(&b.received, &b.sent).String(),
			Received: b.received.String(), Sent: b.sent.String(),
			TxCount: b.txCount(), OutputCount: b.outputs, UnspentCount: b.unspent, Assets: []AssetBalanceAnswer{},
		}
		births := make([]model.AssetBirthPk, 0, len(b.assets))
		for birth := range b.assets {
			births = append(births, birth)
		}
		slices.SortFunc(births, compareAssetBirths)
		ids, err := q.assetIDs(births)
		if err != nil {
			return err
		}
		for _, birth := range births {
			a.Assets = append(a.Assets, AssetBalanceAnswer{ids[birth], b.assets[birth].String()})
		}
		return nil
	})
	return a, err
}

type balance struct {
	received, sent   big.Int
	outputs, unspent uint64
	txs              []model.TxPk // with repetitions
	assets           map[model.AssetBirthPk]*big.Int
}

func (b *balance) txCount() uint64 {
	slices.Sort(b.txs)
	return uint64(len(slices.Compact(b.txs)))
}

// addTo adds outputs to a balance.
func (q *query) addTo(b *balance, pks []model.UtxoPk) error {
	keys := keysOf(pks)
	rows, err := q.many(familyUtxo, keys)
	if err != nil {
		return err
	}
	spent, err := q.r.GetMany(familySpentInput, keys)
	if err != nil {
		return err
	}
	var held [][]byte
	v := new(big.Int)
	for i, pk := range pks {
		value, err := parseUtxoValue(rows[i])
		if err != nil {
			return err
		}
		v.SetUint64(value)
		b.received.Add(&b.received, v)
		b.outputs++
		if n := len(b.txs); n == 0 || b.txs[n-1] != pk.Tx() {
			b.txs = append(b.txs, pk.Tx())
		}
		if spent[i] == nil {
			b.unspent++
			held = append(held, keys[i])
			continue
		}
		input, err := model.ParseInputPk(spent[i])
		if err != nil {
			return err
		}
		b.sent.Add(&b.sent, v)
		b.txs = append(b.txs, input.Tx())
	}
	if q.totals.assets == 0 {
		return nil
	}
	assets, err := q.r.GetMany(familyAssets, held)
	if err != nil {
		return err
	}
	for i, row := range assets {
		pk, err := model.ParseUtxoPk(held[i])
		if err != nil {
			return err
		}
		entries, err := parseAssetsRow(pk, row)
		if err != nil {
			return err
		}
		for _, e := range entries {
			n, ok := b.assets[e.birth]
			if !ok {
				n = new(big.Int)
				b.assets[e.birth] = n
			}
			n.Add(n, v.SetUint64(e.amount))
		}
	}
	return nil
}

// Richest is the values of an index that hold most, ties in the order of their births. It reads every output, and
// holds every value that has an unspent one.
func (db *DB) Richest(ctx context.Context, index string, limit int) (a *RichestAnswer, err error) {
	err = db.ask(ctx, func(q *query) error {
		x, err := q.index(index)
		if err != nil {
			return err
		}
		if limit, err = (Page{Limit: limit}).limit(); err != nil {
			return err
		}
		held := map[model.BirthPk]*holding{}
		err = q.eachUnspent(func(pk model.UtxoPk, row []byte) error {
			r, err := q.parseUtxoRow(pk, row)
			if err != nil {
				return err
			}
			for _, o := range r.occurrences {
				if o.index != x {
					continue
				}
				h := held[o.birth]
				if h == nil {
					h = &holding{birth: o.birth}
					held[o.birth] = h
				}
				h.value += r.value
				h.outputs++
			}
			return nil
		})
		if err != nil {
			return err
		}
		var top richest
		for _, h := range held {
			if heap.Push(&top, h); len(top) > limit {
				heap.Pop(&top)
			}
		}
		slices.SortFunc(top, func(a, b *holding) int { return b.compare(a) })
		a = &RichestAnswer{Index: index, Values: []RichestValueAnswer{}}
		for _, h := range top {
			v, err := q.many(x.family(indexValue), [][]byte{h.birth.AppendTo(nil, x.Kind.Wide())})
			if err != nil {
				return err
			}
			a.Values = append(a.Values, RichestValueAnswer{x.Format(v[0]), strconv.FormatUint(h.value, 10), h.outputs})
		}
		return nil
	})
	return a, err
}

// holding is what a value holds. The sum of unspent values fits 64 bits, so that of any part does.
type holding struct {
	birth          model.BirthPk
	value, outputs uint64
}

// compare is negative where h is poorer than o.
func (h *holding) compare(o *holding) int {
	switch {
	case h.value != o.value:
		if h.value < o.value {
			return -1
		}
		return 1
	case h.birth == o.birth:
		return 0
	case h.birth.Utxo > o.birth.Utxo || (h.birth.Utxo == o.birth.Utxo && h.birth.Ordinal > o.birth.Ordinal):
		return -1
	}
	return 1
}

// richest is a heap with the poorest on top.
type richest []*holding

func (r richest) Len() int           { return len(r) }
func (r richest) Less(i, j int) bool { return r[i].compare(r[j]) < 0 }
func (r richest) Swap(i, j int)      { r[i], r[j] = r[j], r[i] }
func (r *richest) Push(v any)        { *r = append(*r, v.(*holding)) }
func (r *richest) Pop() any {
	last := len(*r) - 1
	v := (*r)[last]
	*r = (*r)[:last]
	return v
}

// eachUnspent visits every unspent output: outputs and spends are walked side by side, both are in the same order.
func (q *query) eachUnspent(visit func(pk model.UtxoPk, row []byte) error) error {
	next, stop := iter.Pull2(q.r.Scan(familySpentInput, nil, nil, false))
	defer stop()
	spent, err, more := next()
	n := 0
	for kv, scanErr := range q.r.Scan(familyUtxo, nil, nil, false) {
		if scanErr != nil {
			return scanErr
		}
		if n++; n%checkBatch == 0 && q.ctx.Err() != nil {
			return q.ctx.Err()
		}
		for more && err == nil && string(spent.Key) < string(kv.Key) {
			spent, err, more = next()
		}
		if err != nil {
			return err
		}
		if more && string(spent.Key) == string(kv.Key) {
			continue
		}
		pk, err := model.ParseUtxoPk(kv.Key)
		if err != nil {
			return err
		}
		if err := visit(pk, kv.Value); err != nil {
			return err
		}
	}
	return nil
}
