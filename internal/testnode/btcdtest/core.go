package btcdtest

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"birthmark/internal/testnode/bitcointest"
	"birthmark/model"

	"github.com/btcsuite/btcd/chaincfg/v2"
	"github.com/btcsuite/btcd/chainhash/v2"
	"github.com/btcsuite/btcd/txscript/v2"
	"github.com/btcsuite/btcd/wire/v2"
)

// Core is a proxy of a btcd that answers like Bitcoin Core with -rest=1: REST from the node's blocks, gettxoutsetinfo,
// which btcd lacks, and every other call from the node.
type Core struct {
	Host string // host and port

	node *Node

	mu    sync.Mutex
	chain []block        // the node's best chain by height at the last refresh
	asked map[string]int // number of requests by their first two words
}

type block struct {
	hash string
	raw  []byte
}

// Core starts such a proxy, which stops when the test ends.
func (n *Node) Core(t testing.TB) *Core {
	c := &Core{node: n, asked: map[string]int{}}
	s := httptest.NewServer(c)
	t.Cleanup(s.Close)
	c.Host = strings.TrimPrefix(s.URL, "http://")
	return c
}

// URL is the URL of REST without user and password; JSON-RPC refuses requests without them.
func (c *Core) URL() string { return "http://" + c.Host }

// RPC is the URL with user and password.
func (c *Core) RPC() string { return "http://" + user + ":" + password + "@" + c.Host }

// Asked returns the number of requests of each kind: "rest block", "rest headers", "rpc".
func (c *Core) Asked() map[string]int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return maps.Clone(c.asked)
}

func (c *Core) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodPost {
		c.rpc(w, r)
		return
	}
	words := strings.Split(strings.TrimPrefix(r.URL.Path, "/"), "/")
	if len(words) < 2 || words[0] != "rest" {
		http.NotFound(w, r)
		return
	}
	kind, _, _ := strings.Cut(words[1], ".")
	chain, err := c.look(r.Context(), "rest "+kind)
	if err != nil {
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
		return
	}
	c.rest(w, r, chain, words[1:])
}

func (c *Core) rest(w http.ResponseWriter, r *http.Request, chain []block, words []string) {
	last := words[len(words)-1]
	hash, binary := strings.CutSuffix(last, ".bin")
	tip := len(chain) - 1
	switch {
	case last == "chaininfo.json":
		reply(w, map[string]any{
			"chain": "regtest", "blocks": tip, "headers": tip, "bestblockhash": chain[tip].hash,
			"difficulty": 4.656542373906925e-10, "pruned": false, "initialblockdownload": false,
		})
	case words[0] == "blockhashbyheight" && strings.HasSuffix(last, ".json"):
		h, err := strconv.Atoi(strings.TrimSuffix(last, ".json"))
		if err != nil || h < 0 || h > tip {
			http.Error(w, "Block height out of range", http.StatusNotFound)
			return
		}
		reply(w, map[string]string{"blockhash": chain[h].hash})
	case words[0] == "headers" && len(words) == 3 && binary:
		count, err := strconv.Atoi(words[1])
		if err != nil || count < 1 || count > 2000 {
			http.Error(w, "Header count out of acceptable range (1-2000): "+words[1], http.StatusBadRequest)
			return
		}
		if h := slices.IndexFunc(chain, func(b block) bool { return b.hash == hash }); h >= 0 {
			for _, b := range chain[h:min(h+count, len(chain))] {
				_, _ = w.Write(b.raw[:headerSize])
			}
		}
	case words[0] == "block" && len(words) == 2 && binary:
		if raw, err := hex.DecodeString(hash); err != nil || len(raw) != chainhash.HashSize {
			http.Error(w, "Invalid hash: "+hash, http.StatusBadRequest)
			return
		}
		raw, err := c.block(r.Context(), chain, hash)
		var refused *rpcError
		switch {
		case errors.As(err, &refused):
			http.Error(w, hash+" not found", http.StatusNotFound)
		case err != nil:
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
		default:
			_, _ = w.Write(raw)
		}
	default:
		http.Error(w, "output format not found (available: .bin, .json)", http.StatusNotFound)
	}
}

// block is a block of the best chain or of a branch.
func (c *Core) block(ctx context.Context, chain []block, hash string) ([]byte, error) {
	if h := slices.IndexFunc(chain, func(b block) bool { return b.hash == hash }); h >= 0 {
		return chain[h].raw, nil
	}
	return c.getBlock(ctx, hash)
}

func (c *Core) getBlock(ctx context.Context, hash string) ([]byte, error) {
	var text string
	if err := call(ctx, c.node.RPC, "getblock", &text, hash, 0); err != nil {
		return nil, err
	}
	return hex.DecodeString(text)
}

// look returns the node's best chain by height.
func (c *Core) look(ctx context.Context, what string) ([]block, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.asked[what]++
	var best struct{ Hash string }
	if err := call(ctx, c.node.RPC, "getbestblock", &best); err != nil {
		return nil, err
	}
	if n := len(c.chain); n > 0 && c.chain[n-1].hash == best.Hash {
		return c.chain, nil
	}
	tip, err := chainhash.NewHashFromStr(best.Hash)
	if err != nil {
		return nil, err
	}
	blocks, err := c.node.chainOnDisk(model.Hash(*tip))
	if err != nil {
		return nil, err
	}
	genesis := chaincfg.RegressionNetParams.GenesisBlock
	c.chain = []block{{genesis.BlockHash().String(), bitcointest.Bytes(genesis)}}
	for _, raw := range blocks {
		c.chain = append(c.chain, block{chainhash.DoubleHashH(raw[:headerSize]).String(), raw})
	}
	return c.chain, nil
}

// rpc answers the calls that btcd lacks and forwards the rest.
func (c *Core) rpc(w http.ResponseWriter, r *http.Request) {
	if u, p, _ := r.BasicAuth(); u != user || p != password {
		w.Header().Set("WWW-Authenticate", `Basic realm="jsonrpc"`)
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	body, err := io.ReadAll(r.Body)
	if err == nil {
		var answer []byte
		if answer, err = c.answer(r.Context(), body); err == nil {
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write(answer)
			return
		}
	}
	http.Error(w, err.Error(), http.StatusServiceUnavailable)
}

// answer accepts single calls and batches; gettxoutsetinfo must be the only call of its batch.
func (c *Core) answer(ctx context.Context, body []byte) ([]byte, error) {
	type request struct {
		Method string
		ID     json.RawMessage
	}
	var alone request
	var batch []request
	isBatch := json.Unmarshal(body, &batch) == nil
	if isBatch && len(batch) == 1 {
		alone = batch[0]
	} else if !isBatch {
		if err := json.Unmarshal(body, &alone); err != nil {
			return nil, err
		}
	}
	if alone.Method != "gettxoutsetinfo" {
		c.mu.Lock()
		c.asked["rpc"]++
		c.mu.Unlock()
		return post(ctx, c.node.RPC, body)
	}
	chain, err := c.look(ctx, "rpc gettxoutsetinfo")
	if err != nil {
		return nil, err
	}
	outputs, value, err := unspent(chain)
	if err != nil {
		return nil, err
	}
	var result any = map[string]any{"jsonrpc": "2.0", "id": alone.ID, "result": map[string]any{
		"height": len(chain) - 1, "bestblock": chain[len(chain)-1].hash, "txouts": outputs,
		"total_amount": json.Number(fmt.Sprintf("%d.%08d", value/1e8, value%1e8)),
	}}
	if isBatch {
		result = []any{result}
	}
	return json.Marshal(result)
}

// unspent counts like Core: without the coinbase of the first block and without unspendable outputs.
func unspent(chain []block) (outputs, value int64, err error) {
	left := map[wire.OutPoint]int64{}
	for _, made := range chain[1:] {
		var b wire.MsgBlock
		if err := b.Deserialize(bytes.NewReader(made.raw)); err != nil {
			return 0, 0, err
		}
		for _, tx := range b.Transactions {
			for _, in := range tx.TxIn {
				delete(left, in.PreviousOutPoint)
			}
			id := tx.TxHash()
			for i, out := range tx.TxOut {
				if s := out.PkScript; len(s) > largestScript || len(s) > 0 && s[0] == txscript.OP_RETURN {
					continue
				}
				left[wire.OutPoint{Hash: id, Index: uint32(i)}] = out.Value
			}
		}
	}
	for _, v := range left {
		value += v
	}
	return int64(len(left)), value, nil
}

func reply(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v)
}
