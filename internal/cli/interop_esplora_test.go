//go:build interop

package cli

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/wire/v2"

	"birthmark/internal/testnode/btcdtest"
)

// runClient runs a program of tools/interop/esplora with a list of calls, and decodes its answers.
func runClient(t *testing.T, answers, questions any, args ...string) {
	t.Helper()
	in, err := json.Marshal(questions)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "node", args...)
	cmd.Dir = filepath.Join("..", "..", "tools", "interop", "esplora")
	cmd.Stdin, cmd.Stderr = bytes.NewReader(in), os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("node %s: %v: make test-interop installs what it needs", args[0], err)
	}
	if err := json.Unmarshal(out, answers); err != nil {
		t.Fatalf("node %s: %v: %.1000s", args[0], err, out)
	}
}

// esploraWorld serves the chain of a node with two unconfirmed transactions, of which the second spends the first.
func esploraWorld(t *testing.T, more string) (s *esploraServer, fund, child *wire.MsgTx) {
	t.Helper()
	node := btcdtest.Start(t)
	node.MineEveryScript(t, 160)
	s = serveEsplora(t, node, more)
	s.synced(t)
	coinbase := btcdtest.Decode(t, node.Block(t, node.HashAt(t, 61))).Transactions[0]
	script := btcdtest.Kinds()[10].Script // witness_v0_keyhash
	fund = btcdtest.Pay(coinbase, 0, wire.NewTxOut(coinbase.TxOut[0].Value-10_000, script))
	rest := fund.TxOut[0].Value - 1_020_000
	child = btcdtest.Pay(fund, 0, wire.NewTxOut(1_000_000, script), wire.NewTxOut(rest, coinbase.TxOut[0].PkScript))
	for _, tx := range []*wire.MsgTx{fund, child} {
		if status, text := s.post(t, "api/tx", rawHex(tx)); status != 200 {
			t.Fatalf("send: %d %s", status, text)
		}
	}
	return s, fund, child
}

// @bitcoinerlab/explorer gets the same answers over Esplora and over Electrum.
func TestInteropExplorerOverEsploraAndElectrum(t *testing.T) {
	t.Parallel()
	electrum := freeAddress(t)
	s, fund, child := esploraWorld(t, `, electrum: "`+electrum+`"`)
	var questions [][]any
	for _, k := range btcdtest.Kinds() {
		hash, err := hex.DecodeString(hashOfScript(k.Script))
		if err != nil {
			t.Fatal(err)
		}
		slices.Reverse(hash)
		scriptHash := hex.EncodeToString(hash)
		questions = append(questions, []any{"fetchScriptHash", scriptHash},
			[]any{"fetchTxHistory", map[string]string{"scriptHash": scriptHash}})
	}
	for h := range 161 {
		questions = append(questions, []any{"fetchBlockStatus", h})
	}
	for _, tx := range []*wire.MsgTx{fund, child} {
		questions = append(questions, []any{"fetchTx", tx.TxHash().String()})
	}
	questions = append(questions, []any{"fetchBlockHeight"}, []any{"fetchBlockStatus", 161},
		[]any{"fetchTx", strings.Repeat("ab", 32)})
	var a struct{ Esplora, Electrum []any }
	runClient(t, &a, questions, "explorer.js", "regtest", s.URL+"api", electrum)
	if len(a.Esplora) != len(questions) || len(a.Electrum) != len(questions) {
		t.Fatalf("%d and %d answers to %d questions", len(a.Esplora), len(a.Electrum), len(questions))
	}
	transactions := 0
	for i, q := range questions {
		one, other := a.Esplora[i], a.Electrum[i]
		if i == len(questions)-1 { // an unknown transaction is an error, whose text differs
			if !failed(one) || !failed(other) {
				t.Errorf("an unknown transaction: %v and %v", one, other)
			}
			continue
		}
		if list, ok := one.([]any); ok {
			transactions += len(list)
			one, other = sorted(one), sorted(other) // the order within a block may differ
		}
		if failed(one) || !reflect.DeepEqual(one, other) {
			t.Errorf("%v:\n esplora %.500v\nelectrum %.500v", q, one, other)
		}
	}
	if transactions < 500 {
		t.Errorf("the histories have only %d transactions", transactions)
	}
}

func failed(answer any) bool {
	m, ok := answer.(map[string]any)
	return ok && m["error"] != nil
}

func sorted(list any) any {
	all, ok := list.([]any)
	if !ok {
		return list
	}
	return slices.SortedFunc(slices.Values(all), func(a, b any) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
}

// freeAddress returns an address without a listener.
func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// mempool.js returns the same data as the server's answers at the paths of the API.
func TestInteropMempoolJS(t *testing.T) {
	t.Parallel()
	s, fund, child := esploraWorld(t, "")
	tip := string(s.get(t, "api/blocks/tip/hash").body)
	var tx struct {
		Vout []struct {
			Address string `json:"scriptpubkey_address"`
		}
	}
	s.get(t, "api/tx/"+fund.TxHash().String()).into(t, &tx)
	confirmed := btcdtest.Decode(t, s.node.Block(t, s.node.Tip(t).Hash)).Transactions[1].TxHash().String()
	var questions [][]any
	var paths []string
	add := func(path, group, method string, argument any) {
		questions, paths = append(questions, []any{group, method, argument}), append(paths, "api/"+path)
	}
	address := tx.Vout[0].Address
	a := map[string]any{"address": address}
	add("address/"+address, "addresses", "getAddress", a)
	add("address/"+address+"/txs", "addresses", "getAddressTxs", a)
	add("address/"+address+"/txs/chain", "addresses", "getAddressTxsChain", a)
	add("address/"+address+"/txs/mempool", "addresses", "getAddressTxsMempool", a)
	add("address/"+address+"/utxo", "addresses", "getAddressTxsUtxo", a)
	h := map[string]any{"hash": tip, "index": 1, "start_index": 0, "height": 100, "start_height": 100}
	add("block/"+tip, "blocks", "getBlock", h)
	add("block/"+tip+"/status", "blocks", "getBlockStatus", h)
	add("block/"+tip+"/txs/0", "blocks", "getBlockTxs", h)
	add("block/"+tip+"/txids", "blocks", "getBlockTxids", h)
	add("block/"+tip+"/txid/1", "blocks", "getBlockTxid", h)
	add("block/"+tip+"/header", "blocks", "getBlockHeader", h)
	add("block-height/100", "blocks", "getBlockHeight", h)
	add("blocks/100", "blocks", "getBlocks", h)
	add("blocks/tip/height", "blocks", "getBlocksTipHeight", nil)
	add("blocks/tip/hash", "blocks", "getBlocksTipHash", nil)
	add("mempool", "mempool", "getMempool", nil)
	add("mempool/txids", "mempool", "getMempoolTxids", nil)
	add("mempool/recent", "mempool", "getMempoolRecent", nil)
	add("v1/fees/recommended", "fees", "getFeesRecommended", nil)
	for _, id := range []string{confirmed, fund.TxHash().String(), child.TxHash().String(), strings.Repeat("ab", 32)} {
		x := map[string]any{"txid": id, "vout": 0}
		add("tx/"+id, "transactions", "getTx", x)
		add("tx/"+id+"/status", "transactions", "getTxStatus", x)
		add("tx/"+id+"/hex", "transactions", "getTxHex", x)
		add("tx/"+id+"/merkle-proof", "transactions", "getTxMerkleProof", x)
		add("tx/"+id+"/merkleblock-proof", "transactions", "getTxMerkleBlockProof", x)
		add("tx/"+id+"/outspend/0", "transactions", "getTxOutspend", x)
		add("tx/"+id+"/outspends", "transactions", "getTxOutspends", x)
	}
	var answers []any
	runClient(t, &answers, questions, "mempool.js", s.Listen)
	if len(answers) != len(questions) {
		t.Fatalf("%d answers to %d questions", len(answers), len(questions))
	}
	for i, path := range paths {
		if want := s.expected(t, path); !reflect.DeepEqual(answers[i], want) {
			t.Errorf("%v:\n got %.500v\nwant %.500v", questions[i], answers[i], want)
		}
	}
	next := btcdtest.Pay(child, 0, wire.NewTxOut(900_000, fund.TxOut[0].PkScript))
	runClient(t, &answers, [][]any{{"transactions", "postTx", map[string]any{"txhex": rawHex(next)}}}, "mempool.js", s.Listen)
	if want := next.TxHash().String(); len(answers) != 1 || answers[0] != want {
		t.Errorf("postTx: %v, expected %s", answers, want)
	}
}

// expected returns the result of a client that parses an answer as JSON if possible.
func (s *esploraServer) expected(t *testing.T, path string) (v any) {
	t.Helper()
	r := s.get(t, path)
	if r.status != 200 {
		return map[string]any{"status": float64(r.status), "error": string(r.body)}
	}
	if json.Unmarshal(r.body, &v) != nil {
		return string(r.body)
	}
	return v
}
