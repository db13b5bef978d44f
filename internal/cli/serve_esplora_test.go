package cli

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/wire/v2"

	"birthmark/internal/testnode/btcdtest"
	"birthmark/internal/testrun"
	"birthmark/model"
)

// walletIndexes are the indexes that the wallet protocols need, as settings.
const walletIndexes = `  raw: true
  indexes:
    address: { prefix: true }
    script_hash: { balance: true, history: true, unspent: true }
`

// A database without the required indexes is rejected with a command that adds them. A path of the server is rejected
// too.
func TestServeEsploraRefuses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	db := filepath.Join(dir, "db")
	syncTo(t, db, "file://"+realBlocks(t), "--to-height", "20")
	file := filepath.Join(dir, "birthmark.yaml")
	for _, c := range []struct{ serve, says string }{
		{"/api", "birthmark index add script_hash"},
		{"/v1", "birthmark.yaml:3: serve.esplora: /v1 is a path of the server itself"},
	} {
		write(t, file, fmt.Sprintf("chain: bitcoin\ndb: %s\nserve: { esplora: %s }\n", db, c.serve))
		r := birthmark("serve", "--config", file, "--listen", "127.0.0.1:0")
		if r.status == exitDone || !strings.Contains(strings.ReplaceAll(r.stderr, `"`, ""), c.says) {
			t.Errorf("%s: status %d\n%s", c.serve, r.status, r.stderr)
		}
	}
}

// esploraServer is a server of a regtest node's chain with the Esplora API.
type esploraServer struct {
	*serverProcess
	node *btcdtest.Node
}

func serveEsplora(t *testing.T, node *btcdtest.Node, more string) *esploraServer {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, "birthmark.yaml")
	write(t, file, fmt.Sprintf("memory: 256MiB\nchains:\n- chain: bitcoin\n  network: regtest\n  source: %s\n  db: %s\n%s  serve: { esplora: /api%s }\n",
		node.URL(), filepath.Join(dir, "db"), walletIndexes, more))
	return &esploraServer{startRealServer(t, "--config", file, "--rate-limit", "0"), node}
}

// startRealServer is startServer with the chains of the program. Their sources have everything that wallet protocols
// need.
func startRealServer(t *testing.T, args ...string) *serverProcess {
	t.Helper()
	cmd, _, stderr := process(t, -1, append([]string{"serve", "--json", "--listen", "127.0.0.1:0"}, args...)...)
	return startServing(t, cmd, stderr)
}

// synced waits until the server has the node's tip.
func (s *esploraServer) synced(t *testing.T) {
	t.Helper()
	tip := s.node.Tip(t)
	until(t, "the server to have the tip of the node", func() bool {
		return string(s.get(t, "api/blocks/tip/hash").body) == displayed(tip.Hash)
	})
}

func displayed(h model.Hash) string {
	slices.Reverse(h[:])
	return h.String()
}

// post sends a body and returns the status and the text of the answer.
func (s *serverProcess) post(t *testing.T, path, body string) (int, string) {
	t.Helper()
	a, err := s.client.Post(s.URL+path, "text/plain", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer a.Body.Close()
	text, err := io.ReadAll(a.Body)
	if err != nil {
		t.Fatal(err)
	}
	return a.StatusCode, string(text)
}

// esploraTotals are the totals of a script.
type esploraTotals struct {
	Chain   esploraStats `json:"chain_stats"`
	Mempool esploraStats `json:"mempool_stats"`
}

type esploraStats struct {
	Funded    int   `json:"funded_txo_count"`
	FundedSum int64 `json:"funded_txo_sum"`
	Spent     int   `json:"spent_txo_count"`
	SpentSum  int64 `json:"spent_txo_sum"`
	Txs       int   `json:"tx_count"`
}

type esploraStatus struct {
	Confirmed bool   `json:"confirmed"`
	Height    int    `json:"block_height"`
	Hash      string `json:"block_hash"`
	Time      int    `json:"block_time"`
}

type esploraTx struct {
	TxID   string
	Fee    int64
	Status esploraStatus
}

type esploraSpend struct {
	Spent  bool
	TxID   string
	Vin    int
	Status esploraStatus
}

// The states of a transaction over a node: sent, in the mempool, spent there, confirmed, orphaned, confirmed again.
func TestServeEsploraOverANode(t *testing.T) {
	slow(t)
	t.Parallel()
	node := btcdtest.Start(t)
	node.MineEveryScript(t, 140)
	s := serveEsplora(t, node, "")
	s.synced(t)
	s.compareBlocks(t)

	coinbase := btcdtest.Decode(t, node.Block(t, node.HashAt(t, 41))).Transactions[0]
	script := btcdtest.Kinds()[10].Script // witness_v0_keyhash
	fund := btcdtest.Pay(coinbase, 0, wire.NewTxOut(1_000_000, script), wire.NewTxOut(coinbase.TxOut[0].Value-1_010_000, coinbase.TxOut[0].PkScript))
	id := fund.TxHash().String()
	var before, totals esploraTotals
	scriptPath := "api/scripthash/" + hashOfScript(script)
	s.get(t, scriptPath).into(t, &before)

	if status, text := s.post(t, "api/tx", rawHex(fund)); status != http.StatusOK || text != id {
		t.Fatalf("send: %d %s", status, text)
	}
	// The server has just started and may still be reading the node's list.
	until(t, "the transaction to be in the mempool", func() bool { return s.get(t, "api/tx/"+id).status == http.StatusOK })
	var tx esploraTx
	s.get(t, "api/tx/"+id).into(t, &tx)
	if tx.TxID != id || tx.Fee != 10_000 || tx.Status.Confirmed {
		t.Errorf("the transaction after it was sent: %+v", tx)
	}
	s.get(t, scriptPath).into(t, &totals)
	if totals.Chain != before.Chain || totals.Mempool != (esploraStats{Funded: 1, FundedSum: 1_000_000, Txs: 1}) {
		t.Errorf("totals with the transaction in the mempool: %+v, before %+v", totals, before)
	}
	var spend esploraSpend
	s.get(t, "api/tx/"+coinbase.TxHash().String()+"/outspend/0").into(t, &spend)
	if spend != (esploraSpend{Spent: true, TxID: id}) {
		t.Errorf("the output that it spends: %+v", spend)
	}
	s.has(t, scriptPath+"/txs", id, true)
	s.has(t, scriptPath+"/txs/mempool", id, true)
	s.has(t, scriptPath+"/txs/chain", id, false)
	s.has(t, scriptPath+"/utxo", id, true)
	s.has(t, "api/mempool/txids", id, true)
	s.has(t, "api/mempool/txids/page", id, true)
	s.has(t, "api/mempool/recent", fmt.Sprintf(`"txid":"%s","fee":10000,"vsize":%d,"value":%d`, id, fund.SerializeSize(), coinbase.TxOut[0].Value), true)
	s.has(t, "api/mempool", `{"count":1,`, true)
	s.has(t, "api/tx/"+id+"/hex", rawHex(fund), true)
	if r := s.get(t, "api/tx/"+id+"/merkle-proof"); r.status != http.StatusNotFound {
		t.Errorf("a proof of an unconfirmed transaction: %d %s", r.status, r.body)
	}

	// A child spends the transaction in the mempool. A second spender is rejected with the node's message.
	child := btcdtest.Pay(fund, 0, wire.NewTxOut(990_000, script))
	childID := child.TxHash().String()
	if status, text := s.post(t, "api/tx", rawHex(child)); status != http.StatusOK || text != childID {
		t.Fatalf("send the child: %d %s", status, text)
	}
	s.has(t, "api/tx/"+childID+"/status", `{"confirmed":false}`, true)
	s.has(t, scriptPath+"/utxo", id, false)
	s.has(t, scriptPath+"/utxo", childID, true)
	s.get(t, "api/tx/"+id+"/outspend/0").into(t, &spend)
	if spend != (esploraSpend{Spent: true, TxID: childID}) {
		t.Errorf("the output that the child spends: %+v", spend)
	}
	double := btcdtest.Pay(fund, 0, wire.NewTxOut(980_000, script))
	if status, text := s.post(t, "api/tx", rawHex(double)); status != http.StatusBadRequest || !strings.Contains(text, "already spent") {
		t.Errorf("a double spend: %d %s", status, text)
	}

	// The transaction is confirmed, orphaned, and confirmed again at another height.
	node.Generate(t, 1)
	s.synced(t)
	s.get(t, scriptPath).into(t, &totals)
	added := esploraStats{before.Chain.Funded + 2, before.Chain.FundedSum + 1_990_000, before.Chain.Spent + 1, before.Chain.SpentSum + 1_000_000, before.Chain.Txs + 2}
	if totals.Chain != added || totals.Mempool != (esploraStats{}) {
		t.Errorf("totals after the block: %+v, expected %+v", totals, added)
	}
	s.has(t, scriptPath+"/txs", id, true)
	s.has(t, "api/mempool", `{"count":0,"vsize":0,"total_fee":0,"fee_histogram":[]}`, true)
	s.get(t, "api/tx/"+id+"/status").into(t, &tx.Status)
	first := tx.Status
	if !first.Confirmed || first.Height != 141 {
		t.Errorf("status after the block: %+v", first)
	}
	node.Invalidate(t, node.Tip(t).Hash)
	node.Generate(t, 2)
	s.synced(t)
	s.has(t, "api/block/"+first.Hash+"/status", `{"in_best_chain":false,"height":null,"next_best":null}`, true)
	s.get(t, "api/tx/"+id+"/status").into(t, &tx.Status)
	if !tx.Status.Confirmed || tx.Status.Hash == first.Hash {
		t.Errorf("status after the reorganization: %+v, before it %+v", tx.Status, first)
	}
	s.stop(t)
}

// has reports whether an answer contains a text.
func (s *esploraServer) has(t *testing.T, path, text string, want bool) {
	t.Helper()
	if r := s.get(t, path); r.status != http.StatusOK || strings.Contains(string(r.body), text) != want {
		t.Errorf("%s: %d %.2000s\nexpected %s: %t", path, r.status, r.body, text, want)
	}
}

// hashOfScript returns the script hash in the form of the API.
func hashOfScript(script []byte) string {
	sum := sha256.Sum256(script)
	return hex.EncodeToString(sum[:])
}

func rawHex(tx *wire.MsgTx) string {
	var b bytes.Buffer
	if err := tx.Serialize(&b); err != nil {
		panic(err) // writing to memory does not fail
	}
	return hex.EncodeToString(b.Bytes())
}

// compareBlocks compares every block with the node's, page by page down to the first block.
func (s *esploraServer) compareBlocks(t *testing.T) {
	t.Helper()
	tip := int(s.node.Tip(t).Height)
	for next := tip; next >= 0; {
		var page []struct {
			ID, Merkle_Root, PreviousBlockHash        string
			Height, Timestamp, Size, Weight, Tx_Count int
			MedianTime                                int
			Version, Nonce, Bits                      uint32
			Difficulty                                json.Number
		}
		path := "api/blocks/" + strconv.Itoa(next)
		s.get(t, path).into(t, &page)
		for _, b := range page {
			if b.Height != next {
				t.Fatalf("%s: block %d, expected %d", path, b.Height, next)
			}
			raw := s.node.Block(t, s.node.HashAt(t, model.HeightPk(next)))
			m := btcdtest.Decode(t, raw)
			h := &m.Header
			previous := ""
			if next > 0 {
				previous = h.PrevBlock.String()
			}
			if b.ID != m.BlockHash().String() || b.Merkle_Root != h.MerkleRoot.String() || b.PreviousBlockHash != previous ||
				b.Timestamp != int(h.Timestamp.Unix()) || b.Size != len(raw) || b.Tx_Count != len(m.Transactions) ||
				b.Weight != 3*m.SerializeSizeStripped()+len(raw) || b.Version != uint32(h.Version) || b.Nonce != h.Nonce || b.Bits != h.Bits {
				t.Errorf("block %d: %+v", next, b)
			}
			if got := s.get(t, "api/block/"+b.ID+"/raw"); !bytes.Equal(got.body, raw) {
				t.Errorf("block %d: %d raw bytes differ", next, len(got.body))
			}
			next--
		}
		if len(page) == 0 {
			t.Fatalf("%s is empty", path)
		}
	}
}

// The API has the limits, headers and metrics of the server. Errors of the server itself are plain text.
func TestServeEsploraLikeTheOtherAPI(t *testing.T) {
	testrun.Slow(t)
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "birthmark.yaml")
	write(t, file, fmt.Sprintf("cors_origins: https://wallet.example.org\nrate_limit: 5\nrate_burst: 100\nchains:\n- chain: bitcoin\n  source: file://%s\n  db: %s\n%s  serve: { esplora: /api }\n",
		realBlocks(t), filepath.Join(dir, "db"), walletIndexes))
	s := startRealServer(t, "--config", file)
	var r reply
	until(t, "the first block to be there", func() bool {
		r = s.get(t, "api/block-height/0", "Origin", "https://wallet.example.org")
		return r.status == http.StatusOK
	})
	if r.status != http.StatusOK || r.header.Get("Access-Control-Allow-Origin") != "https://wallet.example.org" ||
		r.header.Get("X-Content-Type-Options") != "nosniff" {
		t.Errorf("%d %v", r.status, r.header)
	}
	for range 300 {
		r = s.get(t, "api/tx/abc")
	}
	if r.status != http.StatusTooManyRequests || r.header.Get("Content-Type") != "text/plain" || !strings.HasPrefix(string(r.body), "rate limit exceeded") {
		t.Errorf("%d %v %s", r.status, r.header, r.body)
	}
	until(t, "the metrics to be readable", func() bool { r = s.get(t, "metrics"); return r.status == http.StatusOK })
	if !strings.Contains(string(r.body), `birthmark_http_requests_total{code="200",method="get",route="/api/block-height/{height}"} 1`) {
		t.Errorf("metrics without the route:\n%s", r.body)
	}
	s.stop(t)
}

// By default a page of any origin reads the APIs of a server: its preflight is answered, and its requests are allowed. The
// pages of the explorer are for their own origin only.
func TestPagesOfEveryOriginReadTheAPIs(t *testing.T) {
	testrun.Slow(t)
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "birthmark.yaml")
	write(t, file, fmt.Sprintf("chains:\n- chain: bitcoin\n  source: file://%s\n  db: %s\n%s  serve: { esplora: /api, blockbook: /blockbook }\n",
		realBlocks(t), filepath.Join(dir, "db"), walletIndexes))
	s := startRealServer(t, "--config", file)
	until(t, "the first block to be there", func() bool { return s.get(t, "api/block-height/0").status == http.StatusOK })
	for _, c := range []struct {
		method, path, headers string
		allowed               bool
	}{
		{"GET", "api/block-height/0", "", true}, {"POST", "api/tx", "content-type", true}, {"POST", "v1/bitcoin/outputs", "content-type,authorization", true},
		{"GET", "v1/bitcoin/tip", "x-api-key", true}, {"GET", "blockbook/api/v2", "", true}, {"GET", "bitcoin", "", false},
	} {
		request := func(method string, header ...string) *http.Response {
			t.Helper()
			q, err := http.NewRequestWithContext(t.Context(), method, s.URL+c.path, nil)
			if err != nil {
				t.Fatal(err)
			}
			q.Header.Set("Origin", "https://wallet.example.org")
			for i := 0; i < len(header); i += 2 {
				q.Header.Set(header[i], header[i+1])
			}
			r, err := s.client.Do(q)
			if err != nil {
				t.Fatal(err)
			}
			r.Body.Close()
			return r
		}
		preflight := request("OPTIONS", "Access-Control-Request-Method", c.method, "Access-Control-Request-Headers", c.headers)
		h := preflight.Header
		allowed := preflight.StatusCode == http.StatusNoContent && h.Get("Access-Control-Allow-Origin") == "*" &&
			slices.Contains(strings.Split(strings.ReplaceAll(h.Get("Access-Control-Allow-Methods"), " ", ""), ","), c.method)
		// An asterisk stands for all names but Authorization (Fetch, 3.3.4).
		allowed = allowed && (c.headers == "" || h.Get("Access-Control-Allow-Headers") == "*, Authorization")
		if allowed != c.allowed {
			t.Errorf("preflight of %s %s: %d %v", c.method, c.path, preflight.StatusCode, h)
		}
		// An error can be read too: POST without a body.
		if r := request(c.method); (r.Header.Get("Access-Control-Allow-Origin") == "*") != c.allowed {
			t.Errorf("%s %s: %d %v", c.method, c.path, r.StatusCode, r.Header)
		}
	}
	s.stop(t)
}
