package electrum

import (
	"slices"
	"strings"
)

// method is a method of the protocol. Each request costs [costPerRequest], its rows and its bytes.
type method struct {
	params   []string // names, in order
	required int      // number of parameters without a default
	lax      bool     // other parameters are ignored
	free     bool     // it needs no view
	removed  version  // the first version without it; zero: none

	// answer reads the arguments, before anything else is read, and returns the function that returns the result.
	answer func(*args) answer
}

type answer = func(*moment) (any, error)

// Parameters that end with a question mark have a default.
var methods = map[string]*method{
	"server.version":          free(serverVersion, "client_name?", "protocol_version?", "…"),
	"server.banner":           free(plain(banner)),
	"server.donation_address": free(plain(donation)),
	"server.features":         reads(plain(features)),
	"server.ping":             free(ping, "pong_len?", "data?"),
	"server.add_peer":         free(plain(always(false)), "features?"),
	"server.peers.subscribe":  free(plain(always([]string{}))),

	"blockchain.headers.subscribe": reads(plain(subscribeHeaders), "raw?"),
	"blockchain.headers.get_tip":   reads(plain(tip)),
	"blockchain.block.header":      reads(blockHeader, "height", "cp_height?"),
	"blockchain.block.headers":     reads(blockHeaders, "start_height", "count", "cp_height?"),

	"blockchain.estimatefee":    free(estimateFee, "number", "mode?"),
	"blockchain.relayfee":       free(plain(relayFee)).until(version{1, 6}),
	"mempool.get_info":          free(plain(mempoolInfo)),
	"mempool.get_fee_histogram": reads(plain(feeHistogram)),

	"blockchain.scripthash.get_balance":   reads(ofScript(balance), "scripthash"),
	"blockchain.scripthash.get_history":   reads(history, "scripthash", "from_height?", "to_height?"),
	"blockchain.scripthash.get_mempool":   reads(ofScript(mempool), "scripthash"),
	"blockchain.scripthash.listunspent":   reads(ofScript(unspent), "scripthash"),
	"blockchain.scripthash.get_first_use": reads(ofScript(firstUse), "scripthash"),
	"blockchain.scripthash.get_status":    reads(scriptStatus, "scripthash"),
	"blockchain.scripthash.subscribe":     reads(subscribe, "scripthash"),
	"blockchain.scripthash.unsubscribe":   reads(unsubscribe, "scripthash"),

	"blockchain.transaction.get":                     reads(transaction, "tx_hash", "verbose?"),
	"blockchain.transaction.get_merkle":              reads(merkle, "tx_hash", "height?"),
	"blockchain.transaction.id_from_pos":             reads(idFromPos, "height", "tx_pos", "merkle?"),
	"blockchain.transaction.get_height":              reads(txHeight, "tx_hash"),
	"blockchain.transaction.get_confirmed_blockhash": reads(confirmedBlock, "tx_hash", "include_header?"),
	"blockchain.transaction.broadcast":               free(broadcast, "raw_tx"),
	"blockchain.transaction.broadcast_package":       free(broadcastPackage, "raw_txs", "verbose?"),

	"blockchain.utxo.get_info":        reads(unspentOutput, "tx_hash", "out_n"),
	"blockchain.outpoint.get_status":  reads(outpointStatus, "tx_hash", "txout_idx", "spk_hint?"),
	"blockchain.outpoint.subscribe":   reads(subscribeOutpoint, "tx_hash", "txout_idx", "spk_hint?"),
	"blockchain.outpoint.unsubscribe": reads(unsubscribeOutpoint, "tx_hash", "txout_idx"),
}

// reads returns a method that reads the chain. After a parameter "…" others are ignored.
func reads(answer func(*args) answer, params ...string) *method {
	f := &method{answer: answer}
	f.params, f.lax = params, len(params) > 0 && params[len(params)-1] == "…"
	if f.lax {
		f.params = params[:len(params)-1]
	}
	for i, param := range f.params {
		var optional bool
		if params[i], optional = strings.CutSuffix(param, "?"); !optional {
			f.required++
		}
	}
	return f
}

// free returns a method that needs no view of the chain.
func free(answer func(*args) answer, params ...string) *method {
	f := reads(answer, params...)
	f.free = true
	return f
}

// until removes a method from a version on.
func (f *method) until(v version) *method {
	f.removed = v
	return f
}

// plain is a method without arguments.
func plain(a answer) func(*args) answer { return func(*args) answer { return a } }

// always returns the same result.
func always(result any) answer { return func(*moment) (any, error) { return result, nil } }

// prepare finds the method of a request and reads its arguments.
func (r *request) prepare() {
	if r.err != nil {
		return
	}
	f := methods[string(r.method)]
	if f == nil {
		r.err = failure(codeMethod, "unknown method %q", r.method)
		return
	}
	r.args.of = f
	if r.err = r.args.bind(r); r.err == nil {
		r.answer, r.err = f.answer(&r.args), r.args.invalid
	}
}

// bind finds the values of the parameters.
func (a *args) bind(r *request) *rpcError {
	f := a.of
	if passed := a.values; r.named {
		a.values = [maxParams][]byte{}
		for i, name := range r.names[:min(r.n, maxParams)] {
			at := slices.Index(f.params, string(name))
			if at < 0 && !f.lax {
				return badParams("%s has no parameter %q", r.method, name)
			}
			if at >= 0 {
				a.values[at] = passed[i]
			}
		}
	}
	if r.n > len(f.params) && !f.lax {
		return badParams("%s has %d parameters, the request has %d", r.method, len(f.params), r.n)
	}
	for i, name := range f.params[:f.required] {
		if a.values[i] == nil {
			return badParams("%s needs the parameter %s", r.method, name)
		}
	}
	return nil
}

// readsChain reports whether a request is answered from a view.
func (r *request) readsChain() bool { return r.err == nil && !r.args.of.free }

// name returns the name of the method; unknown methods have the name unknown.
func (r *request) name() string {
	if r.args.of == nil {
		return "unknown"
	}
	return string(r.method)
}

// call returns the result of a request.
func (m *moment) call(r *request) (any, error) {
	f := r.args.of
	switch {
	case f != nil && f.removed != (version{}) && !m.version.before(f.removed):
		return nil, failure(codeMethod, "%s is not part of protocol %v", r.method, m.version)
	case r.err != nil:
		return nil, r.err
	case !f.free && m.failed != nil:
		return nil, m.failed
	}
	return r.answer(m)
}
