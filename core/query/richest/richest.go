package richest

import (
	"cmp"
	"context"
	"iter"

	"birthmark/core/query"
	"birthmark/core/query/setops"
	"birthmark/core/schema"
	"birthmark/model"
)

// Of returns the values of an index with the highest balances, in the native coin or in an asset. Ties are in
// the order of first occurrence. For the coin, it reads the list that an index with balances keeps, or all balances
// until that list is built; without balances it reads every output and keeps every value with an unspent output in
// memory. For an asset, it reads the outputs that contained the asset.
func Of(ctx context.Context, qs query.Queries, index, asset string, limit int) (a *query.RichestAnswer, err error) {
	err = qs.From(ctx, func(read *query.Query) error {
		q := reader{read}
		x, err := q.Index(index)
		if err != nil {
			return err
		}
		top := setops.Top[holderAmount]{Before: holderAmount.before}
		if top.Limit, err = query.Limit(limit); err != nil {
			return err
		}
		counted := true
		a = &query.RichestAnswer{Index: index, Values: []query.RichestValueAnswer{}}
		if asset == "" {
			err = q.richest(x, &top)
		} else {
			var id []byte
			var birth model.AssetBirthPk
			if id, birth, err = q.Asset(asset); err == nil {
				a.Asset = q.Chain.FormatAsset(id)
				counted, err = q.richestOf(x, birth, &top)
			}
		}
		if err != nil {
			return err
		}
		holders := top.Sorted()
		births := make([][]byte, len(holders))
		for i, h := range holders {
			births[i] = h.birth.AppendTo(nil, x.Kind.HasOrdinal())
		}
		values, err := q.Many(x.Family(schema.IndexValue), births)
		for i, v := range values {
			r := query.RichestValueAnswer{Value: x.Format(v), Balance: holders[i].amount.String()}
			if counted {
				r.UnspentCount = &holders[i].outputs
			}
			a.Values = append(a.Values, r)
		}
		return err
	})
	return a, err
}

// reader reads one snapshot.
type reader struct{ *query.Query }

// richest adds the native-coin balance of every value to top.
func (q reader) richest(x *schema.Index, top *setops.Top[holderAmount]) error {
	if x.Active.Has(schema.FeatureBalance) {
		if kept, err := q.richestKept(x, top); kept || err != nil {
			return err
		}
		return q.richestStored(x, top)
	}
	held := map[model.BirthPk]*holderAmount{}
	err := q.eachUnspent(func(pk model.UtxoPk, row []byte) error {
		r, err := q.ParseUtxoRow(pk, row)
		if err != nil {
			return err
		}
		for _, o := range r.Occurrences {
			if o.Index == x {
				addAmount(held, o.Birth, model.Uint128Of(r.Value), 1)
			}
		}
		return nil
	})
	for _, h := range held {
		top.Offer(*h)
	}
	return err
}

func addAmount(held map[model.BirthPk]*holderAmount, birth model.BirthPk, amount model.Uint128, outputs uint64) {
	h := held[birth]
	if h == nil {
		h = &holderAmount{birth: birth}
		held[birth] = h
	}
	h.amount, _ = h.amount.Add(amount) // a supply fits 128 bits
	h.outputs += outputs
}

// CountedOutputs is the largest number of outputs with an asset that a rich list of its holders reads. Tests change it.
var CountedOutputs uint64 = 20_000

// richestOf adds the asset balance of every value to top. It reads the outputs that contained the asset; for holders of an
// asset with many outputs it reads the holdings instead, which have no numbers of outputs: then counted is false.
func (q reader) richestOf(x *schema.Index, asset model.AssetBirthPk, top *setops.Top[holderAmount]) (counted bool, err error) {
	if x == q.Layout.Holders() {
		rows, err := q.Many(schema.FamilyAssetTotals, [][]byte{asset.AppendTo(nil)})
		if err != nil {
			return false, err
		}
		totals, err := schema.ParseAssetTotalsRow(rows[0])
		if err != nil {
			return false, err
		}
		if totals.Outputs > CountedOutputs {
			return false, q.richestHolders(asset, top)
		}
	}
	return true, q.richestOutputs(x, asset, top)
}

// richestHolders adds the holdings of an asset to top.
func (q reader) richestHolders(asset model.AssetBirthPk, top *setops.Top[holderAmount]) error {
	from, to := schema.Between(asset.AppendTo(nil), nil, false)
	n := 0
	for row, err := range schema.Rows(q.R, schema.FamilyHoldings, from, to, false, schema.ParseHoldingRow) {
		if n++; err == nil && n%rowBatch == 0 {
			err = q.Pass(rowBatch)
		}
		if err != nil {
			return err
		}
		top.Offer(holderAmount{birth: row.Holder, amount: row.Amount})
	}
	return nil
}

// richestOutputs adds the asset balance of every value to top, computed from the outputs that contained the asset.
func (q reader) richestOutputs(x *schema.Index, asset model.AssetBirthPk, top *setops.Top[holderAmount]) error {
	held := map[model.BirthPk]*holderAmount{}
	for pks, err := range query.Batches(q.Query, q.AssetOccurrences(asset, setops.Everywhere, false), query.OccurrenceBatch, query.OccurrenceBatch) {
		if err != nil {
			return err
		}
		spenders, err := q.SpendersOf(pks)
		if err != nil {
			return err
		}
		rows, err := q.Many(schema.FamilyUtxo, schema.Keys(pks))
		if err != nil {
			return err
		}
		entries, err := q.AssetEntries(pks)
		if err != nil {
			return err
		}
		for i, pk := range pks {
			if spenders[i] != nil {
				continue
			}
			row, err := q.ParseUtxoRow(pk, rows[i])
			if err != nil {
				return err
			}
			for _, o := range row.Occurrences {
				if o.Index != x {
					continue
				}
				outputs := uint64(1) // counts the output once if it has several entries of the asset
				for _, e := range entries[i] {
					if e.Birth == asset {
						addAmount(held, o.Birth, e.Amount, outputs)
						outputs = 0
					}
				}
			}
		}
	}
	for _, h := range held {
		top.Offer(*h)
	}
	return nil
}

// holderAmount is the balance of a value and the number of unspent outputs that make it up.
type holderAmount struct {
	birth   model.BirthPk
	amount  model.Uint128
	outputs uint64
}

// before orders by amount, the highest first, then by birth.
func (h holderAmount) before(o holderAmount) bool {
	return cmp.Or(o.amount.Cmp(h.amount), schema.CompareBirths(h.birth, o.birth)) < 0
}

// Kept reports whether the index keeps a list of at least limit of the largest balances, so that the answer reads only
// as many rows.
func Kept(ctx context.Context, qs query.Queries, index string, limit int) (kept bool, err error) {
	err = qs.From(ctx, func(q *query.Query) error {
		x, err := q.Index(index)
		if err != nil || !x.Active.Has(schema.FeatureBalance) {
			return err
		}
		list, err := x.ReadRichest(q.R)
		kept = has(list, limit)
		return err
	})
	return kept, err
}

// has reports whether a list, nil for none, has the first limit values.
func has(list *schema.RichestList, limit int) bool {
	return list != nil && (list.Whole() || list.Count >= uint64(limit))
}

// richestKept adds the values of the kept list. It returns false if the list is missing or too short.
func (q reader) richestKept(x *schema.Index, top *setops.Top[holderAmount]) (bool, error) {
	list, err := x.ReadRichest(q.R)
	if err != nil || !has(list, top.Limit) {
		return false, err
	}
	from, to := schema.RichestRows()
	n := 0
	for kv, err := range q.R.Scan(x.Family(schema.IndexRichest), from, to, false) {
		if err != nil {
			return true, err
		}
		row, err := x.ParseRichestRow(kv.Key, kv.Value)
		if err != nil {
			return true, err
		}
		top.Offer(holderAmount{row.Birth, row.Balance.Unsigned(), row.Unspent})
		if n++; n == top.Limit {
			break
		}
	}
	return true, q.Pass(n)
}

// richestStored adds the stored balance of every value to top.
func (q reader) richestStored(x *schema.Index, top *setops.Top[holderAmount]) error {
	n := 0
	for kv, err := range q.R.Scan(x.Family(schema.IndexBalance), nil, nil, false) {
		if n++; err == nil && n%rowBatch == 0 {
			err = q.Pass(rowBatch)
		}
		var birth model.BirthPk
		if err == nil {
			birth, err = model.ParseBirthPk(kv.Key, x.Kind.HasOrdinal())
		}
		var row schema.Account
		if err == nil {
			row, err = schema.ParseAccountRow(kv.Value)
		}
		if err != nil {
			return err
		}
		if row.Unspent > 0 {
			top.Offer(holderAmount{birth, row.Balance().Unsigned(), uint64(row.Unspent)})
		}
	}
	return nil
}

// eachUnspent visits every unspent output. It merges the scans of outputs and spends, which have the same order.
func (q reader) eachUnspent(visit func(pk model.UtxoPk, row []byte) error) error {
	next, stop := iter.Pull2(q.R.Scan(schema.FamilySpentInput, nil, nil, false))
	defer stop()
	spent, err, more := next()
	n := 0
	for kv, scanErr := range q.R.Scan(schema.FamilyUtxo, nil, nil, false) {
		if scanErr != nil {
			return scanErr
		}
		if n++; n%rowBatch == 0 {
			if err := q.Pass(rowBatch); err != nil {
				return err
			}
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

// rowBatch is the number of rows between two checks of the context.
const rowBatch = 4096
