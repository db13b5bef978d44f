package cli

import (
	"encoding/hex"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"birthmark/chains/ergo"
	"birthmark/internal/testblocks"
	"birthmark/internal/testnode/ergotest"
	"birthmark/internal/testrun"
	"birthmark/model"
)

// A server answers the APIs of Ergo's node, explorer and ergo-graphql at their paths, follows the mempool of its node,
// and submits transactions to it. A database without the required indexes is rejected.
func TestServeErgo(t *testing.T) {
	testrun.Slow(t)
	t.Parallel()
	blocks, err := ergotest.ReadFile(testblocks.Path(t, "ergo", "ergo-uexplorer", "blocks_first.gz"))
	if err != nil {
		t.Fatal(err)
	}
	const tip = 50
	node := ergotest.New(ergotest.Options{})
	node.Extend(blocks[:tip]...)
	next := []ergotest.Tx{ergotest.Txs(blocks[tip])[0], ergotest.Txs(blocks[tip+1])[0]}
	node.Expect(next...)
	dir := t.TempDir()
	file := filepath.Join(dir, "birthmark.yaml")
	settings := fmt.Sprintf("memory: 256MiB\nchain: ergo\nsource: %s\ndb: %s\nraw: true\nserve: { ergo_node: /node, ergo_explorer: /explorer, ergo_graphql: /graphql }\n",
		node.Start(t), filepath.Join(dir, "db"))
	write(t, file, settings)
	if r := birthmark("sync", "--config", file); r.status != exitDone {
		t.Fatalf("status %d: %s", r.status, r.stderr)
	}
	r := birthmark("serve", "--config", file, "--listen", "127.0.0.1:0")
	if r.status == exitDone || !strings.Contains(r.stderr, "birthmark index add ergo_tree_hash") {
		t.Errorf("without the indexes: status %d\n%s", r.status, r.stderr)
	}

	write(t, file, strings.Replace(settings, filepath.Join(dir, "db"), filepath.Join(dir, "other"), 1)+"indexes: ergo_node\n")
	s := startRealServer(t, "--config", file)
	until(t, "the server to have the tip of the node", func() bool {
		return strings.Contains(string(s.get(t, "node/blockchain/indexedHeight").body), fmt.Sprintf(`"fullHeight":%d`, tip))
	})
	until(t, "the server to have the mempool of the node", func() bool {
		return strings.Contains(string(s.get(t, "v1/ergo/mempool").body), `"state":"live"`)
	})
	if status, body := s.post(t, "v1/ergo/tx", string(next[0].JSON)); status != http.StatusOK || !strings.Contains(body, next[0].ID.String()) {
		t.Errorf("a transaction in JSON: %d %s", status, body)
	}
	chain, err := ergo.New("")
	if err != nil {
		t.Fatal(err)
	}
	raw, err := chain.(model.TxSerializer).SerializeTx(next[1].JSON)
	if err != nil {
		t.Fatal(err)
	}
	if status, body := s.post(t, "node/transactions/bytes", fmt.Sprintf("%q", hex.EncodeToString(raw))); status != http.StatusOK || !strings.Contains(body, next[1].ID.String()) {
		t.Errorf("a transaction as bytes: %d %s", status, body)
	}
	unknown := strings.Replace(string(next[0].JSON), next[0].ID.String(), strings.Repeat("ab", 32), 1)
	if status, body := s.post(t, "node/transactions", unknown); status != http.StatusBadRequest || !strings.Contains(body, "every input of the transaction") {
		t.Errorf("a transaction that the node rejects: %d %s", status, body)
	}
	made := ergotest.Txs(blocks[tip])[0]
	query := `{"query": "{ state { height } mempool { transactionsCount } }"}`
	if status, body := s.post(t, "graphql", query); status != http.StatusOK ||
		!strings.Contains(body, fmt.Sprintf(`{"state":{"height":%d},"mempool":{"transactionsCount":2}}`, tip)) {
		t.Errorf("a query of GraphQL: %d %s", status, body)
	}
	for _, c := range []struct {
		path   string
		status int
		says   string
	}{
		{"node/transactions/unconfirmed/transactionIds", 200, made.ID.String()},
		{"node/transactions/unconfirmed/byTransactionId/" + next[1].ID.String(), 200, next[1].ID.String()},
		{"node/info", 200, fmt.Sprintf(`"fullHeight":%d`, tip)},
		{"node/info", 200, `"unconfirmedCount":2`},
		{"node/blocks/" + blocks[9].ID.String(), 200, `"extension":{`},
		{"node/transactions/getFee?waitTime=2&txSize=100", 200, "1050000"},
		{"node/wallet/balances", 404, `{"error":404,"reason":"not-found","detail":null}`},
		{"node/blockchain/box/byId/zz", 400, `"reason":"bad.request"`},
		{"explorer/api/v1/networkState", 200, fmt.Sprintf(`"height":%d`, tip)},
		{"explorer/api/v1/blocks/" + blocks[9].ID.String(), 200, `"fields":{"`},
		{"explorer/api/v1/tokens/listGenuine", 501, `"status":501`},
		{"v1/ergo/tx/" + made.ID.String(), 200, `"status":"unconfirmed"`},
		{"v1/ergo/mempool/transactions", 200, made.ID.String()},
		{"v1/ergo/fees?target=2", 200, `"estimates":{"2":1250`},
	} {
		a := s.get(t, c.path)
		if a.status != c.status || !strings.Contains(string(a.body), c.says) {
			t.Errorf("%s: %d %.300s, expected %d with %s", c.path, a.status, a.body, c.status, c.says)
		}
	}
	node.Extend(blocks[tip : tip+2]...)
	until(t, "the transactions to be confirmed", func() bool {
		return strings.Contains(string(s.get(t, "node/info").body), `"unconfirmedCount":0`)
	})
	if a := s.get(t, "node/blockchain/transaction/byId/"+made.ID.String()); a.status != http.StatusOK {
		t.Errorf("the confirmed transaction: %d %s", a.status, a.body)
	}
}
