// Package cointest tests coins of Bitcoin's kind: [Fixture] is the input of package chaintest from generated chains,
// [Addresses] compares addresses with their scripts, and [Node] serves a chain as a node's JSON-RPC or REST does.
package cointest

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"birthmark/bench/generate/coingen"
	"birthmark/chains/bitcoin"
	"birthmark/chains/bitcoin/block"
	"birthmark/chains/bitcoin/params"
	"birthmark/chains/chaintest"
	"birthmark/model"
)

// Fixture returns a fixture of a coin: a generated chain, and more inputs of real blocks. Custom indexes are those of
// Bitcoin, whose test has the examples of their fields.
func Fixture(t testing.TB, c *coingen.Coin, inputs ...chaintest.Input) chaintest.Fixture {
	t.Helper()
	o := coingen.Options{Seed: 7, TxsPerBlock: 5}
	made := coingen.New(c, o)
	for range 12 {
		made.Next()
	}
	file := chaintest.Input{Name: "generated", Network: c.Network, Data: made.File()}
	return chaintest.Fixture{
		New:       func(network string) (model.Chain, error) { return bitcoin.Open(c.Spec, network) },
		Networks:  c.Spec.NetworkNames(),
		Inputs:    append([]chaintest.Input{file}, inputs...),
		NoExample: []string{""},
		Branches: func(t testing.TB, depth int) (network, ours, theirs string) {
			a, b := coingen.Replay(c, o, 12), coingen.Replay(c, o, 12-depth)
			for range depth + 3 {
				b.Next()
			}
			return c.Network, write(t, a), write(t, b)
		},
	}
}

// Open returns a coin on one of its networks; "" is the default.
func Open(t testing.TB, coin *params.Spec, network string) model.Chain {
	t.Helper()
	c, err := bitcoin.Open(coin, network)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// write writes a chain to a block file and returns its URI.
func write(t testing.TB, c *coingen.Chain) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "blk00000.dat"), c.File(), 0o600); err != nil {
		t.Fatal(err)
	}
	return "file://" + dir
}

// Addresses checks that addresses of a chain are those of scripts in hex, in both directions.
func Addresses(t *testing.T, c model.Chain, scripts map[string]string) {
	t.Helper()
	s := c.(model.Scripter)
	for address, want := range scripts {
		script, err := s.AddressScript(address)
		if got := hex.EncodeToString(script); err != nil || got != want {
			t.Errorf("the script of %s is %s, %v, expected %s", address, got, err, want)
		}
		if got := s.ScriptAddress(script); got != address {
			t.Errorf("the address of %s is %s, expected %s", want, got, address)
		}
	}
}

// Block decodes a serialized block of a network and fails unless it has this hash and this number of transactions.
func Block(t *testing.T, c model.Chain, raw []byte, hash string, txs int) *model.Block {
	t.Helper()
	var names []string
	for _, x := range c.Indexes() {
		names = append(names, x.Name)
	}
	for b, err := range c.Decode(t.Context(), bytes.NewReader(raw), names, 1) {
		if err != nil {
			t.Fatalf("block %s: %v", hash, err)
		}
		if got := c.FormatHash(b.Hash); got != hash || len(b.Txs) != txs || b.Size != len(raw) {
			t.Errorf("block %s: hash %s, %d transactions of %d, %d bytes of %d", hash, got, len(b.Txs), txs, b.Size, len(raw))
		}
		none := func(model.HeightPk) ([]byte, error) { return nil, nil }
		if err := c.(model.HeaderChecker).CheckHeader(b, none); err != nil {
			t.Errorf("block %s: %v", hash, err)
		}
		return b
	}
	return nil
}

// Node serves the blocks of a chain of Bitcoin's kind, which it asks for at each request, and returns its URL. The
// network is regtest.
func Node(t testing.TB, format *block.Format, rest bool, blocks func() [][]byte) (url string) {
	t.Helper()
	return NodeOf(t, map[string]string{"chain": "regtest"}, format, rest, blocks)
}

// NodeOf is Node of another network, with its fields of getblockchaininfo.
func NodeOf(t testing.TB, network map[string]string, format *block.Format, rest bool, blocks func() [][]byte) (url string) {
	t.Helper()
	return start(t, &node{network: network, format: format, rest: rest, blocks: blocks})
}

// NodeWithPool is a node on a network by its name in getblockchaininfo, with unconfirmed transactions, which it returns
// under their ids.
func NodeWithPool(t testing.TB, network string, format *block.Format, blocks func() [][]byte, pool func() map[string][]byte) (url string) {
	t.Helper()
	return start(t, &node{network: map[string]string{"chain": network}, format: format, blocks: blocks, pool: pool})
}

func start(t testing.TB, n *node) (url string) {
	n.heights = map[string]int{}
	server := httptest.NewServer(n)
	t.Cleanup(server.Close)
	return strings.Replace(server.URL, "://", "://user:pass@", 1)
}

type node struct {
	network map[string]string
	format  *block.Format
	rest    bool
	blocks  func() [][]byte
	pool    func() map[string][]byte // nil: it has no mempool

	mu      sync.Mutex
	served  [][]byte // the blocks of the last request
	hashes  []string // theirs
	heights map[string]int
}

// update sets the blocks of a request. It hashes the blocks that differ from those of the last request.
func (n *node) update(blocks [][]byte) {
	same := 0
	for same < min(len(blocks), len(n.served)) && &blocks[same][0] == &n.served[same][0] {
		same++
	}
	for _, hash := range n.hashes[same:] {
		delete(n.heights, hash)
	}
	n.served, n.hashes = blocks, n.hashes[:same]
	for h, raw := range blocks[same:] {
		hash := block.FormatHash(n.format.HashOf(raw))
		n.hashes, n.heights[hash] = append(n.hashes, hash), same+h
	}
}

// find returns the height of a block, -1 if it is not on the chain.
func (n *node) find(hash string) (height int) {
	if h, ok := n.heights[hash]; ok {
		return h
	}
	return -1
}

func (n *node) info() map[string]any {
	last := len(n.served) - 1
	info := map[string]any{"blocks": last, "headers": last, "bestblockhash": n.hashes[last]}
	for key, value := range n.network {
		info[key] = value
	}
	return info
}

func (n *node) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	n.mu.Lock()
	defer n.mu.Unlock()
	blocks := n.blocks()
	n.update(blocks)
	if r.Method == http.MethodGet {
		n.serveREST(w, r, blocks)
		return
	}
	var calls []struct {
		ID     int    `json:"id"`
		Method string `json:"method"`
		Params []any  `json:"params"`
	}
	if err := json.NewDecoder(r.Body).Decode(&calls); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	out := bufio.NewWriter(w)
	defer out.Flush()
	for i, c := range calls {
		_, _ = out.WriteString(map[bool]string{true: "[", false: ","}[i == 0])
		reply := map[string]any{"id": c.ID, "result": nil, "error": nil}
		switch c.Method {
		case "getblockchaininfo":
			reply["result"] = n.info()
		case "getbestblockhash":
			reply["result"] = n.hashes[len(blocks)-1]
		case "getblockhash":
			if h := int(c.Params[0].(float64)); h < len(blocks) {
				reply["result"] = n.hashes[h]
			} else {
				reply["error"] = map[string]any{"code": -8, "message": "Block height out of range"}
			}
		case "getblock":
			if h := n.find(c.Params[0].(string)); h >= 0 { // without a copy of a large block
				fmt.Fprintf(out, `{"id":%d,"error":null,"result":"`, c.ID)
				_, _ = hex.NewEncoder(out).Write(blocks[h])
				_, _ = out.WriteString(`"}`)
				continue
			}
			reply["error"] = map[string]any{"code": -5, "message": "Block not found"}
		default:
			n.callPool(c.Method, c.Params, reply)
		}
		_ = json.NewEncoder(out).Encode(reply)
	}
	_, _ = out.WriteString("]")
}

// callPool answers a method of the mempool.
func (n *node) callPool(method string, params []any, reply map[string]any) {
	switch {
	case n.pool != nil && method == "getrawmempool" && len(params) == 0:
		reply["result"] = slices.Sorted(maps.Keys(n.pool()))
	case n.pool != nil && method == "getrawtransaction":
		if raw, ok := n.pool()[params[0].(string)]; ok {
			reply["result"] = hex.EncodeToString(raw)
		} else {
			reply["error"] = map[string]any{"code": -5, "message": "No such mempool transaction"}
		}
	default:
		reply["error"] = map[string]any{"code": -32601, "message": "Method not found"}
	}
}

func (n *node) serveREST(w http.ResponseWriter, r *http.Request, blocks [][]byte) {
	path := strings.Split(strings.TrimPrefix(r.URL.Path, "/rest/"), "/")
	name, _, _ := strings.Cut(path[len(path)-1], ".")
	number, _ := strconv.Atoi(name)
	found := n.find(name)
	switch {
	case !n.rest:
	case path[0] == "chaininfo.json":
		_ = json.NewEncoder(w).Encode(n.info())
		return
	case path[0] == "blockhashbyheight" && number < len(blocks):
		fmt.Fprintf(w, `{"blockhash":%q}`, n.hashes[number])
		return
	case path[0] == "block" && found >= 0:
		if found%2 == 0 { // otherwise it does not state the size
			w.Header().Set("Content-Length", strconv.Itoa(len(blocks[found])))
		}
		_, _ = w.Write(blocks[found])
		return
	case path[0] == "headers" && found >= 0:
		count, _ := strconv.Atoi(path[1])
		for _, raw := range blocks[found:min(found+count, len(blocks))] {
			_, _ = w.Write(n.format.WithTail(raw))
		}
		return
	}
	http.NotFound(w, r)
}
