package query

import (
	"context"
	"fmt"
	"maps"
	"math/big"
	"slices"

	"birthmark/core/query/pointers"
	"birthmark/core/query/setops"
	"birthmark/core/schema"
	"birthmark/model"
	"birthmark/storage"
)

// Balance returns the totals of a value, assets included. All totals are zero if no output has the value, because most
// values that a wallet queries were never used. It reads a few rows if the index stores balances, else every output of
// the value.
func (qs Queries) Balance(ctx context.Context, index, value string) (*BalanceAnswer, error) {
	return read(ctx, qs, func(q *Query) (*BalanceAnswer, error) {
		h, err := q.holder(index, value)
		if err != nil {
			return nil, err
		}
		return q.balanceAnswer(h, setops.Everywhere.Last)
	})
}

// balanceAnswer returns the totals of values after the block whose last position is last, or zeros if none occurs.
func (q *Query) balanceAnswer(h *holder, last model.UtxoPk) (*BalanceAnswer, error) {
	var b *balance
	var err error
	derived := h.answer(true)
	switch first := h.first(); {
	case first == nil || *first > last:
		b = new(balance)
	case h.wallet != nil:
		b, derived.Used, err = q.walletBalance(h, last)
	case last < q.LastPk(q.Tip.Height):
		b, err = q.balanceUntil(h.index, h.births[0], last)
	case h.index.Active.Has(schema.FeatureBalance):
		b, err = q.storedBalance(h.index, h.births[0])
	default:
		b, err = q.computedBalance(h.index, h.births[0], last)
	}
	if err != nil {
		return nil, err
	}
	a := &BalanceAnswer{
		Index: h.index.Name, Value: h.text, Derived: derived, Balance: new(big.Int).Sub(&b.received, &b.sent).String(),
		Received: b.received.String(), Sent: b.sent.String(),
		TxCount: b.txCount, OutputCount: b.outputs, Assets: []AssetBalanceAnswer{},
	}
	if !b.unknownUnspent {
		a.UnspentCount = &b.unspent
	}
	if h.value != nil && last >= q.LastPk(q.Tip.Height) {
		if a.OutputTypes, err = q.outputTypes(h.index, h.value, b.outputs); err != nil {
			return nil, err
		}
	}
	births := slices.SortedFunc(maps.Keys(b.assets), schema.CompareAssetBirths)
	ids, err := q.AssetIDs(births)
	if err != nil {
		return nil, err
	}
	for _, birth := range births {
		if b.assets[birth].Sign() == 0 {
			continue
		}
		a.Assets = append(a.Assets, AssetBalanceAnswer{ids[birth], b.assets[birth].String()})
	}
	return a, nil
}

// outputTypes returns the types of the outputs of a value if they can be of two types: another index counts those of the
// first. It is nil if the indexes do not store the totals.
func (q *Query) outputTypes(x *schema.Index, value []byte, outputs uint64) (types []OutputTypeAnswer, err error) {
	if x.Forms == nil || outputs == 0 || !x.Active.Has(schema.FeatureBalance) {
		return nil, nil
	}
	forms := x.Forms(value)
	if len(forms) != 2 {
		return nil, nil
	}
	for _, other := range q.Layout.Indexes {
		if !slices.Contains(forms[0].Own, other.Name) || !other.Active.Has(schema.FeatureBalance) {
			continue
		}
		_, _, birth, err := q.Value(other.Name, forms[0].Keys[other.Name])
		var first schema.Account
		if err == nil && birth != nil {
			first, err = q.Account(other, *birth)
		}
		if err != nil {
			return nil, err
		}
		for i, n := range []uint64{uint64(first.Outputs), outputs - uint64(first.Outputs)} {
			if n > 0 {
				types = append(types, OutputTypeAnswer{forms[i].Name, n})
			}
		}
		return types, nil
	}
	return nil, nil
}

// accounts returns the totals of values, without assets, of an index that stores balances.
func (q *Query) accounts(x *schema.Index, births []model.BirthPk) ([]schema.Account, error) {
	keys, all := make([][]byte, len(births)), make([]schema.Account, len(births))
	for i, birth := range births {
		keys[i] = birth.AppendTo(nil, x.Kind.HasOrdinal())
	}
	rows, err := q.Many(x.Family(schema.IndexBalance), keys)
	for i := range rows {
		if all[i], err = schema.ParseAccountRow(rows[i]); err != nil {
			return nil, fmt.Errorf("balance of the value of %s born at %v: %w", x.Name, births[i], err)
		}
	}
	return all, err
}

// Account returns the totals of a value, without assets, of an index that stores balances.
func (q *Query) Account(x *schema.Index, birth model.BirthPk) (a schema.Account, err error) {
	l := q.NewLoad()
	loadAccount(l, x, birth, &a)
	return a, l.Read()
}

func loadAccount(l *pointers.Load, x *schema.Index, birth model.BirthPk, a *schema.Account) {
	key := birth.AppendTo(nil, x.Kind.HasOrdinal())
	l.Rows(x.Family(schema.IndexBalance), [][]byte{key}, func(rows [][]byte) (err error) {
		if *a, err = schema.ParseAccountRow(rows[0]); err != nil {
			err = fmt.Errorf("balance of the value of %s born at %v: %w", x.Name, birth, err)
		}
		return err
	})
}

// storedBalance reads the totals and the first assets together, and the other assets in order.
func (q *Query) storedBalance(x *schema.Index, birth model.BirthPk) (*balance, error) {
	l, key := q.NewLoad(), birth.AppendTo(nil, x.Kind.HasOrdinal())
	var row schema.Account
	loadAccount(l, x, birth, &row)
	var held []storage.KV
	l.Ranges(x.Family(schema.IndexHeld), []storage.Range{{From: key, To: schema.PrefixEnd(key), Limit: OccurrenceBatch}},
		func(rows [][]storage.KV) error { held = rows[0]; return nil })
	if err := l.Read(); err != nil {
		return nil, err
	}
	b := &balance{outputs: uint64(row.Outputs), unspent: uint64(row.Unspent), txCount: uint64(row.Txs), assets: map[model.AssetBirthPk]*big.Int{}}
	b.received, b.sent = *row.Received.Big(), *row.Sent.Big()
	for _, kv := range held {
		row, err := x.ParseHeldRow(kv.Key, kv.Value)
		if err != nil {
			return nil, err
		}
		b.assets[row.Asset] = row.Amount.Big()
	}
	if len(held) < OccurrenceBatch {
		return b, nil
	}
	if err := q.Pass(OccurrenceBatch); err != nil {
		return nil, err
	}
	from := append(held[len(held)-1].Key, 0)
	for row, err := range schema.Rows(q.R, x.Family(schema.IndexHeld), from, schema.PrefixEnd(key), false, x.ParseHeldRow) {
		if err != nil {
			return nil, err
		}
		if b.assets[row.Asset] = row.Amount.Big(); len(b.assets)%OccurrenceBatch == 0 {
			if err := q.Pass(OccurrenceBatch); err != nil {
				return nil, err
			}
		}
	}
	return b, nil
}

// computedBalance sums the outputs of a value, and the inputs that spend them, up to last.
func (q *Query) computedBalance(x *schema.Index, birth model.BirthPk, last model.UtxoPk) (*balance, error) {
	b := &balance{assets: map[model.AssetBirthPk]*big.Int{}}
	for batch, err := range q.batches(q.Occurrences(x, birth, setops.Span{Last: last}, false)) {
		if err == nil {
			err = q.addTo(b, batch, last)
		}
		if err != nil {
			return nil, err
		}
	}
	b.txCount = b.txs.count()
	return b, nil
}

type balance struct {
	received, sent   big.Int
	outputs, unspent uint64
	unknownUnspent   bool
	txCount          uint64
	txs              txSet // transactions counted in txCount
	assets           map[model.AssetBirthPk]*big.Int
}

func (q *Query) addTo(b *balance, pks []model.UtxoPk, last model.UtxoPk) error {
	values, spenders, err := q.AmountsAndSpenders(pks)
	if err != nil {
		return err
	}
	var unspent []model.UtxoPk
	v := new(big.Int)
	for i, pk := range pks {
		v.SetUint64(values[i])
		b.received.Add(&b.received, v)
		b.outputs++
		if i == 0 || pks[i-1].Tx() != pk.Tx() {
			b.txs.add(pk.Tx())
		}
		if spenders[i] == nil || model.UtxoPk(spenders[i].Tx()) > last {
			b.unspent++
			unspent = append(unspent, pk)
			continue
		}
		b.sent.Add(&b.sent, v)
		b.txs.add(spenders[i].Tx())
	}
	if q.Totals.Assets == 0 {
		return nil
	}
	return q.addAssets(b, unspent, 1)
}

// addAssets adds the assets of outputs to b, or subtracts them if sign is negative.
func (q *Query) addAssets(b *balance, pks []model.UtxoPk, sign int) error {
	entries, err := q.AssetEntries(pks)
	if err != nil {
		return err
	}
	v := new(big.Int)
	for _, e := range slices.Concat(entries...) {
		n, ok := b.assets[e.Birth]
		if !ok {
			n = new(big.Int)
			b.assets[e.Birth] = n
		}
		if v.Set(e.Amount.Big()); sign < 0 {
			v.Neg(v)
		}
		n.Add(n, v)
	}
	return nil
}
