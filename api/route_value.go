package api

import (
	"context"

	"birthmark/core/query"
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
			with(termParameters, rangeParameters, orderedParameters, mempoolParameters).
			shown(example{path: "/find/address/" + satoshi + "?limit=1&order=desc"}),
			func(a *query.FindAnswer) ([]query.OutputAnswer, *string) { return a.Outputs, a.Next }),
			func(a *query.FindAnswer, r *pendingReader, q *request) (err error) {
				a.Mempool, err = r.find(q.args[0], q.args[1], &q.terms)
				return err
			}),
		withMempool(listing(get("history", "/history/{index}/{value}", "values", "List the transactions of a value",
			"Transactions that pay to the value or spend from it, each once; empty for a value that was never used.",
			query.HistoryAnswer{},
			func(ctx context.Context, v *query.View, q *request) (any, error) {
				return v.History(ctx, q.args[0], q.args[1], q.within, q.page)
			}).
			with(rangeParameters, orderedParameters, mempoolParameters).
			shown(example{path: "/history/address/" + satoshi + "?limit=3"}),
			func(a *query.HistoryAnswer) ([]query.HistoryTxAnswer, *string) { return a.Txs, a.Next }),
			func(a *query.HistoryAnswer, r *pendingReader, q *request) (err error) {
				a.Mempool, err = r.history(q.args[0], q.args[1])
				return err
			}),
		withMempool(get("balance", "/balance/{index}/{value}", "values", "Get the balance of a value",
			"Balance, received and sent amounts, and the balance of each asset; zeros for a value that was never used.",
			query.BalanceAnswer{},
			func(ctx context.Context, v *query.View, q *request) (any, error) {
				return v.Balance(ctx, q.args[0], q.args[1])
			}).
			with(mempoolParameters).
			shown(example{path: "/balance/address/" + satoshi}),
			func(a *query.BalanceAnswer, r *pendingReader, q *request) (err error) {
				a.Mempool, err = r.balance(q.args[0], q.args[1])
				return err
			}),
		post("balances", "/balances", "Get many balances", "In the order of the request; zeros for a value that was never used.",
			BalancesAnswer{},
			func(ctx context.Context, v *query.View, body *IndexValues) (any, error) {
				found, err := v.Balances(ctx, body.Index, body.Values)
				return &BalancesAnswer{body.Index, found}, err
			}).shown(example{path: "/balances", body: `{"index":"address","values":["` + satoshi + `"]}`}),
		get("richest", "/richest/{index}", "values", "List the largest balances",
			"In the coin of the chain, or in an asset. Slow: reads the balances of all values if the index has the option "+
				"balance, and otherwise every unspent output.", query.RichestAnswer{},
			func(ctx context.Context, v *query.View, q *request) (any, error) {
				return v.Richest(ctx, q.args[0], q.asset, q.page.Limit)
			}).
			with([]*parameter{assetParameter, limitParameter}).
			shown(example{path: "/richest/address?limit=3"}),
		listing(get("values", "/values/{index}", "values", "List the values of an index",
			"In the order of their first occurrence; with a prefix, in alphabetical order.", query.ValuesAnswer{},
			func(ctx context.Context, v *query.View, q *request) (any, error) {
				if q.prefix != nil {
					return v.ValuesByText(ctx, q.args[0], *q.prefix, q.page)
				}
				return v.Values(ctx, q.args[0], q.page)
			}).
			with([]*parameter{prefixParameter}, orderedParameters).
			shown(example{path: "/values/address?limit=3"}),
			func(a *query.ValuesAnswer) ([]query.ValueAnswer, *string) { return a.Values, a.Next }),
	}
}
