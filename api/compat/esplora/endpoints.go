package esplora

import (
	"errors"
	"log/slog"
	"net/http"
	"strconv"

	"birthmark/api/compat/wallet"
	"birthmark/api/exchange"
	"birthmark/api/served"
	"birthmark/chains/tapyrus"
	"birthmark/model"
)

// Options configure a handler.
type Options struct {
	Chain *wallet.Chain
	Path  string       // below which the API is served: "/api"; empty: at the root
	Log   *slog.Logger // nil: no log
}

// New returns the handler of all requests below the path of o.
func New(o Options) http.Handler {
	p := newProtocol(o.Chain)
	endpoints := p.endpoints()
	if p.tapyrus {
		endpoints = append(endpoints, p.coloredEndpoints()...)
	}
	return exchange.Handler(exchange.Protocol[*view]{
		Path: o.Path, Log: o.Log, Endpoints: endpoints, Open: p.open, Error: failure, NotFound: notFound,
	})
}

// Needs is [wallet.Needs] of this API, which serves Tapyrus, too.
var Needs = func() served.Needs {
	n := wallet.Needs
	n.Also = []string{tapyrus.Spec.Name}
	return n
}()

// protocol has the endpoints.
type protocol struct {
	*wallet.Chain
	tapyrus bool // in the form of esplora-tapyrus
}

func newProtocol(c *wallet.Chain) *protocol { return &protocol{c, c.Coin() == tapyrus.Spec.Name} }

type (
	request = exchange.Request
	answer  = func(*view) (any, error)
)

// view is the chain at one tip, for one request.
type view struct {
	*wallet.View
	r      *request
	places map[uint32]wallet.Place // by height
}

func (p *protocol) open(r *request, fn func(*view) error) error {
	return p.View(r.Context(), func(v *wallet.View) error { return fn(&view{View: v, r: r}) })
}

func get(path string, a func(*request) answer) exchange.Endpoint[*view] {
	return exchange.Endpoint[*view]{Method: http.MethodGet, Path: path, Answer: a}
}

func (p *protocol) endpoints() []exchange.Endpoint[*view] {
	post := func(path string, a func(*request) answer) exchange.Endpoint[*view] {
		return exchange.Endpoint[*view]{Method: http.MethodPost, Path: path, Answer: a}
	}
	node := func(method, path string, a func(*request) (any, error)) exchange.Endpoint[*view] {
		return exchange.Endpoint[*view]{Method: method, Path: path, Node: a}
	}
	return []exchange.Endpoint[*view]{
		get("blocks/tip/hash", tipHash),
		get("blocks/tip/height", tipHeight),
		get("blocks", p.blocks),
		get("blocks/{start}", p.blocks),
		get("block-height/{height}", hashAt),
		get("block/{hash}", p.oneBlock),
		get("block/{hash}/status", blockStatus),
		get("block/{hash}/txids", blockTxIDs),
		get("block/{hash}/txid/{index}", blockTxID),
		get("block/{hash}/txs", p.blockTxs),
		get("block/{hash}/txs/{start}", p.blockTxs),
		get("block/{hash}/header", blockHeader),
		get("block/{hash}/raw", rawBlock),

		get("tx/{id}", p.oneTx),
		get("tx/{id}/status", txStatus),
		get("tx/{id}/hex", txHex),
		get("tx/{id}/raw", txRaw),
		get("tx/{id}/merkle-proof", merkleProof),
		get("tx/{id}/merkleblock-proof", merkleBlock),
		get("tx/{id}/outspend/{index}", outspend),
		get("tx/{id}/outspends", outspends),
		get("txs/outspends", manyOutspends),

		node(http.MethodPost, "tx", p.submitBody),
		node(http.MethodGet, "broadcast", p.submitParam),
		node(http.MethodPost, "txs/package", p.submitPackage),
		node(http.MethodPost, "txs/test", p.testAccept),

		get("address/{address}", p.scriptStats),
		get("address/{address}/txs", p.scriptTxs),
		get("address/{address}/txs/chain", p.confirmedTxs),
		get("address/{address}/txs/chain/{last}", p.confirmedTxs),
		get("address/{address}/txs/mempool", p.unconfirmedTxs),
		get("address/{address}/txs/summary", p.summary),
		get("address/{address}/txs/summary/{last}", p.summary),
		get("address/{address}/utxo", p.unspent),
		get("address-prefix/{prefix}", addressPrefix),
		post("addresses/txs", p.addressesTxs),
		post("addresses/txs/summary", p.addressesSummary),
		post("addresses/txs/summary/{last}", p.addressesSummary),
		get("scripthash/{hash}", p.scriptStats),
		get("scripthash/{hash}/txs", p.scriptTxs),
		get("scripthash/{hash}/txs/chain", p.confirmedTxs),
		get("scripthash/{hash}/txs/chain/{last}", p.confirmedTxs),
		get("scripthash/{hash}/txs/mempool", p.unconfirmedTxs),
		get("scripthash/{hash}/txs/summary", p.summary),
		get("scripthash/{hash}/txs/summary/{last}", p.summary),
		get("scripthash/{hash}/utxo", p.unspent),
		post("scripthashes/txs", p.scriptHashesTxs),
		post("scripthashes/txs/summary", p.scriptHashesSummary),
		post("scripthashes/txs/summary/{last}", p.scriptHashesSummary),

		get("mempool", mempool),
		get("mempool/txids", mempoolIDs),
		get("mempool/txids/page", mempoolPage),
		get("mempool/txids/page/{last}", mempoolPage),
		get("mempool/recent", p.mempoolRecent),
		node(http.MethodGet, "fee-estimates", p.feeEstimates),
		get("v1/block/{hash}", p.oneBlock), // mempool.js has these three below v1
		get("v1/blocks", p.blocks),
		get("v1/blocks/{start}", p.blocks),
		node(http.MethodGet, "v1/fees/recommended", p.recommendedFees),
	}
}

// Lifetimes of answers in caches, in seconds.
const (
	forever = 157_784_630 // five years, for immutable answers
	shortly = 10
	recent  = 5
	never   = 0
)

// finalDepth is the number of blocks above a block after which answers about it are cached forever.
const finalDepth = 10

// byDepth sets the lifetime of an answer about something confirmed at a height.
func (v *view) byDepth(height uint32) {
	if tip := uint32(v.Tip.Height); tip >= height && tip-height >= finalDepth {
		v.r.CacheFor(forever)
	} else {
		v.r.CacheFor(shortly)
	}
}

func (v *view) byPlace(p wallet.Place) {
	if p.Confirmed {
		v.byDepth(p.Height)
	} else {
		v.r.CacheFor(shortly)
	}
}

// hashArg returns a hash of the path, which is in display order.
func hashArg(r *request, name string) model.Hash {
	text, _ := r.Arg(name)
	h, ok := parseHash(text)
	if !ok {
		r.Refuse(errHex)
	}
	return h
}

// numberArg returns a number of the path.
func numberArg(r *request, name string) uint32 {
	text, _ := r.Arg(name)
	n, ok := number(text)
	if !ok {
		r.Refuse(errorf(http.StatusBadRequest, "Invalid number"))
	}
	return n
}

func parseHash(text string) (h model.Hash, ok bool) {
	if len(text) != 2*len(h) {
		return h, false
	}
	for i := range h {
		high, low := nibble(text[2*i]), nibble(text[2*i+1])
		if high > 15 || low > 15 {
			return h, false
		}
		h[len(h)-1-i] = high<<4 | low
	}
	return h, true
}

// nibble returns the value of a hex digit, or 255.
func nibble(c byte) byte {
	switch {
	case c >= '0' && c <= '9':
		return c - '0'
	case c >= 'a' && c <= 'f':
		return c - 'a' + 10
	case c >= 'A' && c <= 'F':
		return c - 'A' + 10
	}
	return 255
}

// number reads a number without sign. One that is larger than every height is returned as the largest.
func number(text string) (n uint32, ok bool) {
	wide, err := strconv.ParseUint(text, 10, 32)
	if errors.Is(err, strconv.ErrRange) {
		return 1<<32 - 1, true
	}
	return uint32(wide), err == nil
}

// limitParam returns a positive number of the query, at most a maximum; of other values, the value otherwise.
func limitParam(r *request, name string, most, otherwise int) int {
	if n, err := strconv.Atoi(r.Param(name)); err == nil && n > 0 {
		return min(n, most)
	}
	return otherwise
}
