package ergonode

import (
	"net/http"

	"birthmark/api/compat/boxes"
	"birthmark/api/exchange"
)

// Options configure a handler.
type Options = boxes.Options

// New returns the handler of all requests below the path of o.
func New(o Options) http.Handler {
	p := &protocol{o.Chain, o.Path}
	return boxes.Handler(o, exchange.Protocol[*view]{Endpoints: p.endpoints(), Error: failureOf, NotFound: notFound},
		func(v *boxes.View, r *request) *view { return &view{v, r} })
}

// protocol has the endpoints.
type protocol struct {
	*boxes.Chain
	path string
}

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
	get, post, pending, node := boxes.Get[*view], boxes.Post[*view], boxes.Pending[*view], boxes.Viewless[*view]
	return []exchange.Endpoint[*view]{
		get("blockchain/indexedHeight", indexedHeight),
		get("blockchain/block/byHeaderId/{id}", blockByID),
		post("blockchain/block/byHeaderIds", blocksByID),
		get("blockchain/transaction/byId/{id}", txByID),
		get("blockchain/transaction/byIndex/{index}", txByIndex),
		get("blockchain/transaction/byAddress/{address}", txsOf(p.ofAddress)),
		post("blockchain/transaction/byAddress", txsOf(p.ofAddress)),
		get("blockchain/transaction/range", txRange),
		get("blockchain/box/byId/{id}", boxByID),
		get("blockchain/box/byIndex/{index}", boxByIndex),
		get("blockchain/box/range", boxRange),
		get("blockchain/box/byAddress/{address}", boxesOf(p.ofAddress, true)),
		post("blockchain/box/byAddress", boxesOf(p.ofAddress, true)),
		post("blockchain/box/byErgoTree", boxesOf(ofTree, true)),
		pending(http.MethodGet, "blockchain/box/unspent/byAddress/{address}", unspentOf(p.ofAddress)),
		pending(http.MethodPost, "blockchain/box/unspent/byAddress", unspentOf(p.ofAddress)),
		pending(http.MethodPost, "blockchain/box/unspent/byErgoTree", unspentOf(ofTree)),
		get("blockchain/box/byTemplateHash/{hash}", boxesOf(ofTemplate, false)),
		pending(http.MethodGet, "blockchain/box/unspent/byTemplateHash/{hash}", unspentOf(ofTemplate)),
		get("blockchain/box/byTokenId/{id}", boxesOfToken),
		pending(http.MethodGet, "blockchain/box/unspent/byTokenId/{id}", unspentOfToken),
		get("blockchain/token/byId/{id}", tokenByID),
		post("blockchain/tokens", tokensByID),
		pending(http.MethodPost, "blockchain/balance", p.balance),
		pending(http.MethodGet, "blockchain/balanceForAddress/{address}", p.balance),

		get("blocks", blockIDs),
		get("blocks/at/{height}", blocksAt),
		get("blocks/{id}/header", header),
		get("blocks/{id}/transactions", blockTxs),
		get("blocks/{id}/proofFor/{tx}", proofFor),
		get("blocks/lastHeaders/{count}", lastHeaders),
		get("blocks/chainSlice", chainSlice),

		get("utxo/byId/{id}", utxo(asJSON)),
		get("utxo/byIdBinary/{id}", utxo(asBytes)),
		pending(http.MethodGet, "utxo/withPool/byId/{id}", utxo(asJSON)),
		pending(http.MethodGet, "utxo/withPool/byIdBinary/{id}", utxo(asBytes)),
		pending(http.MethodPost, "utxo/withPool/byIds", utxos),
		get("utxo/genesis", genesis),

		pending(http.MethodGet, "transactions/unconfirmed", pendingTxs),
		pending(http.MethodGet, "transactions/unconfirmed/transactionIds", pendingIDs),
		pending(http.MethodGet, "transactions/unconfirmed/byTransactionId/{id}", pendingTx),
		pending(http.MethodPost, "transactions/unconfirmed/byTransactionIds", pendingAmong),
		pending(http.MethodPost, "transactions/unconfirmed/byErgoTree", pendingOfTree),
		pending(http.MethodGet, "transactions/unconfirmed/inputs/byBoxId/{id}", pendingInput),
		pending(http.MethodGet, "transactions/unconfirmed/outputs/byBoxId/{id}", pendingOutput),
		pending(http.MethodPost, "transactions/unconfirmed/outputs/byErgoTree", pendingOutputsOfTree),
		pending(http.MethodGet, "transactions/unconfirmed/outputs/byTokenId/{id}", pendingOutputsWith),
		pending(http.MethodPost, "transactions/unconfirmed/outputs/byRegisters", pendingOutputsByRegisters),
		pending(http.MethodHead, "transactions/unconfirmed/{id}", pendingThere),

		// The node of the settings answers these, except that /info describes the blocks of this server.
		pending(http.MethodGet, "info", p.info),
		node(http.MethodGet, "blocks/{id}", p.fromNode),
		node(http.MethodGet, "blocks/modifier/{id}", p.fromNode),
		node(http.MethodPost, "blocks/headerIds", p.fromNode),
		node(http.MethodGet, "transactions/poolHistogram", p.fromNode),
		node(http.MethodGet, "transactions/getFee", p.fromNode),
		node(http.MethodGet, "transactions/waitTime", p.fromNode),
		node(http.MethodPost, "transactions", p.submit),
		node(http.MethodPost, "transactions/bytes", p.submit),
		node(http.MethodPost, "transactions/check", p.check),
		node(http.MethodPost, "transactions/checkBytes", p.check),
		node(http.MethodGet, "emission/at/{height}", p.fromNode),
		node(http.MethodGet, "emission/scripts", p.fromNode),
		node(http.MethodGet, "nipopow/popowHeaderById/{id}", p.fromNode),
		node(http.MethodGet, "nipopow/popowHeaderByHeight/{height}", p.fromNode),
		node(http.MethodGet, "nipopow/proof/{m}/{k}", p.fromNode),
		node(http.MethodGet, "utils/seed", p.fromNode),

		node(http.MethodGet, "script/addressToTree/{address}", p.addressToTree),
		node(http.MethodGet, "script/addressToBytes/{address}", p.addressToBytes),
		node(http.MethodGet, "utils/address/{address}", p.checkAddress),
		node(http.MethodPost, "utils/address", p.checkAddress),
		node(http.MethodGet, "utils/addressToRaw/{address}", p.addressToRaw),
		node(http.MethodGet, "utils/rawToAddress/{key}", p.rawToAddress),
		node(http.MethodGet, "utils/ergoTreeToAddress/{tree}", p.treeToAddress),
		node(http.MethodPost, "utils/ergoTreeToAddress", p.treeToAddress),
		node(http.MethodPost, "utils/hash/blake2b", hash),
	}
}
