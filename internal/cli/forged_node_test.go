package cli

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/btcsuite/btcd/wire/v2"

	"birthmark/internal/testnode/bitcointest"
)

// madeNode responds like Bitcoin Core, with blocks of the test, valid or not.
type madeNode struct {
	network string // the name in Core
	rest    bool

	mu     sync.Mutex
	blocks [][]byte
	hashes []string
	asked  int // number of requests for the tip
	// tip returns the height and the hash of the tip; if it is nil, the tip is the last block.
	tip func(asked int) (int, string)
}

// serveBlocks starts a node with blocks. Sources use its URL.
func serveBlocks(t *testing.T, network string, rest bool, blocks ...*wire.MsgBlock) (n *madeNode, url string) {
	t.Helper()
	n = &madeNode{network: network, rest: rest}
	for _, b := range blocks {
		n.blocks = append(n.blocks, bitcointest.Bytes(b))
		n.hashes = append(n.hashes, b.BlockHash().String())
	}
	s := httptest.NewServer(n)
	t.Cleanup(s.Close)
	return n, strings.Replace(s.URL, "://", "://user:password@", 1)
}

// info returns the result of getblockchaininfo.
func (n *madeNode) info() map[string]any {
	height, hash := len(n.hashes)-1, n.hashes[len(n.hashes)-1]
	if n.asked++; n.tip != nil {
		height, hash = n.tip(n.asked)
	}
	return map[string]any{"chain": n.network, "blocks": height, "headers": height, "bestblockhash": hash}
}

func (n *madeNode) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if r.Method == http.MethodPost {
		n.rpc(w, r)
		return
	}
	words := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	if !n.rest || words[0] != "rest" {
		http.NotFound(w, r)
		return
	}
	last, binary := strings.CutSuffix(words[len(words)-1], ".bin")
	last = strings.TrimSuffix(last, ".json")
	at := slices.Index(n.hashes, last)
	switch {
	case last == "chaininfo":
		_ = json.NewEncoder(w).Encode(n.info())
	case words[1] == "blockhashbyheight":
		if h, err := strconv.Atoi(last); err == nil && h < len(n.hashes) {
			fmt.Fprintf(w, `{"blockhash":%q}`, n.hashes[h])
			return
		}
		http.NotFound(w, r)
	case words[1] == "headers" && binary && at >= 0:
		count, _ := strconv.Atoi(words[2])
		for _, b := range n.blocks[at:min(at+count, len(n.blocks))] {
			_, _ = w.Write(b[:80])
		}
	case words[1] == "block" && binary && at >= 0:
		_, _ = w.Write(n.blocks[at])
	default:
		http.NotFound(w, r)
	}
}

func (n *madeNode) rpc(w http.ResponseWriter, r *http.Request) {
	var calls []struct {
		ID     json.RawMessage
		Method string
		Params []any
	}
	if err := json.NewDecoder(r.Body).Decode(&calls); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	answers := make([]map[string]any, len(calls))
	for i, c := range calls {
		answers[i] = map[string]any{"id": c.ID, "error": nil}
		switch c.Method {
		case "getblockchaininfo":
			answers[i]["result"] = n.info()
		case "getbestblockhash":
			answers[i]["result"] = n.info()["bestblockhash"]
		case "getblockhash":
			h := int(c.Params[0].(float64))
			if h < len(n.hashes) {
				answers[i]["result"] = n.hashes[h]
				continue
			}
			answers[i]["error"] = map[string]any{"code": -8, "message": "Block height out of range"}
		case "getblock":
			if at := slices.Index(n.hashes, c.Params[0].(string)); at >= 0 {
				answers[i]["result"] = hex.EncodeToString(n.blocks[at])
				continue
			}
			answers[i]["error"] = map[string]any{"code": -5, "message": "Block not found"}
		default:
			answers[i]["error"] = map[string]any{"code": -32601, "message": "Method not found"}
		}
	}
	_ = json.NewEncoder(w).Encode(answers)
}
