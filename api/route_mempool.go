package api

import (
	"context"
	"strconv"

	"github.com/danielgtaylor/huma/v2"

	"birthmark/core/query"
)

// mempoolOperations are the questions about the unconfirmed transactions as a whole.
func mempoolOperations() []*operation {
	all := get("mempool", "/mempool", "mempool", "Unconfirmed transactions",
		"Totals and a histogram of fee rates. `state` is `live`, `filling` while transactions of the node are missing, `old` "+
			"if the node has not answered for 30 seconds, `partial` if transactions with low fee rates were left out to save "+
			"memory, `none` before the node answers.", query.MempoolAnswer{},
		func(_ context.Context, _ *query.View, q *request) (any, error) {
			i := q.overlay.Info()
			a := &query.MempoolAnswer{
				Chain: q.chain.Model.Name(), Network: q.chain.Model.Network(), State: i.State.String(), Count: i.Count,
				NodeCount: i.Wanted, Size: i.Size, VSize: i.VSize, Fees: strconv.FormatUint(i.Fees, 10), Memory: i.Memory,
				Histogram: []query.FeeRatesAnswer{},
			}
			for _, b := range q.chain.Mempool.Histogram() {
				a.Histogram = append(a.Histogram, query.FeeRatesAnswer{FeeRate: b.Rate, Count: b.Count, VSize: b.VSize})
			}
			return a, nil
		})
	list := get("mempoolTransactions", "/mempool/transactions", "mempool", "List the unconfirmed transactions",
		"In the order of arrival, or by fee rate, highest first. Transactions that arrive or leave between two pages may be "+
			"missing.", query.MempoolTxsAnswer{},
		func(ctx context.Context, v *query.View, q *request) (a any, err error) {
			err = q.fromOverlay(ctx, v, q.overlay, func(r *pendingReader) (err error) {
				a, err = r.page(q.byRate, q.page)
				return err
			})
			return a, err
		}).with([]*parameter{limitParameter, afterParameter, mempoolOrderParameter})
	blocks := get("mempoolBlocks", "/mempool/blocks", "mempool", "Project the next blocks",
		"The blocks as they would be mined now: a miner takes the transaction whose package, which is it and its ancestors "+
			"that are in no block yet, has the highest fee rate. At most 8 blocks, without the coinbase. Empty on chains "+
			"whose miners do not select by fee rate.", query.ProjectedBlocksAnswer{},
		func(_ context.Context, _ *query.View, q *request) (any, error) {
			t := q.chain.Mempool.Template()
			a := &query.ProjectedBlocksAnswer{Chain: q.chain.Model.Name(), State: q.overlay.State().String(),
				Blocks: []query.ProjectedBlockAnswer{},
				Rest:   query.MempoolRestAnswer{TxCount: t.Rest.Count, VSize: t.Rest.VSize, Fees: strconv.FormatUint(t.Rest.Fees, 10)}}
			for _, b := range t.Blocks {
				a.Blocks = append(a.Blocks, query.ProjectedBlockAnswer{TxCount: b.Count, VSize: b.VSize,
					Fees: strconv.FormatUint(b.Fees, 10), HighestRate: b.Highest, MedianRate: b.Median, LowestRate: b.Lowest})
			}
			return a, nil
		})
	all.pending, list.pending, blocks.pending = true, true, true
	return []*operation{all, list, blocks}
}

var (
	mempoolOrderParameter = choiceParameter("order", huma.TypeString, "`arrival`, or `rate`: highest fee rate first.", "arrival or rate", "rate",
		func(q *request, is bool) { q.byRate = is }).documented("rate", "arrival", "arrival", "rate")
	mempoolParameters = []*parameter{
		choiceParameter("mempool", huma.TypeString, "`include` adds `mempool`: what unconfirmed transactions change. All other fields remain "+
			"those of the confirmed chain.", "include or exclude", "include",
			func(q *request, is bool) { q.mempool = is }).documented("include", "exclude", "include", "exclude"),
	}
)

// withMempool adds the unconfirmed part to an answer, if it was requested.
func withMempool[A any](op *operation, add func(a A, r *pendingReader, q *request) error) *operation {
	ask := op.ask
	op.ask = func(ctx context.Context, v *query.View, q *request) (any, error) {
		answer, err := ask(ctx, v, q)
		if err != nil || q.overlay == nil {
			return answer, err
		}
		return answer, q.fromOverlay(ctx, v, q.overlay, func(r *pendingReader) error { return add(answer.(A), r, q) })
	}
	return op
}
