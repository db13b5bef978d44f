package api_test

import (
	"encoding/hex"
	"encoding/json"
	"log/slog"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"birthmark/api"
	"birthmark/api/ratelimit"
	"birthmark/api/served"
	"birthmark/chains/bitcoin"
	"birthmark/core"
	"birthmark/internal/testnode/coretest"
	"birthmark/model"
	"birthmark/storage/memory"
)

// nodeAPI serves an empty regtest database with a node.
func nodeAPI(t *testing.T, n *coretest.Node) *site {
	t.Helper()
	chain, err := bitcoin.New("regtest")
	if err != nil {
		t.Fatal(err)
	}
	db, err := core.Open(t.Context(), memory.New(), core.Options{Chain: chain})
	if err != nil {
		t.Fatal(err)
	}
	c := of("bitcoin-regtest", db)
	if n != nil {
		src, err := chain.Open(t.Context(), model.SourceOptions{URI: n.URL()})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { src.Close() })
		c.Submitter, c.Fees = src.(model.Submitter), src.(model.FeeEstimator)
	}
	return newAPI(t, api.Options{Chains: []*served.Chain{c}, Log: slog.New(slog.DiscardHandler), Events: noEvents, Fields: fields})
}

// fromNode sends a request, checks the answer against the document and decodes it.
func fromNode[A any](t *testing.T, h *site, method, path, body string) (a A) {
	t.Helper()
	target := "/v1/bitcoin-regtest" + path
	w := ask(h, method, target, body)
	conforms(t, httptest.NewRequest(method, target, nil), w)
	if w.Code != 200 {
		t.Fatalf("%s %s: %d %s", method, target, w.Code, w.Body)
	}
	if err := json.Unmarshal(w.Body.Bytes(), &a); err != nil {
		t.Fatal(err)
	}
	return a
}

func TestTransactionsAreSubmittedToTheNode(t *testing.T) {
	n := coretest.Start(t)
	coins := n.Coins(t, 4)
	h := nodeAPI(t, n)
	tx := coretest.Spend(500, coins[0])
	text := hex.EncodeToString(coretest.Raw(tx))
	if a := fromNode[api.SubmitAnswer](t, h, "POST", "/tx", " "+text+"\n"); a.Hash != tx.TxHash().String() || len(n.Mempool()) != 1 {
		t.Errorf("%+v, %d transactions", a, len(n.Mempool()))
	}
	low := hex.EncodeToString(coretest.Raw(coretest.Spend(1, coins[1])))
	w := ask(h, "POST", "/v1/bitcoin-regtest/tx", low)
	conforms(t, httptest.NewRequest("POST", "/v1/bitcoin-regtest/tx", nil), w)
	wantProblem(t, w, 400, "rejected", "min relay fee not met, 1 < 61")
	if !strings.Contains(w.Body.String(), `"node_code":-26`) {
		t.Errorf("the code of the node is missing: %s", w.Body)
	}
	high := hex.EncodeToString(coretest.Raw(coretest.Spend(100_000, coins[1])))
	wantProblem(t, ask(h, "POST", "/v1/bitcoin-regtest/tx?max_fee_rate=0.001", high), 400, "rejected", "Fee exceeds maximum")
	for _, body := range []string{"", "xyz", "0", `{"tx":"00"}`} {
		r := httptest.NewRequest("POST", "/v1/bitcoin-regtest/tx", strings.NewReader(body))
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		wantProblem(t, w, 400, "bad_body", "body: expected a serialized transaction in hex")
	}
	wantProblem(t, ask(h, "POST", "/v1/bitcoin-regtest/tx", strings.Repeat("00", 600_000)), 413, "too_large", "1048576 bytes")
	wantProblem(t, ask(h, "GET", "/v1/bitcoin-regtest/tx", ""), 405, "method_not_allowed", "use POST")
	wantProblem(t, ask(h, "POST", "/v1/bitcoin-regtest/tx?max_fee_rate=much", text), 400, "bad_value", "a decimal number such as 0.1")
	wantProblem(t, ask(h, "POST", "/v1/bitcoin-regtest/tx?max_fee=1", text), 400, "unknown_parameter", "max_fee_rate")

	parent := coretest.Spend(0, coins[2])
	child := coretest.Spend(1000, coretest.Outputs(parent)[0])
	body := `{"txs":["` + hex.EncodeToString(coretest.Raw(parent)) + `","` + hex.EncodeToString(coretest.Raw(child)) + `"]}`
	tested := fromNode[struct{ Results []struct{ Allowed bool } }](t, h, "POST", "/tx/test", body)
	if len(tested.Results) != 2 || tested.Results[0].Allowed || len(n.Mempool()) != 1 {
		t.Errorf("%+v", tested)
	}
	pack := fromNode[struct {
		Result struct {
			Message string `json:"package_msg"`
		}
	}](t, h, "POST", "/tx/package", body)
	if pack.Result.Message != "success" || len(n.Mempool()) != 3 {
		t.Errorf("%+v, %d transactions", pack, len(n.Mempool()))
	}
	for _, body := range []string{`{"txs":[]}`, `{"txs":["x"]}`, `{"txs":[""]}`, `{}`, `{"txs":["00"],"more":1}`, `[]`} {
		wantProblem(t, ask(h, "POST", "/v1/bitcoin-regtest/tx/package", body), 400, "bad_body", "")
	}
	n.Set(func(f *coretest.Faults) { f.Lacks = []string{"testmempoolaccept"} })
	wantProblem(t, ask(h, "POST", "/v1/bitcoin-regtest/tx/test", body), 404, "unsupported", "does not support testmempoolaccept")
	n.Set(func(f *coretest.Faults) { f.Starting = "Loading block index…" })
	wantProblem(t, ask(h, "POST", "/v1/bitcoin-regtest/tx", text), 502, "starting", "is starting: Loading block index…")
}

func TestFeesOfTheNode(t *testing.T) {
	n := coretest.Start(t)
	n.SetEstimates(map[int]float64{2: 0.0003, 6: 0.00012345, 1008: 0.00001})
	h := nodeAPI(t, n)
	a := fromNode[api.FeesAnswer](t, h, "GET", "/fees", "")
	if len(a.Estimates) != 3 || a.Estimates["2"] != 30 || a.Estimates["6"] != 12.345 || a.Estimates["1008"] != 1 || a.Unit != "sat/vB" ||
		a.Minimum != (api.MinimumFeesAnswer{Mempool: 1, Relay: 1, Increment: 1}) || a.Chain != "bitcoin" || a.Network != "regtest" {
		t.Errorf("%+v", a)
	}
	if a := fromNode[api.FeesAnswer](t, h, "GET", "/fees?target=6&target=7&mode=economical", ""); len(a.Estimates) != 1 || a.Estimates["6"] != 12.345 {
		t.Errorf("%+v", a)
	}
	many := strings.Repeat("target=2&", 64)
	for _, query := range []string{"target=1009", "target=0", "target=-1", "target=x", "target=", many + "target=3"} {
		wantProblem(t, ask(h, "GET", "/v1/bitcoin-regtest/fees?"+query, ""), 400, "bad_value", "a number of blocks from 1 to 1008")
	}
	fromNode[api.FeesAnswer](t, h, "GET", "/fees?"+strings.TrimSuffix(many, "&"), "")
	fromNode[api.FeesAnswer](t, h, "GET", "/fees?target=1008&target=1", "")
	wantProblem(t, ask(h, "GET", "/v1/bitcoin-regtest/fees?mode=cheap", ""), 400, "bad_value", "economical, conservative")
}

func TestProblemsOfChainsWithoutANode(t *testing.T) {
	h := nodeAPI(t, nil)
	for _, q := range [][2]string{{"POST", "/tx"}, {"POST", "/tx/test"}, {"POST", "/tx/package"}, {"GET", "/fees"}} {
		target := "/v1/bitcoin-regtest" + q[1]
		w := ask(h, q[0], target, "")
		conforms(t, httptest.NewRequest(q[0], target, nil), w)
		wantProblem(t, w, 404, "no_node", "bitcoin-regtest has no node for this on this server: its setting node is the URL of one")
	}
}

// The number of transactions that a client may submit per minute has its own limit.
func TestSubmittedTransactionsAreLimited(t *testing.T) {
	n := coretest.Start(t)
	coins := n.Coins(t, 5)
	o := ratelimit.Defaults()
	o.Submit = 3
	h := ratelimit.New(o, nodeAPI(t, n))
	for i, c := range coins {
		w := ask(h, "POST", "/v1/bitcoin-regtest/tx", hex.EncodeToString(coretest.Raw(coretest.Spend(500, c))))
		if i < 3 && w.Code != 200 {
			t.Fatalf("%d: %d %s", i, w.Code, w.Body)
		}
		if i >= 3 {
			wantProblem(t, w, 429, "too_many_requests", "submit_limit: 3 per minute")
			if after, err := strconv.Atoi(w.Header().Get("Retry-After")); err != nil || after < 1 || after > 20 {
				t.Errorf("Retry-After %q", w.Header().Get("Retry-After"))
			}
		}
	}
	if len(n.Mempool()) != 3 {
		t.Errorf("%d transactions were submitted", len(n.Mempool()))
	}
	if w := ask(h, "GET", "/v1/bitcoin-regtest/fees", ""); w.Code != 200 {
		t.Errorf("fees: %d %s", w.Code, w.Body)
	}
}
