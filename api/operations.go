package api

import (
	"context"

	"birthmark/core"
)

// operations are all questions that can be asked of a chain, in the order in which the documentation has them.
func (o *Options) operations() []*operation {
	ops := append(chainOperations(), append(valueOperations(), append(assetOperations(), batchOperations()...)...)...)
	ops = append(ops, get("schema", "/schema", "reference", "What a database is made of",
		"The families as Markdown, the text of docs/schema.md, and the indexes that the chain offers.", SchemaAnswer{},
		func(_ context.Context, _ *core.View, q *request) (any, error) { return SchemaOf(q.chain.Model) }))
	if o.Fields != nil {
		ops = append(ops, get("fields", "/fields", "reference", "What expressions can name",
			"The fields of an output, its transaction and its block that the expressions of one's own indexes can name, and the functions.", FieldsAnswer{},
			func(_ context.Context, _ *core.View, q *request) (any, error) { return o.Fields(q.chain.Model.Name()) }))
	}
	if o.Events != nil {
		op := get("events", "/events", "chain", "What happens on the chain, as it happens",
			"Server-sent events of blocks, rollbacks and, where they are followed, outputs; each has an id to go on from. See docs/events.md.", nil, nil).with(eventParameters)
		op.stream = true
		ops = append(ops, op)
	}
	for _, op := range ops {
		if op.tag == "reference" {
			op.volatile = true // it depends on the program alone
		}
	}
	return ops
}

func chainOperations() []*operation {
	status := get("status", "/status", "chain", "What the database holds",
		"Chain, network, tip, indexes, totals, and the rows and bytes of each family.", core.StatusAnswer{},
		func(ctx context.Context, v *core.View, q *request) (any, error) { return v.Status(ctx) })
	status.volatile = true
	indexes := get("indexes", "/indexes", "chain", "The indexes of the database",
		"What each keeps, and how far one is that is being added.", IndexesAnswer{},
		func(ctx context.Context, v *core.View, q *request) (any, error) {
			states, err := v.IndexStates(ctx)
			return &IndexesAnswer{q.chain.Model.Name(), q.chain.Model.Network(), states}, err
		})
	indexes.volatile = true
	indexes.shown(example{path: "/indexes"})
	forks := listing(get("forks", "/forks", "chain", "Blocks that forks took off the chain",
		"Of the last 1,000 such blocks, newest fork first: how deep each was, when it was lost and what came in its place.", core.ForksAnswer{},
		func(ctx context.Context, v *core.View, q *request) (any, error) { return v.Forks(ctx, q.page) }).with(pageParameters).
		shown(example{path: "/forks"}),
		func(a *core.ForksAnswer) ([]core.LostBlockAnswer, *string) { return a.Forks, a.Next })
	forks.volatile = true // a chain can come back to a tip it had
	block := get("block", "/block/{block}", "chain", "One block", "With the hashes of its transactions.", core.BlockAnswer{},
		func(ctx context.Context, v *core.View, q *request) (any, error) { return q.block(ctx, v) }).
		shown(example{path: "/block/170"})
	block.lasting = true
	return []*operation{
		status,
		listing(get("blocks", "/blocks", "chain", "The blocks of the chain",
			"Without what is in them.", core.BlocksAnswer{},
			func(ctx context.Context, v *core.View, q *request) (any, error) {
				return v.Blocks(ctx, q.within, q.page)
			}).
			with(rangeParameters, orderedParameters).
			shown(example{path: "/blocks?order=desc&limit=2"}),
			func(a *core.BlocksAnswer) ([]core.BlockSummaryAnswer, *string) { return a.Blocks, a.Next }),
		block,
		get("tx", "/tx/{hash}", "chain", "One transaction",
			"What its inputs spend, its outputs, who spends them; the newest where a hash occurs more than once.", core.TxAnswer{},
			func(ctx context.Context, v *core.View, q *request) (any, error) { return v.Tx(ctx, q.args[0]) }).
			shown(example{path: "/tx/" + firstPayment}),
		get("rawTx", "/tx/{hash}/raw", "chain", "The bytes of a transaction",
			"As the chain has them, in hex, of a database that keeps them (`sync --raw`).", core.RawTxAnswer{},
			func(ctx context.Context, v *core.View, q *request) (any, error) { return v.RawTx(ctx, q.args[0]) }),
		get("output", "/output/{output}", "chain", "One output", "Its value, whose it is, who spends it.", core.OutputAnswer{},
			func(ctx context.Context, v *core.View, q *request) (any, error) { return v.Output(ctx, q.args[0]) }).
			shown(example{path: "/output/" + firstPayment + ":1"}),
		forks,
		indexes,
	}
}

func valueOperations() []*operation {
	return []*operation{
		listing(get("find", "/find/{index}/{value}", "values", "The outputs where a value occurs",
			"None for a value that was never used. With terms: outputs where the value or any `or` occurs, and every `and`. "+
				"Index `asset` finds the outputs that held an asset. A page can be short, or even empty, and another one "+
				"can follow.", core.FindAnswer{},
			func(ctx context.Context, v *core.View, q *request) (any, error) {
				q.terms.Range = q.within
				return v.Find(ctx, q.args[0], q.args[1], q.terms, q.page)
			}).with([]*parameter{unspentParameter, andParameter, orParameter}, rangeParameters, orderedParameters).
			shown(example{path: "/find/address/" + satoshi + "?limit=1&order=desc"}),
			func(a *core.FindAnswer) ([]core.OutputAnswer, *string) { return a.Outputs, a.Next }),
		listing(get("history", "/history/{index}/{value}", "values", "The transactions of a value",
			"Those that pay to it or spend from it, each once; none for a value that was never used.", core.HistoryAnswer{},
			func(ctx context.Context, v *core.View, q *request) (any, error) {
				return v.History(ctx, q.args[0], q.args[1], q.within, q.page)
			}).with(rangeParameters, orderedParameters).
			shown(example{path: "/history/address/" + satoshi + "?limit=3"}),
			func(a *core.HistoryAnswer) ([]core.HistoryTxAnswer, *string) { return a.Txs, a.Next }),
		get("balance", "/balance/{index}/{value}", "values", "What a value holds",
			"What it holds, received and sent, assets included; zeros for a value that was never used.", core.BalanceAnswer{},
			func(ctx context.Context, v *core.View, q *request) (any, error) {
				return v.Balance(ctx, q.args[0], q.args[1])
			}).shown(example{path: "/balance/address/" + satoshi}),
		get("richest", "/richest/{index}", "values", "The values that hold most",
			"Of the chain's coin, or of an asset. Of an index that is kept with the option balance it reads the balances of all values, else every unspent output: that takes long.", core.RichestAnswer{},
			func(ctx context.Context, v *core.View, q *request) (any, error) {
				return v.Richest(ctx, q.args[0], q.asset, q.page.Limit)
			}).with([]*parameter{assetParameter, limitParameter}).
			shown(example{path: "/richest/address?limit=3"}),
		listing(get("values", "/values/{index}", "values", "The values of an index",
			"In the order in which they first occurred, or those that begin with a prefix in the order of their texts.", core.ValuesAnswer{},
			func(ctx context.Context, v *core.View, q *request) (any, error) {
				if q.prefix != nil {
					return v.ValuesByText(ctx, q.args[0], *q.prefix, q.page)
				}
				return v.Values(ctx, q.args[0], q.page)
			}).with([]*parameter{prefixParameter}, orderedParameters).
			shown(example{path: "/values/address?limit=3"}),
			func(a *core.ValuesAnswer) ([]core.ValueAnswer, *string) { return a.Values, a.Next }),
	}
}

func assetOperations() []*operation {
	return []*operation{
		listing(get("assets", "/assets", "assets", "All assets", "In the order in which they first occurred.", core.AssetsAnswer{},
			func(ctx context.Context, v *core.View, q *request) (any, error) { return v.Assets(ctx, q.page) }).with(orderedParameters).
			shown(example{path: "/assets"}),
			func(a *core.AssetsAnswer) ([]core.AssetAnswer, *string) { return a.Assets, a.Next }),
		get("asset", "/asset/{asset}", "assets", "One asset", "First seen, minted, burned, supply, counts.", core.AssetAnswer{},
			func(ctx context.Context, v *core.View, q *request) (any, error) { return v.Asset(ctx, q.args[0]) }),
		listing(get("assetEvents", "/asset/{asset}/events", "assets", "The mints and burns of an asset", "Each with the transaction that did it.", core.AssetEventsAnswer{},
			func(ctx context.Context, v *core.View, q *request) (any, error) {
				return v.AssetEvents(ctx, q.args[0], q.within, q.page)
			}).with(rangeParameters, orderedParameters),
			func(a *core.AssetEventsAnswer) ([]core.AssetEventAnswer, *string) { return a.Events, a.Next }),
		listing(get("assetHolders", "/asset/{asset}/holders", "assets", "The addresses that hold an asset",
			"With what each holds in unspent outputs.", core.AssetHoldersAnswer{},
			func(ctx context.Context, v *core.View, q *request) (any, error) {
				return v.AssetHolders(ctx, q.args[0], q.page)
			}).with(pageParameters),
			func(a *core.AssetHoldersAnswer) ([]core.HolderAnswer, *string) { return a.Holders, a.Next }),
	}
}

func batchOperations() []*operation {
	return []*operation{
		post("outputs", "/outputs", "Many outputs", "In the order of the question, null where there is none.", OutputsAnswer{},
			func(ctx context.Context, v *core.View, body *OutputRefs) (any, error) {
				found, err := v.Outputs(ctx, body.Outputs)
				return &OutputsAnswer{found}, err
			}).shown(example{path: "/outputs", body: `{"outputs":["` + firstPayment + `:0"]}`}),
		post("spends", "/spends", "What spends many outputs",
			"In the order of the question, null where there is no such output; `spent_by` is null where nothing spends it.", SpendsAnswer{},
			func(ctx context.Context, v *core.View, body *OutputRefs) (any, error) {
				found, err := v.Spends(ctx, body.Outputs)
				return &SpendsAnswer{found}, err
			}).shown(example{path: "/spends", body: `{"outputs":["` + firstPayment + `:1","` + firstPayment + `:9"]}`}),
		post("txs", "/txs", "Many transactions",
			"In the order of the question, null where there is none. Those that have more than 100,000 inputs and outputs together are too many.", TxsAnswer{},
			func(ctx context.Context, v *core.View, body *TxHashes) (any, error) {
				found, err := v.Txs(ctx, body.Txs)
				return &TxsAnswer{found}, err
			}).shown(example{path: "/txs", body: `{"txs":["` + firstPayment + `"]}`}),
		post("balances", "/balances", "What many values hold",
			"In the order of the question. A value that was never used has zeros.", BalancesAnswer{},
			func(ctx context.Context, v *core.View, body *IndexValues) (any, error) {
				found, err := v.Balances(ctx, body.Index, body.Values)
				return &BalancesAnswer{body.Index, found}, err
			}).shown(example{path: "/balances", body: `{"index":"address","values":["` + satoshi + `"]}`}),
	}
}

// What the examples of the documentation ask about: Satoshi pays Hal Finney, in block 170.
const (
	firstPayment = "f4184fc596403b9d638783cf57adfe4c75c605f6356fbc91338530e9831e9e16"
	satoshi      = "12cbQLTFMXRnSzktFkuoG3eHoMeFtpTu3S"
)

// argumentDocs are the values in paths, by name.
var argumentDocs = map[string]struct{ doc, example string }{
	"block":  {"A height, a hash, or `tip`.", "170"},
	"hash":   {"The hash of the transaction.", firstPayment},
	"output": {"`TXHASH:N`; on Ergo also a box id.", firstPayment + ":1"},
	"index":  {"The name of an index, such as `address`.", "address"},
	"value":  {"A value of the index, as the chain writes it. A slash in it is written %2F.", satoshi},
	"asset":  {"The id of an asset, or its fingerprint.", ""},
}
