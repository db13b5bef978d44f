package onesat

import (
	"log/slog"
	"net/http"

	"birthmark/api/compat/wallet"
	"birthmark/api/exchange"
	"birthmark/api/served"
	sat "birthmark/chains/bitcoinsv/onesat"
	"birthmark/core/schema"
	"birthmark/model"
)

// Indexes that the protocol reads.
const (
	addressIndex  = "address"
	contractIndex = "contract"
	typeIndex     = "content_type"
	parentIndex   = "parent"
	symbolIndex   = "symbol"
)

const features = schema.FeatureBalance | schema.FeatureHistory | schema.FeatureUnspent

// Needs lists the indexes and abilities of nodes that the protocol reads.
var Needs = served.Needs{Chain: "bitcoin-sv", Preset: "onesat", Node: "http://127.0.0.1:8332", Parts: []served.Need{
	{Index: "script_hash", Options: features},
	{Index: addressIndex, Options: features},
	{Index: contractIndex}, {Index: typeIndex}, {Index: parentIndex}, {Index: symbolIndex},
	{Raw: true},
	{Mempool: true, Without: "unconfirmed transactions"},
}}

// Options configure a handler.
type Options struct {
	Chain *wallet.Chain
	Rules model.TokenRules // of the chain
	Path  string           // below which the API is served: "/bsv"; empty: at the root
	Log   *slog.Logger     // nil: no log
}

// New returns the handler of all requests below the path of o. Its errors are of kind [model.Usage], code bad_setting,
// if the database lacks BSV-21 or ordinals.
func New(o Options) (http.Handler, error) {
	rules, ok := o.Rules.(sat.Rules)
	if !ok || rules.NoTokens || rules.NoOrdinals {
		return nil, model.Errorf(model.Usage, "bad_setting",
			"serve.onesat needs a database with BSV-21 and ordinals: create one with the setting assets: %s", sat.All)
	}
	p := &protocol{o.Chain, o.Path}
	return exchange.Handler(exchange.Protocol[*view]{
		Path: o.Path, Log: o.Log, Endpoints: p.endpoints(), Open: p.open, Error: failure, NotFound: notFound,
	}), nil
}

// protocol has the endpoints.
type protocol struct {
	*wallet.Chain
	path string
}

type (
	request = exchange.Request
	answer  = func(*view) (any, error)
)

// view is the chain at one tip, for one request.
type view struct {
	*wallet.View
	*protocol
}

func (p *protocol) open(r *request, fn func(*view) error) error {
	return p.View(r.Context(), func(v *wallet.View) error { return fn(&view{v, p}) })
}

// capabilities are the parts of 1sat-stack that are served.
var capabilities = []string{"beef", "pubsub", "txo", "owner", "bsv21", "ordfs", "chaintracks", "arcade", "overlay"}

// clientPrefix precedes all paths of the client but those of content and of capabilities. 1sat-stack itself has a base
// path in its place.
const clientPrefix = "1sat/"

func (p *protocol) endpoints() (all []exchange.Endpoint[*view]) {
	constant := func(v any) func(*request) (any, error) { return func(*request) (any, error) { return v, nil } }
	all = append(all, exchange.Endpoint[*view]{Method: http.MethodGet, Path: "content/{path...}", Answer: content})
	for _, prefix := range []string{"", clientPrefix} {
		get := func(path string, a func(*request) answer) {
			all = append(all, exchange.Endpoint[*view]{Method: http.MethodGet, Path: prefix + path, Answer: a})
		}
		post := func(path string, a func(*request) answer) {
			all = append(all, exchange.Endpoint[*view]{Method: http.MethodPost, Path: prefix + path, Answer: a})
		}
		node := func(path string, a func(*request) (any, error)) {
			all = append(all, exchange.Endpoint[*view]{Method: http.MethodGet, Path: prefix + path, Node: a})
		}
		node("capabilities", constant(capabilities))
		node("health", constant(map[string]string{"status": "ok"}))

		post("bsv21/lookup", lookupTokens)
		get("bsv21/{id}", oneToken)
		get("bsv21/{id}/tx/{txid}", tokenTx)
		get("bsv21/{id}/blk/{height}", tokenBlock)
		get("bsv21/{id}/outputs/{outpoint}", tokenOutput)
		post("bsv21/{id}/outputs", tokenOutputs)
		for _, what := range []struct {
			name string
			of   func(*request, func() []string) answer
		}{{"balance", tokenBalance}, {"history", tokenHistory}, {"unspent", tokenUnspent}} {
			get("bsv21/{id}/{lock}/{address}/"+what.name, func(r *request) answer {
				return what.of(r, func() []string { return []string{arg(r, "address")} })
			})
			post("bsv21/{id}/{lock}/"+what.name, func(r *request) answer {
				return what.of(r, func() []string { return addressesIn(r) })
			})
		}

		post("txo/outpoints", manyOutputs)
		post("txo/spends", manySpends)
		get("txo/tx/{txid}", outputsOfTx)
		get("txo/search", searchOutputs)
		get("txo/{outpoint}", oneOutput)
		get("txo/{outpoint}/spend", oneSpend)

		get("owner/sync", ownerSync)
		get("owner/{owner}/txos", ownerOutputs)
		get("owner/{owner}/balance", ownerBalance)
		node("sse/{topics}", p.events)

		get("ordfs/metadata/{path...}", metadata)
		post("ordfs/metadata", manyMetadata)
		node("ordfs/preview/{html}", preview)
		all = append(all, exchange.Endpoint[*view]{Method: http.MethodPost, Path: prefix + "ordfs/preview", Node: previewBody})
		get("ordfs/stream/{outpoint}", streamContent)

		get("beef/{txid}", beef)
		get("beef/{txid}/tx", rawTx)
		get("beef/{txid}/proof", proof)

		get("chaintracks/tip", tipHeader)
		node("chaintracks/tip/stream", p.tips)
		node("chaintracks/network", p.network)
		get("chaintracks/headers", rawHeaders)
		get("chaintracks/header/height/{height}", headerAt)
		get("chaintracks/header/hash/{hash}", headerOf)

		get("arcade/tx/{txid}", txStatus)
		node("arcade/policy", p.policy)

		node("overlay/listTopicManagers", constant(map[string]any{}))
		node("overlay/listLookupServiceProviders", constant(map[string]any{}))
	}
	return all
}

func arg(r *request, name string) string {
	value, _ := r.Arg(name)
	return value
}
