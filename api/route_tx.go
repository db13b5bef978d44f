package api

import (
	"context"

	"birthmark/api/docs"
	"birthmark/core/query"
)

func txOperations() []*operation {
	return []*operation{
		get("tx", "/tx/{hash}", "chain", "Get a transaction",
			"Its inputs with the outputs they spend, and its outputs with the inputs that spend them. If a hash occurs more "+
				"than once, the newest transaction.", query.TxAnswer{},
			func(ctx context.Context, v *query.View, q *request) (any, error) {
				a, err := v.Tx(ctx, q.args[0])
				if err != nil {
					return pendingTx(ctx, v, q, err)
				}
				return a, nil
			}).
			shown(docs.Example{Path: "/tx/" + firstPayment}),
		get("rawTx", "/tx/{hash}/raw", "chain", "Get the bytes of a transaction",
			"The serialized transaction in hex. Needs raw transactions: `raw` in the settings.", query.RawTxAnswer{},
			func(ctx context.Context, v *query.View, q *request) (any, error) {
				// A hash does not cover the witnesses: before the transaction is final, others can replace them.
				p, err := v.PointOfTx(ctx, q.args[0])
				if err != nil {
					return nil, err
				}
				q.final = q.chain.final(v, p, "")
				return v.RawTx(ctx, q.args[0])
			}),
		post("txs", "/txs", "Get many transactions",
			"In the order of the request, null for an unknown one. Together they may have at most 100,000 inputs and outputs.",
			TxsAnswer{},
			func(ctx context.Context, v *query.View, body *TxHashes) (any, error) {
				found, err := v.Txs(ctx, body.Txs)
				return &TxsAnswer{found}, err
			}).shown(docs.Example{Path: "/txs", Body: `{"txs":["` + firstPayment + `"]}`}),
	}
}
