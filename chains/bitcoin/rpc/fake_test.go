package rpc

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"birthmark/chains/bitcoin/block"
	"birthmark/chains/bitcoin/params"
	"birthmark/model"
)

// fakeBlock is a header with a parent, and filler up to size bytes.
func fakeBlock(parent model.Hash, nonce uint32, size int) []byte {
	b := make([]byte, max(size, block.HeaderSize))
	copy(b[4:], parent[:])
	binary.LittleEndian.PutUint32(b[76:], nonce)
	for i := block.HeaderSize; i < len(b); i++ {
		b[i] = byte(i * int(nonce+1))
	}
	return b
}

// fakeChain returns n blocks on top of the last of below.
func fakeChain(below [][]byte, n, size int, branch uint32) [][]byte {
	chain := slices.Clone(below)
	for range n {
		parent := model.Hash{}
		if len(chain) > 0 {
			parent = blockHash(chain[len(chain)-1])
		}
		chain = append(chain, fakeBlock(parent, branch<<16|uint32(len(chain)), size))
	}
	return chain
}

// fake is a scripted node. Tests change its fields between calls under its lock.
type fake struct {
	t      *testing.T
	server *httptest.Server

	mu       sync.Mutex
	chain    [][]byte
	stale    [][]byte // known blocks that are not on the best chain
	network  string
	extra    map[string]any // additional fields of getblockchaininfo
	rest     bool
	btcd     bool // behave like btcd if it differs from Core
	txCalls  bool // getrawtransaction with a block hash
	below    int  // blocks below are pruned
	auth     string
	reorder  func(replies []json.RawMessage)
	wrong    func(hash string, raw []byte) []byte              // replaces the result of getblock and REST's block
	first    func(w http.ResponseWriter, r *http.Request) bool // if it returns true, it has handled the request
	errors   map[string]rpcError                               // by method
	unspent  string
	txs      []uint64                       // result of getchaintxstats by height
	watch    func(net.Conn, http.ConnState) // states of the server's connections
	heights  map[string]int                 // of chain, by hash
	indexed  *byte                          // the last block in heights
	requests []string                       // POST and its calls, or the path
}

func newFake(t *testing.T, blocks int) *fake {
	f := &fake{t: t, chain: fakeChain(nil, blocks, 300, 0), network: "regtest", errors: map[string]rpcError{}}
	f.server = httptest.NewUnstartedServer(f)
	f.server.Config.ConnState = func(conn net.Conn, state http.ConnState) {
		f.mu.Lock()
		watch := f.watch
		f.mu.Unlock()
		if watch != nil {
			watch(conn, state)
		}
	}
	f.server.Start()
	t.Cleanup(f.server.Close)
	return f
}

func (f *fake) set(change func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	change()
}

// asked returns the requests since the last call.
func (f *fake) asked() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	asked := f.requests
	f.requests = nil
	return asked
}

func (f *fake) point(h int) model.Point {
	return model.Point{Height: model.HeightPk(h), Hash: block.Header(f.chain[h]).Hash()}
}

func (f *fake) points(from, n int) (ps []model.Point) {
	for h := from; h < from+n; h++ {
		ps = append(ps, f.point(h))
	}
	return ps
}

// url returns the URL of the fake with user information and a path.
func (f *fake) url(user string, more ...string) string {
	return strings.Replace(f.server.URL, "://", "://"+user, 1) + strings.Join(more, "")
}

// network returns a network of Bitcoin with another block 0.
func network(name string, genesis model.Hash) *params.Network {
	i := slices.IndexFunc(params.Networks, func(n *params.Network) bool { return n.Name == name })
	n := *params.Networks[i]
	n.Genesis = genesis
	return &n
}

// client returns a client of the fake; change may be nil.
func (f *fake) client(user string, change func(*Options)) *Client {
	f.t.Helper()
	o := Options{URL: f.url(user), Network: network("regtest", block.Header(f.chain[0]).Hash())}
	if change != nil {
		change(&o)
	}
	c, err := New(o)
	if err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(func() { c.Close() })
	return c
}

func (f *fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	first := f.first
	f.mu.Unlock()
	if first == nil || !first(w, r) {
		f.serve(w, r)
	}
}

// serve responds as the test defines.
func (f *fake) serve(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	path, isREST := strings.CutPrefix(r.URL.Path, "/rest/")
	if r.Method == http.MethodGet {
		f.requests = append(f.requests, r.URL.Path)
	}
	switch user, password, _ := r.BasicAuth(); {
	case isREST && f.rest:
		if r.Header.Get("Authorization") != "" {
			f.t.Error("REST was sent a password")
		}
		f.serveREST(w, path)
	case isREST && !f.btcd:
		w.WriteHeader(http.StatusNotFound)
	case f.auth != "" && f.auth != user+":"+password:
		http.Error(w, "401 Unauthorized.", http.StatusUnauthorized)
	case r.Method != http.MethodPost:
		http.Error(w, "JSONRPC server handles only POST requests", http.StatusMethodNotAllowed)
	default:
		f.serveBatch(w, r)
	}
}

func (f *fake) serveBatch(w http.ResponseWriter, r *http.Request) {
	var batch []struct {
		Version string `json:"jsonrpc"`
		ID      int
		Method  string
		Params  []any
	}
	if err := json.NewDecoder(r.Body).Decode(&batch); err != nil {
		f.t.Errorf("a request that does not parse: %v", err)
		return
	}
	asked := "POST"
	replies := make([]json.RawMessage, len(batch))
	for i, c := range batch {
		if i == 0 || c.Method != batch[i-1].Method {
			asked += " " + c.Method
		}
		result, failure := f.call(c.Method, c.Params)
		if c.Version != "2.0" || c.Params == nil {
			f.t.Errorf("a call of version %q with parameters %v", c.Version, c.Params)
		}
		reply := map[string]any{"jsonrpc": "2.0", "id": c.ID, "result": result}
		if failure != nil {
			reply["error"], reply["result"] = failure, nil
		}
		replies[i], _ = json.Marshal(reply)
	}
	f.requests = append(f.requests, asked)
	if f.reorder != nil {
		f.reorder(replies)
	}
	text, _ := json.Marshal(replies)
	_, _ = w.Write(append(text, '\n'))
}

func (f *fake) info() map[string]any {
	info := map[string]any{
		"chain": f.network, "blocks": len(f.chain) - 1, "headers": len(f.chain) - 1,
		"bestblockhash": block.FormatHash(blockHash(f.chain[len(f.chain)-1])), "pruned": f.below > 0,
	}
	if f.below > 0 && !f.btcd {
		info["pruneheight"] = f.below
	}
	for k, v := range f.extra {
		info[k] = v
	}
	return info
}

// find returns a block by its hash, with its height on the best chain, else -1.
func (f *fake) find(hash string) ([]byte, int) {
	if tip := f.chain[len(f.chain)-1]; f.indexed != &tip[0] {
		f.indexed, f.heights = &tip[0], map[string]int{}
		for h, b := range f.chain {
			f.heights[block.FormatHash(block.Header(b).Hash())] = h
		}
	}
	if h, ok := f.heights[hash]; ok {
		return f.chain[h], h
	}
	for _, b := range f.stale {
		if block.FormatHash(block.Header(b).Hash()) == hash {
			return b, -1
		}
	}
	return nil, -1
}

func (f *fake) call(method string, params []any) (any, any) {
	if e, ok := f.errors[method]; ok {
		return nil, e
	}
	switch method {
	case "getblockchaininfo":
		return f.info(), nil
	case "getbestblockhash":
		return f.info()["bestblockhash"], nil
	case "getblockhash":
		h := int(params[0].(float64))
		switch {
		case h < len(f.chain):
			return block.FormatHash(block.Header(f.chain[h]).Hash()), nil
		case f.btcd:
			return nil, rpcError{-1, "Block number out of range"}
		}
		return nil, rpcError{-8, "Block height out of range"}
	case "getblock":
		hash := params[0].(string)
		raw, h := f.find(hash)
		switch {
		case params[1] != 0.0:
			f.t.Errorf("getblock with a verbosity of %v", params[1])
		case raw == nil || f.btcd && h >= 0 && h < f.below:
			return nil, rpcError{-5, "Block not found"}
		case h >= 0 && h < f.below:
			return nil, rpcError{-1, "Block not available (pruned data)"}
		}
		if f.wrong != nil {
			raw = f.wrong(hash, raw)
		}
		return hex.EncodeToString(raw), nil
	case "getrawtransaction":
		switch {
		case f.btcd && len(params) > 2:
			return nil, rpcError{-32602, "wrong number of params (expected between 1 and 2, received 3)"}
		case f.txCalls:
			if params[1] != 0.0 {
				f.t.Errorf("getrawtransaction with a verbosity of %v", params[1])
			}
			return f.rawTx(params[0].(string), params[2].(string))
		}
	case "getchaintxstats":
		if _, h := f.find(params[1].(string)); f.txs != nil && params[0] == 0.0 {
			if h < 0 {
				return nil, rpcError{-5, "Block not found"}
			}
			return map[string]any{"txcount": f.txs[h]}, nil
		}
	case "gettxoutsetinfo":
		if f.unspent != "" && params[0] == "none" {
			return json.RawMessage(f.unspent), nil
		}
	}
	return nil, rpcError{-32601, "Method not found"}
}

// rawTx returns a transaction of a block, which must be well-formed.
func (f *fake) rawTx(id, hash string) (any, any) {
	b, _ := f.find(hash)
	for i := 0; ; i++ {
		raw, err := block.Bitcoin.TxAt(b, i)
		if err != nil {
			return nil, rpcError{-5, "No such transaction found in the provided block"}
		}
		if got, err := block.Bitcoin.TxID(raw); err == nil && block.FormatHash(got) == id {
			return hex.EncodeToString(raw), nil
		}
	}
}

// serveREST answers like Core.
func (f *fake) serveREST(w http.ResponseWriter, path string) {
	what, of, _ := strings.Cut(path, "/")
	switch what {
	case "chaininfo.json":
		_ = json.NewEncoder(w).Encode(f.info())
	case "blockhashbyheight":
		h, err := strconv.Atoi(strings.TrimSuffix(of, ".json"))
		if err != nil || h >= len(f.chain) {
			http.Error(w, "Block height out of range", http.StatusNotFound)
			return
		}
		_ = json.NewEncoder(w).Encode(map[string]string{"blockhash": block.FormatHash(block.Header(f.chain[h]).Hash())})
	case "headers":
		count, hash, _ := strings.Cut(strings.TrimSuffix(of, ".bin"), "/")
		n, err := strconv.Atoi(count)
		if err != nil || n < 1 || n > 2000 {
			http.Error(w, "Header count out of range: "+count, http.StatusBadRequest)
			return
		}
		if _, h := f.find(hash); h >= 0 {
			for _, b := range f.chain[h:min(h+n, len(f.chain))] {
				_, _ = w.Write(b[:block.HeaderSize])
			}
		}
	case "block":
		hash := strings.TrimSuffix(of, ".bin")
		raw, h := f.find(hash)
		switch {
		case raw == nil:
			http.Error(w, hash+" not found", http.StatusNotFound)
			return
		case h >= 0 && h < f.below:
			http.Error(w, hash+" not available (pruned data)", http.StatusNotFound)
			return
		}
		if f.wrong != nil {
			raw = f.wrong(hash, raw)
		}
		_, _ = w.Write(raw)
	default:
		w.WriteHeader(http.StatusNotFound)
	}
}

func sameBlocks(got, want [][]byte) error {
	if len(got) != len(want) {
		return fmt.Errorf("%d blocks, expected %d", len(got), len(want))
	}
	for i := range got {
		if !bytes.Equal(got[i], want[i]) {
			return fmt.Errorf("block %d differs", i)
		}
	}
	return nil
}

func blockHash(raw []byte) model.Hash { return block.Header(raw).Hash() }
