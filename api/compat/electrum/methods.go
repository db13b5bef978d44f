package electrum

import (
	"encoding/hex"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"birthmark/api/compat/wallet"
	"birthmark/model"
)

// method is a method of the protocol. run appends its result, which is JSON, to out.
type method struct {
	params   []string // names, in order
	required int      // number of parameters without a default
	lax      bool     // other parameters are ignored
	free     bool     // it needs no view
	removed  version  // the first version without it; zero: none
	run      func(*moment, *args) error
}

// of returns a method with these parameters, of which the first ones are required.
func of(run func(*moment, *args) error, required int, params ...string) *method {
	return &method{params: params, required: required, run: run}
}

// free returns a method that needs no view.
func free(run func(*moment, *args) error, required int, params ...string) *method {
	return &method{params: params, required: required, run: run, free: true}
}

// methods are all methods by name. It is filled by init because methods refer to it.
var methods map[string]*method

func init() {
	const script, height, tx = "scripthash", "height", "tx_hash"
	methods = map[string]*method{
		"server.version":          free((*moment).serverVersion, 0, "client_name", "protocol_version"),
		"server.banner":           free((*moment).banner, 0),
		"server.donation_address": free((*moment).donation, 0),
		"server.features":         of((*moment).features, 0),
		"server.ping":             free((*moment).ping, 0, "pong_len", "data"),
		"server.add_peer":         free((*moment).addPeer, 0, "features"),
		"server.peers.subscribe":  free((*moment).peers, 0),

		"blockchain.headers.subscribe": of((*moment).subscribeHeaders, 0, "raw"),
		"blockchain.headers.get_tip":   of((*moment).headersTip, 0),
		"blockchain.block.header":      of((*moment).blockHeader, 1, height, "cp_height"),
		"blockchain.block.headers":     of((*moment).blockHeaders, 2, "start_height", "count", "cp_height"),

		"blockchain.estimatefee":    free((*moment).estimateFee, 1, "number", "mode"),
		"blockchain.relayfee":       free((*moment).relayFee, 0),
		"mempool.get_info":          free((*moment).mempoolInfo, 0),
		"mempool.get_fee_histogram": of((*moment).feeHistogram, 0),

		"blockchain.scripthash.get_balance":   of((*moment).balance, 1, script),
		"blockchain.scripthash.get_history":   of((*moment).history, 1, script, "from_height", "to_height"),
		"blockchain.scripthash.get_mempool":   of((*moment).mempool, 1, script),
		"blockchain.scripthash.listunspent":   of((*moment).unspent, 1, script),
		"blockchain.scripthash.get_first_use": of((*moment).firstUse, 1, script),
		"blockchain.scripthash.get_status":    of((*moment).scriptStatus, 1, script),
		"blockchain.scripthash.subscribe":     of((*moment).subscribe, 1, script),
		"blockchain.scripthash.unsubscribe":   of((*moment).unsubscribe, 1, script),

		"blockchain.transaction.get":                     of((*moment).transaction, 1, tx, "verbose"),
		"blockchain.transaction.get_merkle":              of((*moment).merkle, 1, tx, height),
		"blockchain.transaction.id_from_pos":             of((*moment).idFromPos, 2, height, "tx_pos", "merkle"),
		"blockchain.transaction.get_height":              of((*moment).txHeight, 1, tx),
		"blockchain.transaction.get_confirmed_blockhash": of((*moment).confirmedBlock, 1, tx, "include_header"),
		"blockchain.transaction.broadcast":               free((*moment).broadcast, 1, "raw_tx"),
		"blockchain.transaction.broadcast_package":       free((*moment).broadcastPackage, 1, "raw_txs", "verbose"),

		"blockchain.utxo.get_info":        of((*moment).utxo, 2, tx, "out_n"),
		"blockchain.outpoint.get_status":  of((*moment).outpointStatus, 2, tx, "txout_idx", "spk_hint"),
		"blockchain.outpoint.subscribe":   of((*moment).subscribeOutpoint, 2, tx, "txout_idx", "spk_hint"),
		"blockchain.outpoint.unsubscribe": of((*moment).unsubscribeOutpoint, 2, tx, "txout_idx"),
	}
	methods["server.version"].lax = true
	methods["blockchain.relayfee"].removed = version{1, 6}
}

// call answers a request. name is that of its method, or unknown.
func (m *moment) call(r *request) (name string, err error) {
	if r.err != nil {
		return "unknown", r.err
	}
	name = string(r.method)
	f := methods[name]
	if f == nil {
		return "unknown", &rpcError{codeMethod, fmt.Sprintf("unknown method %q", name)}
	}
	if f.removed != (version{}) && !m.version.before(f.removed) {
		return name, &rpcError{codeMethod, fmt.Sprintf("%s is not part of protocol %v", name, m.version)}
	}
	var a args
	if err := a.bind(f, r); err != nil {
		return name, err
	}
	if !f.free && m.failed != nil {
		return name, m.failed
	}
	return name, f.run(m, &a)
}

// args are the values of the parameters of a method, JSON; nil: not passed.
type args struct {
	of     *method
	values [maxParams][]byte
}

func (a *args) bind(f *method, r *request) error {
	a.of = f
	if r.named {
		for i, name := range r.names[:min(r.n, maxParams)] {
			at := slices.Index(f.params, string(name))
			if at < 0 && !f.lax {
				return badParams("%s has no parameter %q", r.method, name)
			}
			if at >= 0 {
				a.values[at] = r.values[i]
			}
		}
	} else {
		copy(a.values[:len(f.params)], r.values[:])
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

// text returns a string; ok is false if the parameter is not passed or null.
func (a *args) text(i int) (s string, ok bool, err error) {
	v := a.values[i]
	switch {
	case v == nil || v[0] == 'n':
		return "", false, nil
	case v[0] != '"':
		return "", false, badRequest("%s should be a string", a.of.params[i])
	}
	return string(unquote(v)), true, nil
}

// number returns a non-negative integer, or def if the parameter is not passed or null.
func (a *args) number(i int, def int64) (int64, error) {
	v := a.values[i]
	if v == nil || v[0] == 'n' {
		return def, nil
	}
	if v[0] == '"' {
		v = unquote(v)
	}
	n, err := strconv.ParseInt(string(v), 10, 64)
	if err != nil || n < 0 {
		return 0, badRequest("%.80s should be a non-negative integer", v)
	}
	return n, nil
}

// height returns a height.
func (a *args) height(i int) (uint32, error) {
	n, err := a.number(i, 0)
	if err == nil && n > math.MaxUint32 {
		err = badRequest("height %d out of range", n)
	}
	return uint32(n), err
}

// flag returns a Boolean; not passed: false.
func (a *args) flag(i int) (bool, error) {
	switch v := string(a.values[i]); v {
	case "true", "1":
		return true, nil
	case "", "null", "false", "0":
		return false, nil
	}
	return false, badRequest("%.80s should be a boolean", a.values[i])
}

// hash returns a hash as it is displayed; what names it in an error.
func (a *args) hash(i int, what string) (h model.Hash, err error) {
	v := a.values[i]
	if len(v) == 2*len(h)+2 && v[0] == '"' {
		if _, err := hex.Decode(h[:], v[1:len(v)-1]); err == nil {
			slices.Reverse(h[:])
			return h, nil
		}
	}
	return h, badRequest("%.80s should be %s", strings.Trim(string(v), `"`), what)
}

func (a *args) tx(i int) (model.Hash, error) { return a.hash(i, "a transaction hash") }

func (a *args) script(i int) (wallet.Key, error) {
	h, err := a.hash(i, "a script hash")
	return wallet.Key(h), err
}
