package api

import (
	"context"

	"birthmark/api/docs"
	"birthmark/core/query"
)

func blockOperations() []*operation {
	block := get("block", "/block/{block}", "chain", "Get a block", "With the hashes of its transactions.", query.BlockAnswer{},
		func(ctx context.Context, v *query.View, q *request) (any, error) { return q.block(ctx, v) }).
		shown(docs.Example{Path: "/block/170"})
	block.lasting = true
	return []*operation{
		listing(get("blocks", "/blocks", "chain", "List blocks", "Without their transactions.", query.BlocksAnswer{},
			func(ctx context.Context, v *query.View, q *request) (any, error) {
				return v.Blocks(ctx, q.within, q.page)
			}).
			with(rangeParameters, orderedParameters).shown(docs.Example{Path: "/blocks?order=desc&limit=2"}),
			func(a *query.BlocksAnswer) ([]query.BlockSummaryAnswer, *string) { return a.Blocks, a.Next }),
		block,
		get("blockTotals", "/block/{block}/totals", "chain", "Get the sums of a block",
			"Values of its inputs and outputs, fees and, for Bitcoin with raw transactions, the weight. They are not stored: "+
				"the answer reads every output that the block creates or spends.", query.BlockTotalsAnswer{},
			func(ctx context.Context, v *query.View, q *request) (any, error) {
				return v.BlockTotals(ctx, q.args[0])
			}).
			shown(docs.Example{Path: "/block/170/totals"}),
	}
}
