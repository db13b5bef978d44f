package query

import (
	"container/heap"
	"context"
	"iter"
	"slices"

	"birthmark/core/schema"
	"birthmark/model"
	"birthmark/storage"
)

// Richest returns the values of an index with the highest balances, in the native coin or in an asset. Ties are in
// the order of first occurrence. For the coin, it reads the stored balances if the index has them; otherwise it reads
// every output and keeps every value with an unspent output in memory. For an asset, it reads the outputs that
// contained the asset.
func (ask Queries) Richest(ctx context.Context, index, asset string, limit int) (a *RichestAnswer, err error) {
	err = ask.From(ctx, func(q *Query) error {
		x, err := q.Index(index)
		if err != nil {
			return err
		}
		if limit, err = (Page{Limit: limit}).limit(); err != nil {
			return err
		}
		top := topHolders{limit: limit}
		a = &RichestAnswer{Index: index, Values: []RichestValueAnswer{}}
		if asset == "" {
			err = q.richest(x, &top)
		} else {
			var id []byte
			var birth model.AssetBirthPk
			if id, birth, err = q.Asset(asset); err == nil {
				a.Asset = q.Chain.FormatAsset(id)
				err = q.richestOf(x, birth, &top)
			}
		}
		if err != nil {
			return err
		}
		slices.SortFunc(top.holdings, func(a, b *holderAmount) int { return b.compare(a) })
		births := make([][]byte, len(top.holdings))
		for i, h := range top.holdings {
			births[i] = h.birth.AppendTo(nil, x.Kind.HasOrdinal())
		}
		values, err := q.many(x.Family(schema.IndexValue), births)
		for i, v := range values {
			h := top.holdings[i]
			a.Values = append(a.Values, RichestValueAnswer{x.Format(v), h.amount.String(), h.outputs})
		}
		return err
	})
	return a, err
}

// richest adds the native-coin balance of every value to top.
func (q *Query) richest(x *schema.Index, top *topHolders) error {
	if x.Active.Has(schema.FeatureBalance) {
		return q.eachRow(x.Family(schema.IndexBalance), nil, func(key, value []byte) error {
			birth, err := model.ParseBirthPk(key, x.Kind.HasOrdinal())
			if err != nil {
				return err
			}
			row, err := schema.ParseAccountRow(value)
			if err == nil && row.Unspent > 0 {
				top.offer(holderAmount{birth, row.Received.Sub(row.Sent), uint64(row.Unspent)})
			}
			return err
		})
	}
	held := map[model.BirthPk]*holderAmount{}
	err := q.eachUnspent(func(pk model.UtxoPk, row []byte) error {
		r, err := q.ParseUtxoRow(pk, row)
		if err != nil {
			return err
		}
		for _, o := range r.Occurrences {
			if o.Index == x {
				addAmount(held, o.Birth, r.Value)
			}
		}
		return nil
	})
	top.offerAll(held)
	return err
}

func addAmount(held map[model.BirthPk]*holderAmount, birth model.BirthPk, amount uint64) {
	h := held[birth]
	if h == nil {
		h = &holderAmount{birth: birth}
		held[birth] = h
	}
	h.amount = h.amount.Add(schema.Int128Of(amount, 1))
	h.outputs++
}

// richestOf adds the asset balance of every value to top, computed from the outputs that contained the asset.
func (q *Query) richestOf(x *schema.Index, asset model.AssetBirthPk, top *topHolders) error {
	held := map[model.BirthPk]*holderAmount{}
	for pks, err := range batches(q, q.AssetOccurrences(asset, everywhere, false), OccurrenceBatch) {
		if err != nil {
			return err
		}
		keys := schema.Keys(pks)
		spent, err := q.R.GetMany(schema.FamilySpentInput, keys)
		if err != nil {
			return err
		}
		utxos, err := q.many(schema.FamilyUtxo, keys)
		if err != nil {
			return err
		}
		assets, err := q.many(schema.FamilyAssets, keys)
		if err != nil {
			return err
		}
		for i, pk := range pks {
			if spent[i] != nil {
				continue
			}
			row, err := q.ParseUtxoRow(pk, utxos[i])
			if err != nil {
				return err
			}
			entries, err := schema.ParseAssetsRow(pk, assets[i])
			if err != nil {
				return err
			}
			for _, o := range row.Occurrences {
				if o.Index != x {
					continue
				}
				first := true
				for _, e := range entries {
					if e.Birth != asset {
						continue
					}
					addAmount(held, o.Birth, e.Amount)
					if !first {
						held[o.Birth].outputs--
					}
					first = false
				}
			}
		}
	}
	top.offerAll(held)
	return nil
}

// holderAmount is the balance of a value and the number of unspent outputs that make it up.
type holderAmount struct {
	birth   model.BirthPk
	amount  schema.Int128
	outputs uint64
}

// compare returns a negative number if h ranks below o.
func (h *holderAmount) compare(o *holderAmount) int {
	if c := h.amount.Cmp(o.amount); c != 0 {
		return c
	}
	return -schema.CompareBirths(h.birth, o.birth)
}

// topHolders holds the highest balances, as a heap with the lowest at the root.
type topHolders struct {
	limit    int
	holdings []*holderAmount
}

func (r *topHolders) Len() int           { return len(r.holdings) }
func (r *topHolders) Less(i, j int) bool { return r.holdings[i].compare(r.holdings[j]) < 0 }
func (r *topHolders) Swap(i, j int)      { r.holdings[i], r.holdings[j] = r.holdings[j], r.holdings[i] }
func (r *topHolders) Push(v any)         { r.holdings = append(r.holdings, v.(*holderAmount)) }
func (r *topHolders) Pop() any {
	last := len(r.holdings) - 1
	v := r.holdings[last]
	r.holdings = r.holdings[:last]
	return v
}

func (r *topHolders) offer(h holderAmount) {
	if len(r.holdings) == r.limit {
		if h.compare(r.holdings[0]) < 0 {
			return
		}
		*r.holdings[0] = h
		heap.Fix(r, 0)
		return
	}
	heap.Push(r, &h)
}

func (r *topHolders) offerAll(held map[model.BirthPk]*holderAmount) {
	for _, h := range held {
		r.offer(*h)
	}
}

// eachRow visits the rows of a family whose keys begin with prefix.
func (q *Query) eachRow(f storage.Family, prefix []byte, visit func(key, value []byte) error) error {
	n := 0
	for kv, err := range q.R.Scan(f, prefix, schema.PrefixEnd(prefix), false) {
		if n++; err == nil && n%rowBatch == 0 {
			err = q.pass(rowBatch)
		}
		if err == nil {
			err = visit(kv.Key, kv.Value)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// eachUnspent visits every unspent output. It merges the scans of outputs and spends, which have the same order.
func (q *Query) eachUnspent(visit func(pk model.UtxoPk, row []byte) error) error {
	next, stop := iter.Pull2(q.R.Scan(schema.FamilySpentInput, nil, nil, false))
	defer stop()
	spent, err, more := next()
	n := 0
	for kv, scanErr := range q.R.Scan(schema.FamilyUtxo, nil, nil, false) {
		if scanErr != nil {
			return scanErr
		}
		if n++; n%rowBatch == 0 {
			if err := q.pass(rowBatch); err != nil {
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
