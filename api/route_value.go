package api

import (
	"context"
	"iter"
	"slices"

	"birthmark/api/docs"
	"birthmark/core/query"
	"birthmark/core/query/richest"
	"birthmark/model"
)

// valueOperations are the questions about values of an index, such as addresses.
func valueOperations() []*operation {
	return []*operation{
		withMempool(listing(get("find", "/find/{index}/{value}", "values", "List the outputs of a value",
			"Empty for a value that was never used. With terms: outputs of the value or of any `or` term that also have every "+
				"`and` term. Index `asset` finds the outputs that hold an asset. A page can be short or even empty "+
				"although there is a next page.", query.FindAnswer{},
			func(ctx context.Context, v *query.View, q *request) (any, error) {
				q.terms.Range = q.within
				return v.Find(ctx, q.args[0], q.args[1], q.terms, q.page)
			}).
			with([]*parameter{gapParameter}, termParameters, rangeParameters, orderedParameters, mempoolParameters).
			shown(docs.Example{Path: "/find/address/" + anAddress + "?limit=1&order=desc"}),
			func(a *query.FindAnswer) ([]query.OutputAnswer, *string) { return a.Outputs, a.Next }),
			func(a *query.FindAnswer, r *pendingReader, q *request) (err error) {
				a.Mempool, err = r.find(q.args[0], q.args[1], &q.terms)
				return err
			}),
		grouped(withMempool(listing(get("history", "/history/{index}/{value}", "values", "List the transactions of a value",
			"Transactions that pay to the value or spend from it, each once; empty for a value that was never used. With "+
				"`group_by`, the sums of periods instead of transactions.",
			query.HistoryAnswer{},
			func(ctx context.Context, v *query.View, q *request) (any, error) {
				switch {
				case q.unit != "" && q.selected.Set():
					return nil, model.Errorf(model.Usage, "bad_value", "direction and asset select transactions: expected neither, or no group_by")
				case q.unit != "" && q.mempool:
					return nil, model.Errorf(model.Usage, "bad_value", "mempool: periods have no unconfirmed transactions: "+
						"expected exclude, or no group_by")
				case q.unit != "":
					return v.GroupedHistory(ctx, q.args[0], q.args[1], q.unit, q.within, q.page)
				}
				return selectedHistory(ctx, v, q)
			}).
			with([]*parameter{groupParameter, gapParameter}, filterParameters, rangeParameters, orderedParameters, mempoolParameters).
			shown(docs.Example{Path: "/history/address/" + anAddress + "?limit=3"}),
			func(a *query.HistoryAnswer) ([]query.HistoryTxAnswer, *string) { return a.Txs, a.Next }),
			func(a *query.HistoryAnswer, r *pendingReader, q *request) (err error) {
				a.Mempool, err = r.History(q.args[0], q.args[1])
				return err
			})),
		withMempool(get("balance", "/balance/{index}/{value}", "values", "Get the balance of a value",
			"Balance, received and sent amounts, and the balance of each asset; zeros for a value that was never used. With "+
				"`at_height` or `at_time`, after an earlier block: `at` is the block, and `unspent_count` is absent if it "+
				"is expensive to compute.",
			query.BalanceAnswer{},
			func(ctx context.Context, v *query.View, q *request) (any, error) {
				switch past := q.at != (query.Moment{}); {
				case past && q.mempool:
					return nil, model.Errorf(model.Usage, "bad_value", "mempool: an earlier balance has no unconfirmed transactions: "+
						"expected exclude, or neither at_height nor at_time")
				case q.at.Height != nil && q.at.Time != nil:
					return nil, model.Errorf(model.Usage, "bad_value", "at_height and at_time: expected one of them")
				case past:
					return v.BalanceAt(ctx, q.args[0], q.args[1], q.at)
				}
				return v.Balance(ctx, q.args[0], q.args[1])
			}).
			with(momentParameters, []*parameter{gapParameter}, mempoolParameters).
			shown(docs.Example{Path: "/balance/address/" + anAddress}),
			func(a *query.BalanceAnswer, r *pendingReader, q *request) (err error) {
				a.Mempool, err = r.balance(q.args[0], q.args[1])
				return err
			}),
		post("balances", "/balances", "Get many balances", "In the order of the request; zeros for a value that was never used.",
			BalancesAnswer{},
			func(ctx context.Context, v *query.View, body *IndexValues) (any, error) {
				found, err := v.Balances(ctx, body.Index, body.Values)
				return &BalancesAnswer{body.Index, found}, err
			}).shown(docs.Example{Path: "/balances", Body: `{"index":"address","values":["` + anAddress + `"]}`}),
		ranked(listing(get("richest", "/richest/{index}", "values", "List the largest balances",
			"In the coin of the chain, or in an asset. Immediate for the coin if the index has the option balance. Slow "+
				"otherwise: it reads every unspent output, or every output with the asset.", query.RichestAnswer{},
			func(ctx context.Context, v *query.View, q *request) (any, error) {
				return richest.Of(ctx, v.Queries, q.args[0], q.asset, q.page.Limit)
			}).
			with([]*parameter{assetParameter, limitParameter}).
			shown(docs.Example{Path: "/richest/address?limit=3"}),
			func(a *query.RichestAnswer) ([]query.RichestValueAnswer, *string) { return a.Values, nil })),
		listing(get("values", "/values/{index}", "values", "List the values of an index",
			"In the order of their first occurrence; with a prefix, in alphabetical order.", query.ValuesAnswer{},
			func(ctx context.Context, v *query.View, q *request) (any, error) {
				if q.prefix != nil {
					return v.ValuesByText(ctx, q.args[0], *q.prefix, q.page)
				}
				return v.Values(ctx, q.args[0], q.page)
			}).
			with([]*parameter{prefixParameter}, orderedParameters).
			shown(docs.Example{Path: "/values/address?limit=3"}),
			func(a *query.ValuesAnswer) ([]query.ValueAnswer, *string) { return a.Values, a.Next }),
	}
}

// ranked makes op a list whose limit is that of the answer also in a stream.
func ranked(op *operation) *operation {
	op.unpaged = true
	return op
}

// selectedHistory returns a page of a history without the transactions that the request leaves out.
func selectedHistory(ctx context.Context, v *query.View, q *request) (*query.HistoryAnswer, error) {
	f := q.selected
	if f.Asset != "" {
		asset, err := v.Asset(ctx, f.Asset)
		if err != nil {
			return nil, err
		}
		f.Asset = asset.Asset
	}
	a, err := v.History(ctx, q.args[0], q.args[1], q.within, q.page)
	if err == nil && f.Set() {
		a.Txs = slices.DeleteFunc(a.Txs, func(t query.HistoryTxAnswer) bool { return !f.Has(&t) })
	}
	return a, err
}

// grouped makes the periods of a history the entries of the list if there are any.
func grouped(op *operation) *operation {
	txs := op.entries
	op.entries = func(answer any) (iter.Seq[any], *string) {
		a := answer.(*query.HistoryAnswer)
		if a.GroupBy == "" {
			return txs(answer)
		}
		return func(yield func(any) bool) {
			for i := range a.Periods {
				if !yield(&a.Periods[i]) {
					return
				}
			}
		}, a.Next
	}
	return op
}
