package btcdtest_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/chainhash/v2"
	"github.com/btcsuite/btcd/txscript/v2"
	"github.com/btcsuite/btcd/wire/v2"

	"birthmark/internal/testnode/btcdtest"
	"birthmark/internal/testrun"
	"birthmark/model"
)

func answered(t *testing.T, r *http.Response, err error) (status int, body []byte) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	if body, err = io.ReadAll(r.Body); err != nil {
		t.Fatal(err)
	}
	return r.StatusCode, body
}

func rest(t *testing.T, c *btcdtest.Core, path string) (status int, body []byte) {
	t.Helper()
	r, err := http.Get(c.URL() + "/rest/" + path)
	return answered(t, r, err)
}

func ask(t *testing.T, url, call string) (status int, body []byte) {
	t.Helper()
	r, err := http.Post(url, "application/json", strings.NewReader(call))
	return answered(t, r, err)
}

func text(h model.Hash) string { return chainhash.Hash(h).String() }

// hasBlocks checks that REST returns the chain of the node.
func hasBlocks(t *testing.T, c *btcdtest.Core, n *btcdtest.Node) {
	t.Helper()
	blocks, tip := n.Blocks(t), n.Tip(t)
	var info struct {
		Chain  string `json:"chain"`
		Blocks int    `json:"blocks"`
		Best   string `json:"bestblockhash"`
	}
	status, body := rest(t, c, "chaininfo.json")
	if err := json.Unmarshal(body, &info); err != nil || status != http.StatusOK ||
		info.Chain != "regtest" || info.Blocks != int(tip.Height) || info.Best != text(tip.Hash) {
		t.Errorf("the chain is %s, %v; the node's tip is %v", body, err, tip)
	}
	var headers []byte
	for h, raw := range blocks {
		hash := text(n.HashAt(t, model.HeightPk(h)))
		if status, body := rest(t, c, fmt.Sprintf("blockhashbyheight/%d.json", h)); status != http.StatusOK || !strings.Contains(string(body), `"`+hash+`"`) {
			t.Errorf("block %d has the hash %s (%d), the node's is %s", h, body, status, hash)
		}
		if status, body := rest(t, c, "block/"+hash+".bin"); status != http.StatusOK || !bytes.Equal(body, raw) {
			t.Errorf("block %d (%d) differs from the node's", h, status)
		}
		headers = append(headers, raw[:80]...)
	}
	for _, q := range []struct{ from, count int }{{0, 1}, {0, 2000}, {len(blocks) / 3, 4}, {len(blocks) - 1, 5}} {
		path := fmt.Sprintf("headers/%d/%s.bin", q.count, text(n.HashAt(t, model.HeightPk(q.from))))
		want := headers[80*q.from : 80*min(q.from+q.count, len(blocks))]
		if status, body := rest(t, c, path); status != http.StatusOK || !bytes.Equal(body, want) {
			t.Errorf("%s: %d bytes (%d), expected %d", path, len(body), status, len(want))
		}
	}
}

func TestCoreServesTheNodesChain(t *testing.T) {
	n := btcdtest.Start(t)
	c := n.Core(t)
	hasBlocks(t, c, n)
	stale := n.Generate(t, 12)[11]
	hasBlocks(t, c, n)
	lost := n.Block(t, stale)
	n.Fork(t, 3, 5)
	hasBlocks(t, c, n)

	if status, body := rest(t, c, "block/"+text(stale)+".bin"); status != http.StatusOK || !bytes.Equal(body, lost) {
		t.Errorf("an orphaned block: %d, %d bytes", status, len(body))
	}
	if status, body := rest(t, c, "headers/5/"+text(stale)+".bin"); status != http.StatusOK || len(body) != 0 {
		t.Errorf("headers from an orphaned block: %d, %d bytes", status, len(body))
	}
	unknown := strings.Repeat("ab", 32)
	for _, q := range []struct {
		path   string
		status int
		says   string
	}{
		{"block/" + unknown + ".bin", http.StatusNotFound, unknown + " not found"},
		{"block/abc.bin", http.StatusBadRequest, "Invalid hash: abc"},
		{"blockhashbyheight/15.json", http.StatusNotFound, "Block height out of range"},
		{"headers/2001/" + unknown + ".bin", http.StatusBadRequest, "Header count"},
		{"block/" + unknown + ".xml", http.StatusNotFound, "output format not found"},
	} {
		if status, body := rest(t, c, q.path); status != q.status || !strings.HasPrefix(string(body), q.says) {
			t.Errorf("%s: %q (%d), expected %q (%d)", q.path, body, status, q.says, q.status)
		}
	}
	if asked := c.Asked(); asked["rest block"] == 0 || asked["rest headers"] == 0 || asked["rest chaininfo"] != 3 || asked["rpc"] != 0 {
		t.Errorf("Asked returned %v", asked)
	}

	n.Kill(t)
	if status, _ := rest(t, c, "chaininfo.json"); status != http.StatusServiceUnavailable {
		t.Errorf("without its node the status is %d", status)
	}
}

func TestCoreRequiresAPassword(t *testing.T) {
	testrun.Slow(t) // mines 140 blocks
	n := btcdtest.Start(t)
	c := n.Core(t)
	n.MineEveryScript(t, 140)
	const count = `{"jsonrpc":"1.0","id":7,"method":"getblockcount","params":[]}`
	if status, _ := ask(t, c.URL(), count); status != http.StatusUnauthorized {
		t.Errorf("a call without a password: %d", status)
	}
	if _, body := ask(t, c.RPC(), count); !strings.Contains(string(body), `"result":140`) {
		t.Errorf("getblockcount: %s", body)
	}

	// The same figure computed differently: created outputs minus spent outputs.
	outputs, value := uint64(0), int64(0)
	made := map[wire.OutPoint]int64{}
	for _, raw := range n.Blocks(t)[1:] {
		for i, tx := range btcdtest.Decode(t, raw).Transactions {
			for j, out := range tx.TxOut {
				if s := out.PkScript; len(s) > 10_000 || len(s) > 0 && s[0] == txscript.OP_RETURN {
					continue
				}
				outputs++
				value += out.Value
				made[wire.OutPoint{Hash: tx.TxHash(), Index: uint32(j)}] = out.Value
			}
			for _, in := range tx.TxIn {
				if i > 0 {
					outputs--
					value -= made[in.PreviousOutPoint]
				}
			}
		}
	}
	tip := n.Tip(t)
	const one = `{"jsonrpc":"1.0","id":7,"method":"gettxoutsetinfo","params":["none"]}`
	for _, call := range []string{one, "[" + one + "]"} {
		_, body := ask(t, c.RPC(), call)
		if call != one {
			body = bytes.TrimSuffix(bytes.TrimPrefix(bytes.TrimSpace(body), []byte("[")), []byte("]"))
		}
		var a struct {
			ID     int
			Result struct {
				Height  model.HeightPk
				Best    string      `json:"bestblock"`
				Outputs uint64      `json:"txouts"`
				Total   json.Number `json:"total_amount"`
			}
		}
		if err := json.Unmarshal(body, &a); err != nil || a.ID != 7 || a.Result.Height != tip.Height || a.Result.Best != text(tip.Hash) {
			t.Errorf("%s: %s, %v", call, body, err)
		}
		if want := fmt.Sprintf("%d.%08d", value/1e8, value%1e8); a.Result.Outputs != outputs || a.Result.Total.String() != want {
			t.Errorf("%s: %d outputs of %s bitcoins, expected %d of %s", call, a.Result.Outputs, a.Result.Total, outputs, want)
		}
	}
}
