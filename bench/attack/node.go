package attack

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"net"
	"net/http"
)

// node serves the tip and the unconfirmed transactions of a chain as Bitcoin Core does, without notifications.
type node struct {
	tip    int
	hashes []string // of the blocks by height
	ids    []string // of the unconfirmed transactions
	txs    map[string]string
}

// serveNode serves the node of a chain until stop is called.
func serveNode(c *bitcoinChain) (url string, stop func(), err error) {
	n := &node{tip: c.Height(), txs: map[string]string{}, ids: []string{}}
	for _, b := range c.Blocks() {
		n.hashes = append(n.hashes, b.BlockHash().String())
	}
	for _, tx := range c.pool {
		var raw bytes.Buffer
		if err := tx.Serialize(&raw); err != nil {
			return "", nil, err
		}
		id := tx.TxHash().String()
		n.ids, n.txs[id] = append(n.ids, id), hex.EncodeToString(raw.Bytes())
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	s := &http.Server{Handler: n}
	go func() { _ = s.Serve(l) }()
	return "http://user:password@" + l.Addr().String(), func() { _ = s.Close() }, nil
}

type rpcCall struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params []any           `json:"params"`
}

type rpcAnswer struct {
	ID     json.RawMessage `json:"id"`
	Result any             `json:"result"`
	Error  any             `json:"error"`
}

// ServeHTTP implements [http.Handler].
func (n *node) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var body json.RawMessage
	var calls []rpcCall
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	alone := json.Unmarshal(body, &calls) != nil
	if alone {
		calls = make([]rpcCall, 1)
		if err := json.Unmarshal(body, &calls[0]); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
	}
	answers := make([]rpcAnswer, len(calls))
	for i, c := range calls {
		answers[i] = rpcAnswer{ID: c.ID, Result: n.call(c.Method, c.Params)}
		if answers[i].Result == nil {
			answers[i].Error = map[string]any{"code": -32601, "message": "Method not found"}
		}
	}
	var answer any = answers
	if alone {
		answer = answers[0]
	}
	_ = json.NewEncoder(w).Encode(answer)
}

// call returns the result of a call; nil if the node does not have it.
func (n *node) call(method string, params []any) any {
	switch method {
	case "getblockchaininfo":
		return map[string]any{"chain": "regtest", "blocks": n.tip, "headers": n.tip, "bestblockhash": n.hashes[n.tip]}
	case "getbestblockhash":
		return n.hashes[n.tip]
	case "getblockhash":
		if h, ok := argument[float64](params, 0); ok && int(h) <= n.tip {
			return n.hashes[int(h)]
		}
	case "getnetworkinfo":
		return map[string]any{"version": 280000, "subversion": "/Satoshi:28.0.0/", "protocolversion": 70016}
	case "getzmqnotifications":
		return []any{}
	case "getrawmempool":
		if numbered, _ := argument[bool](params, 1); numbered {
			return map[string]any{"txids": n.ids, "mempool_sequence": 1}
		}
		return n.ids
	case "getrawtransaction":
		id, _ := argument[string](params, 0)
		if raw, ok := n.txs[id]; ok {
			return raw
		}
	}
	return nil
}

func argument[T any](params []any, i int) (v T, ok bool) {
	if i >= len(params) {
		return v, false
	}
	v, ok = params[i].(T)
	return v, ok
}
