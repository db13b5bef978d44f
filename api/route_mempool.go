package api

import (
	"context"
	"strconv"

	"github.com/danielgtaylor/huma/v2"

	"birthmark/core/pending"
	"birthmark/core/query"
	"birthmark/model"
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
			for i := range t.Blocks {
				a.Blocks = append(a.Blocks, projected(&t.Blocks[i]))
			}
			return a, nil
		})
	compared := get("blockComparison", "/block/{block}/comparison", "mempool", "Compare a block with the projected block",
		"The block that the server expected just before this block arrived, and how the two differ. 404 with the code "+
			"`no_comparison` if the mempool was not complete then, for blocks before the newest 1,008, and on chains whose "+
			"miners do not select by fee rate.", query.BlockComparisonAnswer{}, comparison)
	all.pending, list.pending, blocks.pending, compared.pending = true, true, true, true
	return []*operation{all, list, blocks, compared}
}

// comparison compares a block with the projected one.
func comparison(ctx context.Context, v *query.View, q *request) (any, error) {
	at, err := v.PointOf(ctx, q.args[0])
	if err != nil {
		return nil, err
	}
	chain := q.chain.Model
	found := q.chain.Mempool.Audit(at.Hash)
	if found == nil {
		return nil, model.Errorf(model.NotFound, "no_comparison", "block %d is not compared with a projected block: the mempool was not complete "+
			"just before it, or it is not one of the newest 1,008", at.Height)
	}
	sum := func(s pending.AuditSum) query.MempoolRestAnswer {
		return query.MempoolRestAnswer{TxCount: s.Count, VSize: s.VSize, Fees: strconv.FormatUint(s.Fees, 10)}
	}
	txs := func(list []pending.AuditTx) []query.ComparedTxAnswer {
		all := make([]query.ComparedTxAnswer, len(list))
		for i, t := range list {
			all[i] = query.ComparedTxAnswer{Hash: chain.FormatHash(t.ID), Fee: strconv.FormatUint(t.Fee, 10), Rate: t.Rate}
			if t.Block >= 0 {
				all[i].Block = &t.Block
			}
		}
		return all
	}
	return &query.BlockComparisonAnswer{
		Block: query.PointAnswer{Height: uint32(at.Height), Hash: chain.FormatHash(at.Hash)}, Expected: projected(&found.Expected),
		Both: sum(found.Both), Missing: sum(found.Missing), Added: sum(found.Added), Unknown: found.Unknown,
		MissingTxs: txs(found.MissingTxs), AddedTxs: txs(found.AddedTxs),
	}, nil
}

func projected(b *pending.ProjectedBlock) query.ProjectedBlockAnswer {
	return query.ProjectedBlockAnswer{TxCount: b.Count, VSize: b.VSize, Fees: strconv.FormatUint(b.Fees, 10),
		HighestRate: b.Highest, MedianRate: b.Median, LowestRate: b.Lowest}
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
