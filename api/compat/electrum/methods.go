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

// methods are all methods by name. It is filled by init because methods refer to it.
var methods map[string]*method

func init() {
	const script, height, tx = "scripthash", "height", "tx_hash"
	methods = map[string]*method{
		"server.version":          {params: []string{"client_name", "protocol_version"}, lax: true, free: true, run: (*moment).serverVersion},
		"server.banner":           {free: true, run: (*moment).banner},
		"server.donation_address": {free: true, run: (*moment).donation},
		"server.features":         {run: (*moment).features},
		"server.ping":             {params: []string{"pong_len", "data"}, free: true, run: (*moment).ping},
		"server.add_peer":         {params: []string{"features"}, free: true, run: (*moment).addPeer},
		"server.peers.subscribe":  {free: true, run: (*moment).peers},

		"blockchain.headers.subscribe": {params: []string{"raw"}, run: (*moment).subscribeHeaders},
		"blockchain.headers.get_tip":   {run: (*moment).headersTip},
		"blockchain.block.header":      {params: []string{height, "cp_height"}, required: 1, run: (*moment).blockHeader},
		"blockchain.block.headers":     {params: []string{"start_height", "count", "cp_height"}, required: 2, run: (*moment).blockHeaders},

		"blockchain.estimatefee":    {params: []string{"number", "mode"}, required: 1, free: true, run: (*moment).estimateFee},
		"blockchain.relayfee":       {free: true, removed: version{1, 6}, run: (*moment).relayFee},
		"mempool.get_info":          {free: true, run: (*moment).mempoolInfo},
		"mempool.get_fee_histogram": {run: (*moment).feeHistogram},

		"blockchain.scripthash.get_balance":   {params: []string{script}, required: 1, run: (*moment).balance},
		"blockchain.scripthash.get_history":   {params: []string{script, "from_height", "to_height"}, required: 1, run: (*moment).history},
		"blockchain.scripthash.get_mempool":   {params: []string{script}, required: 1, run: (*moment).mempool},
		"blockchain.scripthash.listunspent":   {params: []string{script}, required: 1, run: (*moment).unspent},
		"blockchain.scripthash.get_first_use": {params: []string{script}, required: 1, run: (*moment).firstUse},
		"blockchain.scripthash.get_status":    {params: []string{script}, required: 1, run: (*moment).scriptStatus},
		"blockchain.scripthash.subscribe":     {params: []string{script}, required: 1, run: (*moment).subscribe},
		"blockchain.scripthash.unsubscribe":   {params: []string{script}, required: 1, run: (*moment).unsubscribe},

		"blockchain.transaction.get":                     {params: []string{tx, "verbose"}, required: 1, run: (*moment).transaction},
		"blockchain.transaction.get_merkle":              {params: []string{tx, height}, required: 1, run: (*moment).merkle},
		"blockchain.transaction.id_from_pos":             {params: []string{height, "tx_pos", "merkle"}, required: 2, run: (*moment).idFromPos},
		"blockchain.transaction.get_height":              {params: []string{tx}, required: 1, run: (*moment).txHeight},
		"blockchain.transaction.get_confirmed_blockhash": {params: []string{tx, "include_header"}, required: 1, run: (*moment).confirmedBlock},
		"blockchain.transaction.broadcast":               {params: []string{"raw_tx"}, required: 1, free: true, run: (*moment).broadcast},
		"blockchain.transaction.broadcast_package":       {params: []string{"raw_txs", "verbose"}, required: 1, free: true, run: (*moment).broadcastPackage},

		"blockchain.utxo.get_info":        {params: []string{tx, "out_n"}, required: 2, run: (*moment).utxo},
		"blockchain.outpoint.get_status":  {params: []string{tx, "txout_idx", "spk_hint"}, required: 2, run: (*moment).outpointStatus},
		"blockchain.outpoint.subscribe":   {params: []string{tx, "txout_idx", "spk_hint"}, required: 2, run: (*moment).subscribeOutpoint},
		"blockchain.outpoint.unsubscribe": {params: []string{tx, "txout_idx"}, required: 2, run: (*moment).unsubscribeOutpoint},
	}
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
