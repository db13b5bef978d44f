package ergoexplorer

import (
	"net/http"

	"birthmark/api/compat/boxes"
	"birthmark/api/exchange"
)

// Options configure a handler.
type Options = boxes.Options

// New returns the handler of all requests below the path of o.
func New(o Options) http.Handler {
	p := &protocol{o.Chain}
	return boxes.Handler(o, exchange.Protocol[*view]{Endpoints: p.endpoints(), Error: failureOf, NotFound: notFound},
		func(v *boxes.View, r *request) *view { return &view{v, r} })
}

// protocol has the endpoints.
type protocol struct{ *boxes.Chain }

type (
	request = exchange.Request
	answer  = func(*view) (any, error)
)

// view is the chain at one tip, for one request.
type view struct {
	*boxes.View
	r *request
}

func (p *protocol) endpoints() []exchange.Endpoint[*view] {
	const v0, v1 = "api/v0/", "api/v1/" // clients still use parts of version 0, which version 1 lacks
	get := func(path string, a func(*request) answer) exchange.Endpoint[*view] { return boxes.Get(v1+path, a) }
	post := func(path string, a func(*request) answer) exchange.Endpoint[*view] { return boxes.Post(v1+path, a) }
	pending, node := boxes.Pending[*view], boxes.Viewless[*view]
	return []exchange.Endpoint[*view]{
		get("addresses/{address}/transactions", p.addressTxs),
		get("addresses/{address}/balance/confirmed", p.confirmedBalance),
		pending(http.MethodGet, v1+"addresses/{address}/balance/total", p.totalBalance),
		pending(http.MethodPost, v1+"addresses/batchInfo", p.batchInfo),
		pending(http.MethodGet, v1+"mempool/transactions/byAddress/{address}", p.pendingTxs),
		pending(http.MethodGet, v1+"mempool/boxes/unspent", pendingBoxes),

		get("boxes/{id}", boxByID),
		get("boxes/byAddress/{address}", listed(p.ofAddress, allBoxes, newest)),
		get("boxes/byErgoTree/{tree}", listed(ofTree, allBoxes, newest)),
		get("boxes/byErgoTreeTemplateHash/{hash}", listed(ofTemplate, allBoxes, oldest)),
		get("boxes/unspent/byAddress/{address}", listed(p.ofAddress, unspentBoxes, chosen)),
		get("boxes/unspent/byErgoTree/{tree}", listed(ofTree, unspentBoxes, chosen)),
		get("boxes/unspent/byErgoTreeTemplateHash/{hash}", listed(ofTemplate, unspentBoxes, oldest)),
		get("boxes/byTokenId/{id}", ofToken(allBoxes)),
		get("boxes/unspent/byTokenId/{id}", ofToken(unspentBoxes)),
		pending(http.MethodGet, v1+"boxes/unspent/unconfirmed/byAddress/{address}", p.unconfirmedBoxes),
		pending(http.MethodGet, v1+"boxes/unspent/all/byAddress/{address}", p.allUnspent),
		post("boxes/search", search(allBoxes, false)),
		post("boxes/unspent/search", search(unspentBoxes, false)),
		post("boxes/unspent/search/union", search(unspentBoxes, true)),

		get("blocks", blocks),
		get("blocks/headers", headers),
		get("blocks/{id}", p.block),

		get("transactions/{id}", tx),
		get("transactions/byInputsScriptTemplateHash/{hash}", txsSpending),
		node(http.MethodPost, v1+"mempool/transactions/submit", p.submit),

		get("tokens", tokens),
		get("tokens/search", searchTokens),
		get("tokens/bySymbol/{name}", tokensNamed),
		node(http.MethodGet, v1+"tokens/check/{id}/{name}", unsupported(handKept)),
		node(http.MethodGet, v1+"tokens/listGenuine", unsupported(handKept)),
		node(http.MethodGet, v1+"tokens/listBlocked", unsupported(handKept)),
		get("tokens/{id}", token),
		get("assets", assets),
		get("assets/search/byTokenId", searchAssets),

		get("info", p.networkState),
		get("networkState", p.networkState),
		get("networkStats", networkStats),
		node(http.MethodGet, v1+"epochs/params", p.epochParams),
		node(http.MethodPost, v1+"ergotree/convert", unsupported("only the reference implementation prints an ErgoTree as it does")),
		node(http.MethodGet, v1+"docs/openapi", unsupported("its document describes the explorer's own server; see docs/ergo-clients.md")),

		// These send a list as it is read, in the order of the chain.
		get("boxes/unspent/stream", boxesInSpan(unspentBoxes)),
		get("boxes/unspent/byLastEpochs/stream", unspentOfEpochs),
		get("boxes/byGlobalIndex/stream", boxesFrom(allBoxes)),
		get("boxes/unspent/byGlobalIndex/stream", boxesFrom(unspentBoxes)),
		get("boxes/byErgoTreeTemplateHash/{hash}/stream", templateInSpan(allBoxes)),
		get("boxes/unspent/byErgoTreeTemplateHash/{hash}/stream", templateInSpan(unspentBoxes)),
		get("transactions/byGlobalIndex/stream", txsFrom),
		get("blocks/byGlobalIndex/stream", blocksFrom),
		get("blocks/stream/summary", summariesFrom),

		pending(http.MethodGet, v0+"transactions/unconfirmed", oldPendingTxs),
		pending(http.MethodGet, v0+"transactions/unconfirmed/{id}", oldPendingTx),
		pending(http.MethodGet, v0+"transactions/unconfirmed/byAddress/{address}", p.oldPendingTxsOf),
		node(http.MethodPost, v0+"transactions/send", p.submit),
		boxes.Get(v0+"info", oldInfo),
	}
}
