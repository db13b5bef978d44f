package ord

import (
	"log/slog"
	"net/http"
	"time"

	"birthmark/api/bounded"
	"birthmark/api/compat/wallet"
	"birthmark/api/exchange"
	"birthmark/chains/bitcoin/runes"
	"birthmark/model"
)

// Options configure a handler.
type Options struct {
	Chain *wallet.Chain
	Rules model.TokenRules // of the chain
	Path  string           // below which the API is served: "/ord"; empty: at the root
	Log   *slog.Logger     // nil: no log
}

// New returns the handler of all requests below the path of o. Its errors are of kind [model.Usage], code bad_setting,
// if the chain has no runes.
func New(o Options) (http.Handler, error) {
	rules, ok := o.Rules.(*runes.Rules)
	if !ok {
		return nil, model.Errorf(model.Usage, "bad_setting",
			"serve.ord needs a database with runes: create one with the setting assets: runes")
	}
	p := &protocol{Chain: o.Chain, rules: rules, path: o.Path, started: time.Now(), fees: bounded.Cache[model.Hash, *blockFees]{Max: 1 << 12}}
	return exchange.Handler(exchange.Protocol[*view]{
		Path: o.Path, Log: o.Log, Endpoints: p.endpoints(), Open: p.open, Error: failure, NotFound: notFound,
	}), nil
}

// protocol has the endpoints.
type protocol struct {
	*wallet.Chain
	rules   *runes.Rules
	path    string // of the API
	started time.Time
	fees    bounded.Cache[model.Hash, *blockFees] // by block
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

func (p *protocol) endpoints() []exchange.Endpoint[*view] {
	get := func(path string, a func(*request) answer) exchange.Endpoint[*view] {
		return exchange.Endpoint[*view]{Method: http.MethodGet, Path: path, Answer: a}
	}
	return []exchange.Endpoint[*view]{
		get("rune/{rune}", oneRune),
		get("runes", listRunes),
		get("runes/{page}", listRunes),
		get("output/{outpoint}", oneOutput),
		{Method: http.MethodPost, Path: "outputs", Answer: manyOutputs},
		get("outputs/{address}", p.outputsOfAddress),
		get("address/{address}", p.addressInfo),
		get("tx/{id}", oneTx),
		get("decode/{id}", decodeTx),
		get("search", p.search),
		get("search/{query...}", p.search),
		{Method: http.MethodPost, Path: "inscriptions", Answer: manyInscriptions},
		{Method: http.MethodPost, Path: "missing", Answer: missingInscriptions},
		get("block/{block}", oneBlock),
		get("blocks", listBlocks),
		get("blockcount", blockCount),
		get("blockheight", blockHeight),
		get("blockhash", blockHash),
		get("blockhash/{height}", blockHash),
		get("blocktime", blockTime),
		get("r/blockheight", blockHeight),
		get("r/blockhash", blockHashJSON),
		get("r/blockhash/{height}", blockHashJSON),
		get("r/blockinfo/{block}", p.blockInfo),
		get("r/blocktime", blockTime),
		get("r/tx/{id}", rawTx),
		get("r/utxo/{outpoint}", outputAssets),
		get("status", p.status),
	}
}
