package ogmios_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"math/big"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/blinklabs-io/gouroboros/cbor"
	gouroboros "github.com/blinklabs-io/gouroboros/ledger"
	"github.com/coder/websocket"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"birthmark/api/compat/answertest"
	"birthmark/api/compat/ogmios"
	"birthmark/api/served"
	"birthmark/bench/generate/cardanogen"
	"birthmark/chains/cardano"
	"birthmark/chains/cardano/address"
	"birthmark/chains/cardano/ledger"
	"birthmark/chains/cardano/node"
	"birthmark/chains/cardano/ouroboros"
	"birthmark/internal/testnode/cardanotest"
	"birthmark/internal/testnode/ouroborostest"
	"birthmark/model"
)

const path = "/ogmios"

type (
	list = cardanotest.List
	dict = cardanotest.Dict
)

// endpoint is the API on a node of three generated blocks of Conway.
type endpoint struct {
	http.Handler
	chain *served.Chain
	node  *ouroborostest.Node
	next  []ouroborostest.Tx // transactions that the node accepts
}

func start(t *testing.T) *endpoint {
	t.Helper()
	g := cardanogen.New(cardanogen.Options{Seed: 11})
	var raws [][]byte
	for range 4 {
		raws = append(raws, g.NextOf(5).Raw)
	}
	blocks, err := ouroborostest.Blocks(raws...)
	if err != nil {
		t.Fatal(err)
	}
	e := &endpoint{node: ouroborostest.Start(t, cardanogen.DefaultMagic, blocks[:3])}
	if e.next, err = blocks[3].Txs(); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := g.Genesis().Write(dir); err != nil {
		t.Fatal(err)
	}
	chain, err := cardano.New(dir)
	if err != nil {
		t.Fatal(err)
	}
	src, err := chain.Open(t.Context(), model.SourceOptions{URI: e.node.Unix()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { src.Close() })
	e.chain = &served.Chain{Name: "cardano-test", Model: chain, Submitter: src.(model.Submitter), Node: src}
	e.Handler = answertest.Recorded(t, ogmios.New(ogmios.Options{Path: path, Origins: []string{"*"}, Chain: e.chain}))
	return e
}

// object is a JSON object. Numbers are json.Number.
type object = map[string]any

func parsed(t *testing.T, text []byte) (o object) {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&o); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return o
}

// post sends a request, and returns the response.
func (e *endpoint) post(t *testing.T, body string) (int, object) {
	t.Helper()
	w := httptest.NewRecorder()
	e.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), "POST", path, strings.NewReader(body)))
	o := parsed(t, w.Body.Bytes())
	if (w.Code == http.StatusOK) != (o["error"] == nil) {
		t.Fatalf("%s: status %d: %s", body, w.Code, w.Body)
	}
	return w.Code, o
}

// call returns the response to a call. It must conform to the schema of Ogmios, if the test has it.
func (e *endpoint) call(t *testing.T, method string, params any) object {
	t.Helper()
	body, err := json.Marshal(object{"jsonrpc": "2.0", "method": method, "params": params, "id": object{"n": 1}})
	if err != nil {
		t.Fatal(err)
	}
	_, o := e.post(t, string(body))
	if o["jsonrpc"] != "2.0" || o["method"] != method || fmt.Sprint(o["id"]) != "map[n:1]" {
		t.Fatalf("%v", o)
	}
	conforms(t, method, o)
	return o
}

// result returns the result of a call.
func (e *endpoint) result(t *testing.T, method string, params any) any {
	t.Helper()
	o := e.call(t, method, params)
	if o["error"] != nil {
		t.Fatalf("%s: %v", method, o["error"])
	}
	return o["result"]
}

// failure returns the code and the message of the error of a call.
func (e *endpoint) failure(t *testing.T, method string, params any) string {
	t.Helper()
	o, ok := e.call(t, method, params)["error"].(object)
	if !ok {
		t.Fatalf("%s %v: no error", method, params)
	}
	return fmt.Sprint(o["code"], " ", o["message"])
}

// titles are the schemas of the responses in Ogmios' document. Reward accounts have the form of an earlier one.
var titles = map[string]string{
	"queryLedgerState/epoch": "QueryLedgerStateEpoch", "queryLedgerState/protocolParameters": "QueryLedgerStateProtocolParameters",
	"queryLedgerState/tip":     "QueryLedgerStateTip",
	"queryNetwork/blockHeight": "QueryNetworkBlockHeight", "queryNetwork/tip": "QueryNetworkTip", "submitTransaction": "SubmitTransaction",
	"acquireMempool": "AcquireMempool", "nextTransaction": "NextTransaction", "hasTransaction": "HasTransaction",
	"sizeOfMempool": "SizeOfMempool", "releaseMempool": "ReleaseMempool",
}

// conforms validates a response with the documents of Ogmios 6.14, in the folder BIRTHMARK_OGMIOS_SCHEMA.
func conforms(t *testing.T, method string, response object) {
	t.Helper()
	dir := os.Getenv("BIRTHMARK_OGMIOS_SCHEMA")
	if dir == "" || titles[method] == "" {
		return
	}
	if e, ok := response["error"].(object); ok && strings.HasPrefix(fmt.Sprint(e["code"]), "-32") {
		return // an error of JSON-RPC
	}
	c := jsonschema.NewCompiler()
	for _, name := range []string{"ogmios.json", "cardano.json"} {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		delete(doc.(object), "$id")
		all, _ := doc.(object)["definitions"].(object)
		if value, ok := all["Value"].(object); ok {
			delete(value, "propertyNames") // which its required property ada does not match
		}
		if err := c.AddResource("http://schema/"+name, doc); err != nil {
			t.Fatal(err)
		}
	}
	s, err := c.Compile("http://schema/ogmios.json#/properties/" + titles[method] + "Response")
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Validate(any(response)); err != nil {
		t.Errorf("%s: %v: %v", method, err, response)
	}
}

func encode(t *testing.T, v any) []byte {
	t.Helper()
	raw, err := cbor.Encode(v)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func ratio(a, b int64) any { return cbor.Rat{Rat: big.NewRat(a, b)} }

// Each parameter has another value, and its name in Ogmios.
func TestProtocolParameters(t *testing.T) {
	e := start(t)
	var pools, dreps []any
	for i := range int64(15) {
		dreps = append(dreps, ratio(i+1, 101))
	}
	pools, dreps = dreps[:5], dreps[5:]
	e.node.Answers(map[int][]byte{1: encode(t, 577), 3: encode(t, []any{
		44, 155381, 90112, 16384, 1100, 2_000_000, 500_000_000, 18, 501, ratio(3, 10), ratio(3, 1000), ratio(1, 5), []int{10, 2},
		170_000_000, 4310, map[int][]int64{0: {1, -2}, 1: {3}, 2: {1 << 40}}, []any{ratio(577, 10_000), ratio(721, 10_000_000)},
		[]int{14, 10_000}, []int{62, 20_000}, 5000, 150, 3, pools, dreps, 7, 146, 6, 100_000_000_000, 500_000_001, 20, ratio(31, 2),
	})})
	if got := e.result(t, "queryLedgerState/epoch", object{}); got != json.Number("577") {
		t.Errorf("epoch %v", got)
	}
	lovelace := func(n int64) object { return object{"ada": object{"lovelace": n}} }
	th := func(n int) string { return fmt.Sprintf("%d/101", n) }
	want := object{
		"minFeeCoefficient": 44, "minFeeConstant": lovelace(155381), "maxBlockBodySize": object{"bytes": 90112},
		"maxTransactionSize": object{"bytes": 16384}, "maxBlockHeaderSize": object{"bytes": 1100}, "stakeCredentialDeposit": lovelace(2_000_000),
		"stakePoolDeposit": lovelace(500_000_000), "stakePoolRetirementEpochBound": 18, "desiredNumberOfStakePools": 501,
		"stakePoolPledgeInfluence": "3/10", "monetaryExpansion": "3/1000", "treasuryExpansion": "1/5", "version": object{"major": 10, "minor": 2},
		"minStakePoolCost": lovelace(170_000_000), "minUtxoDepositCoefficient": 4310, "minUtxoDepositConstant": lovelace(0),
		"plutusCostModels":                object{"plutus:v1": []int{1, -2}, "plutus:v2": []int{3}, "plutus:v3": []int64{1 << 40}},
		"scriptExecutionPrices":           object{"memory": "577/10000", "cpu": "721/10000000"},
		"maxExecutionUnitsPerTransaction": object{"memory": 14, "cpu": 10_000}, "maxExecutionUnitsPerBlock": object{"memory": 62, "cpu": 20_000},
		"maxValueSize": object{"bytes": 5000}, "collateralPercentage": 150, "maxCollateralInputs": 3,
		"minFeeReferenceScripts":  object{"base": 15.5, "range": 25600, "multiplier": 1.2},
		"maxReferenceScriptsSize": object{"bytes": 204800},
		"stakePoolVotingThresholds": object{
			"noConfidence": th(1), "constitutionalCommittee": object{"default": th(2), "stateOfNoConfidence": th(3)}, "hardForkInitiation": th(4),
			"protocolParametersUpdate": object{"security": th(5)},
		},
		"delegateRepresentativeVotingThresholds": object{
			"noConfidence": th(6), "constitutionalCommittee": object{"default": th(7), "stateOfNoConfidence": th(8)}, "constitution": th(9),
			"hardForkInitiation":       th(10),
			"protocolParametersUpdate": object{"network": th(11), "economic": th(12), "technical": th(13), "governance": th(14)},
			"treasuryWithdrawals":      th(15),
		},
		"constitutionalCommitteeMinSize": 7, "constitutionalCommitteeMaxTermLength": 146, "governanceActionLifetime": 6,
		"governanceActionDeposit": lovelace(100_000_000_000), "delegateRepresentativeDeposit": lovelace(500_000_001),
		"delegateRepresentativeMaxIdleTime": 20,
	}
	text, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	if got := e.result(t, "queryLedgerState/protocolParameters", object{}); !reflect.DeepEqual(got, any(parsed(t, text))) {
		t.Errorf("%v\nexpected\n%s", got, text)
	}
	e.node.Answers(map[int][]byte{1: encode(t, 577), 3: {0x80}})
	if got := e.failure(t, "queryLedgerState/protocolParameters", nil); !strings.HasPrefix(got, "-32000 ") || !strings.Contains(got, "malformed protocol parameters") {
		t.Error(got)
	}
}

// Accounts are found by every form of their credential, once each, and only if they are registered.
func TestRewardAccounts(t *testing.T) {
	e := start(t)
	hash := bytes.Repeat([]byte{1}, 28)
	digits := hex.EncodeToString(hash)
	for kind, forms := range [][]object{
		{{"keys": []string{digits}}, {"keys": []string{address.FormatStakeCredential(address.Network{Testnet: true}, append([]byte{0}, hash...)), digits}}},
		{{"scripts": []string{digits}}, {"keys": []string{address.FormatScript(hash)}, "scripts": []string{digits}}},
	} {
		cred := struct {
			cbor.StructAsArray
			Kind uint
			Hash cbor.ByteString
		}{Kind: uint(kind), Hash: cbor.NewByteString(hash)}
		of := func(v any) []byte { return encode(t, map[any]any{cred: v}) }
		pool := bytes.Repeat([]byte{2}, 28)
		for vote, want := range map[string]any{
			"": nil, "8102": object{"type": "abstain"}, "8103": object{"type": "noConfidence"},
			"8201581c" + digits: object{"type": "registered", "from": "script", "id": digits},
		} {
			votes := encode(t, map[any]any{})
			if vote != "" {
				raw, err := hex.DecodeString(vote)
				if err != nil {
					t.Fatal(err)
				}
				votes = of(cbor.RawMessage(raw))
			}
			e.node.Answers(map[int][]byte{10: encode(t, []any{map[any]any{cred: pool}, map[any]any{cred: 1000}}), 22: of(2_000_000), 28: votes})
			account := object{
				"delegate": object{"id": address.FormatPoolHash(pool)}, "stakePool": object{"id": address.FormatPoolHash(pool)},
				"rewards": object{"ada": object{"lovelace": json.Number("1000")}}, "deposit": object{"ada": object{"lovelace": json.Number("2000000")}},
			}
			if want != nil {
				account["delegateRepresentative"] = want
			}
			for _, params := range forms {
				if got := e.result(t, "queryLedgerState/rewardAccountSummaries", params); !reflect.DeepEqual(got, any(object{digits: account})) {
					t.Errorf("%v: %v, expected %v", params, got, account)
				}
			}
		}
		none := encode(t, map[any]any{})
		e.node.Answers(map[int][]byte{10: encode(t, []any{map[any]any{}, map[any]any{}}), 22: none, 28: none})
		if got := e.result(t, "queryLedgerState/rewardAccountSummaries", forms[0]); !reflect.DeepEqual(got, any(object{})) {
			t.Errorf("%v", got)
		}
	}
	if got := e.result(t, "queryLedgerState/rewardAccountSummaries", nil); !reflect.DeepEqual(got, any(object{})) {
		t.Errorf("%v", got)
	}
	for _, params := range []object{
		{"keys": []string{"stake1abc"}}, {"keys": "x"}, {"credentials": []string{}}, {"keys": slices.Repeat([]string{digits}, 101)},
		{"keys": []string{"addr_test1vpwfpgw3hmcs9uamlyxzxhvskw0cwx74vqjmtxqtykg0k6s8vegs7"}},
	} {
		if got := e.failure(t, "queryLedgerState/rewardAccountSummaries", params); !strings.HasPrefix(got, "-32602 ") {
			t.Errorf("%v: %s", params, got)
		}
	}
}

func TestTip(t *testing.T) {
	e := start(t)
	tip := e.node.Tip()
	want := object{"slot": json.Number(fmt.Sprint(tip.Slot)), "id": hex.EncodeToString(tip.Hash[:])}
	for _, method := range []string{"queryNetwork/tip", "queryLedgerState/tip"} {
		if got := e.result(t, method, nil); !reflect.DeepEqual(got, any(want)) {
			t.Errorf("%s: %v, expected %v", method, got, want)
		}
	}
	if got := e.result(t, "queryNetwork/blockHeight", nil); got != json.Number(fmt.Sprint(tip.Number)) {
		t.Errorf("height %v, expected %d", got, tip.Number)
	}
	e.node.Rollback(0)
	for _, method := range []string{"queryNetwork/tip", "queryLedgerState/tip", "queryNetwork/blockHeight"} {
		if got := e.result(t, method, nil); got != "origin" {
			t.Errorf("%s: %v", method, got)
		}
	}
}

func TestSubmission(t *testing.T) {
	e := start(t)
	tx := func(raw []byte) object { return object{"transaction": object{"cbor": hex.EncodeToString(raw)}} }
	id := e.result(t, "submitTransaction", tx(e.next[0].Raw)).(object)["transaction"].(object)["id"]
	if pool := e.node.Mempool(); len(pool) != 1 || !bytes.Equal(pool[0].Raw, e.next[0].Raw) || len(id.(string)) != 64 {
		t.Errorf("%v, %d transactions", id, len(pool))
	}
	e.node.Refuse(encode(t, "the fee is too small"))
	o := e.call(t, "submitTransaction", tx(e.next[1].Raw))["error"].(object)
	if o["code"] != json.Number("3997") || !reflect.DeepEqual(o["data"], any(object{"error": "the fee is too small"})) {
		t.Errorf("%v", o)
	}
	e.node.Refuse(nil)
	for params, says := range map[string]string{
		`{"transaction": {"cbor": "80"}}`: "no transaction", `{"transaction": {"cbor": "x"}}`: "hex digits", `{}`: "hex digits",
		`{"tx": 1}`: `unknown field "tx"`, `[]`: "cannot unmarshal",
	} {
		if got := e.failure(t, "submitTransaction", json.RawMessage(params)); !strings.HasPrefix(got, "-32602 ") || !strings.Contains(got, says) {
			t.Errorf("%s: %s", params, got)
		}
	}
	if asked := e.node.Asked()["submit"]; asked > 2 {
		t.Errorf("%d transactions reached the node", asked)
	}
	e.node.Stop()
	if got := e.failure(t, "submitTransaction", tx(e.next[1].Raw)); !strings.HasPrefix(got, "-32000 ") {
		t.Error(got)
	}
}

// A malformed request, and an unsupported method, return an error with the reason.
func TestErrorsOfRequests(t *testing.T) {
	e := start(t)
	for body, want := range map[string]string{
		`{`:               "-32700",
		`[1]`:             "-32600",
		`{"method": "x"}`: "-32600",
		`{"jsonrpc": "2.0", "method": "queryLedgerState/utxo"}`:             "-32601 queryLedgerState/utxo is not answered",
		`{"jsonrpc": "2.0", "method": "evaluateTransaction", "params": {}}`: "-32601 evaluateTransaction needs an evaluator",
	} {
		_, o := e.post(t, body)
		f := o["error"].(object)
		if text := fmt.Sprint(f["code"], " ", f["message"]); !strings.HasPrefix(text, want) {
			t.Errorf("%s: %s, expected %s", body, text, want)
		}
	}
	_, o := e.post(t, `{"jsonrpc": "2.0", "method": "queryNetwork/tip", "params": null, "id": null}`)
	if id, ok := o["id"]; !ok || id != nil || o["result"] == nil { // Lucid Evolution requires an id that is null
		t.Errorf("%v", o)
	}
	if _, o = e.post(t, `{"jsonrpc": "2.0", "method": "queryNetwork/tip"}`); len(o) != 3 {
		t.Errorf("%v", o)
	}
	for _, c := range []struct {
		method, path string
		status       int
	}{{"GET", path, 405}, {"PUT", path, 405}, {"OPTIONS", path, 200}, {"POST", path + "/x", 404}, {"POST", path + "/", 400}} {
		w := httptest.NewRecorder()
		e.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), c.method, c.path, strings.NewReader("{}")))
		if w.Code != c.status {
			t.Errorf("%s %s: %d, expected %d", c.method, c.path, w.Code, c.status)
		}
	}
	w := httptest.NewRecorder()
	e.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), "POST", path, io.LimitReader(zeros{}, 1<<20)))
	if w.Code != http.StatusRequestEntityTooLarge {
		t.Errorf("a large body: %d", w.Code)
	}
}

type zeros struct{}

func (zeros) Read(b []byte) (int, error) { return len(b), nil }

// A WebSocket connection answers requests in their order, errors too.
func TestWebSocket(t *testing.T) {
	e := start(t)
	s := httptest.NewServer(e)
	defer s.Close()
	c, _, err := websocket.Dial(t.Context(), "ws"+strings.TrimPrefix(s.URL, "http")+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.CloseNow() }()
	methods := []string{"queryNetwork/tip", "evaluateTransaction", "queryNetwork/blockHeight"}
	for i, method := range methods {
		if err := c.Write(t.Context(), websocket.MessageText, fmt.Appendf(nil, `{"jsonrpc":"2.0","method":%q,"id":%d}`, method, i)); err != nil {
			t.Fatal(err)
		}
	}
	for i, method := range methods {
		_, text, err := c.Read(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if o := parsed(t, text); o["method"] != method || fmt.Sprint(o["id"]) != fmt.Sprint(i) || (o["error"] != nil) != (i == 1) {
			t.Errorf("%s", text)
		}
	}
}

// broken is a node whose functions panic, but for the first read of its mempool, which has a transaction without id.
type (
	broken struct {
		model.Source
		ogmios.Node
	}
	brokenMempool struct {
		node.Monitor
		reads int
	}
)

func (broken) Monitor(context.Context) (node.Monitor, error) { return &brokenMempool{}, nil }
func (*brokenMempool) Close()                                {}

func (m *brokenMempool) Next(context.Context) (*node.Snapshot, error) {
	if m.reads++; m.reads > 1 {
		panic("another read")
	}
	return &node.Snapshot{Snapshot: &ouroboros.Snapshot{Txs: make([]ouroboros.PoolTx, 1)}}, nil
}

// Invalid parameters are refused before anything is read: neither the node nor an acquired mempool is needed.
func TestParametersAreRefusedFirst(t *testing.T) {
	e := start(t)
	e.Handler = ogmios.New(ogmios.Options{Path: path, Chain: &served.Chain{Name: "cardano-test", Model: e.chain.Model, Node: broken{}}})
	for _, c := range []struct{ method, params, message string }{
		{"hasTransaction", `{}`, "params.id: expected"},
		{"hasTransaction", `{"id":"00"}`, "params.id: expected"},
		{"nextTransaction", `{"fields":"some"}`, "params.fields: expected"},
		{"nextTransaction", `{"field":"all"}`, `params: json: unknown field`},
		{"queryLedgerState/rewardAccountSummaries", `{"keys":["stake1"]}`, "params: "},
		{"queryLedgerState/rewardAccountSummaries", `{"keys":[1]}`, "params: json: "},
		{"queryLedgerState/rewardAccountSummaries", `[]`, "params: json: "},
		{"submitTransaction", `null`, "params.transaction.cbor: expected"},
		{"submitTransaction", `{"transaction":{"cbor":"80"}}`, "no transaction: "},
	} {
		if got := e.failure(t, c.method, json.RawMessage(c.params)); !strings.HasPrefix(got, "-32602 "+c.message) {
			t.Errorf("%s %s: %s, expected -32602 %s", c.method, c.params, got, c.message)
		}
	}
}

// A panic in a method ends its request alone, over HTTP and WebSocket: the client gets an error with the id of the request,
// and can send more. Nothing of the requests and connections remains.
func TestAPanicEndsARequestAlone(t *testing.T) {
	e := start(t)
	params := map[string]string{
		"queryLedgerState/rewardAccountSummaries": `{"keys":["` + strings.Repeat("00", 28) + `"]}`,
		"submitTransaction":                       `{"transaction":{"cbor":"` + hex.EncodeToString(e.next[0].Raw) + `"}}`,
	}
	e.Handler = answertest.Limited(t, 2, ogmios.New(ogmios.Options{Path: path, Origins: []string{"*"}, Chain: &served.Chain{
		Name: "cardano-test", Model: e.chain.Model, Node: broken{},
	}}))
	request := func(method string) string {
		return fmt.Sprintf(`{"jsonrpc":"2.0","method":%q,"params":%s,"id":[%q]}`, method, cmp.Or(params[method], "{}"), method)
	}
	check := func(method string, o object) {
		failed, _ := o["error"].(object)
		if fmt.Sprint(o["id"]) != "["+method+"]" || fmt.Sprint(failed["code"]) != "-32603" || strings.Contains(fmt.Sprint(failed), "goroutine") {
			t.Errorf("%s: %v", method, o)
		}
	}
	ofMempool := map[string]bool{"acquireMempool": true, "hasTransaction": true, "nextTransaction": true, "releaseMempool": true, "sizeOfMempool": true}
	methods := slices.DeleteFunc(ogmios.Methods(), func(method string) bool { return ofMempool[method] })
	for _, method := range methods {
		status, o := e.post(t, request(method))
		if check(method, o); status != http.StatusBadRequest {
			t.Errorf("%s: status %d", method, status)
		}
	}
	for range 2 {
		s := e.dial(t)
		call := func(method string) object {
			if err := s.c.Write(t.Context(), websocket.MessageText, []byte(request(method))); err != nil {
				t.Fatal(err)
			}
			_, text, err := s.c.Read(t.Context())
			if err != nil {
				t.Fatalf("%s: the connection ended: %v", method, err)
			}
			return parsed(t, text)
		}
		works := func(method string) {
			if o := call(method); o["result"] == nil {
				t.Errorf("%s: %v", method, o)
			}
		}
		for _, method := range methods {
			check(method, call(method))
		}
		works("acquireMempool")
		check("nextTransaction", call("nextTransaction"))
		works("sizeOfMempool")
		check("acquireMempool", call("acquireMempool"))
		works("sizeOfMempool")
		check("releaseMempool", call("releaseMempool"))
	}
}

// socket is a WebSocket connection of a client.
type socket struct {
	t    *testing.T
	c    *websocket.Conn
	to   *answertest.Recording
	sent []string // requests without an answer
}

func (e *endpoint) dial(t *testing.T) *socket {
	t.Helper()
	s := httptest.NewServer(e)
	t.Cleanup(s.Close)
	c, _, err := websocket.Dial(t.Context(), "ws"+strings.TrimPrefix(s.URL, "http")+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.CloseNow() })
	return &socket{t: t, c: c, to: answertest.NewRecording(t)}
}

func (s *socket) send(method string, params any) {
	s.t.Helper()
	body, err := json.Marshal(object{"jsonrpc": "2.0", "method": method, "params": params})
	if err == nil {
		s.sent = append(s.sent, string(body))
		err = s.c.Write(s.t.Context(), websocket.MessageText, body)
	}
	if err != nil {
		s.t.Fatal(err)
	}
}

// receive returns the result of the next response, or the text of its error.
func (s *socket) receive(method string) any {
	s.t.Helper()
	_, text, err := s.c.Read(s.t.Context())
	if err != nil {
		s.t.Fatal(err)
	}
	s.to.Add("WebSocket "+s.sent[0], string(text))
	s.sent = s.sent[1:]
	o := parsed(s.t, text)
	conforms(s.t, method, o)
	if o["method"] != method {
		s.t.Fatalf("%s, expected a response to %s", text, method)
	}
	if e, failed := o["error"].(object); failed {
		return fmt.Sprint(e["code"], " ", e["message"])
	}
	return o["result"]
}

func (s *socket) result(method string, params any) any {
	s.t.Helper()
	s.send(method, params)
	return s.receive(method)
}

func same(t *testing.T, what string, got, want any) {
	t.Helper()
	text, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	if expected := parsed(t, []byte(`{"v":`+string(text)+`}`))["v"]; !reflect.DeepEqual(got, expected) {
		t.Errorf("%s: %v, expected %v", what, got, expected)
	}
}

// A client acquires the mempool, reads it, and waits for its changes. A response that waits delays the later ones only.
func TestMempool(t *testing.T) {
	e := start(t)
	ids := make([]string, len(e.next))
	size := 0
	for i, tx := range e.next {
		hash, err := ledger.HashTx(tx.Raw)
		if err != nil {
			t.Fatal(err)
		}
		ids[i], size = hash.String(), size+len(tx.Raw)
	}
	e.node.SetMempool(e.next[:2]...)
	s := e.dial(t)
	for _, method := range []string{"nextTransaction", "hasTransaction", "sizeOfMempool", "releaseMempool"} {
		params := object{}
		if method == "hasTransaction" {
			params["id"] = ids[0]
		}
		if got := s.result(method, params); !strings.HasPrefix(fmt.Sprint(got), "4000 ") {
			t.Errorf("%s without a mempool: %v", method, got)
		}
		if got := e.failure(t, method, params); !strings.HasPrefix(got, "-32601 ") {
			t.Errorf("%s over HTTP: %v", method, got)
		}
	}
	acquired := object{"acquired": "mempool", "slot": e.node.Tip().Slot}
	same(t, "acquire", s.result("acquireMempool", object{}), acquired)
	for _, id := range ids[:2] {
		same(t, "next", s.result("nextTransaction", nil), object{"transaction": object{"id": id}})
	}
	same(t, "the end", s.result("nextTransaction", nil), object{"transaction": nil})
	same(t, "has", s.result("hasTransaction", object{"id": ids[1]}), true)
	same(t, "has not", s.result("hasTransaction", object{"id": ids[2]}), false)
	same(t, "size", s.result("sizeOfMempool", nil), object{
		"maxCapacity": object{"bytes": 178_176}, "currentSize": object{"bytes": len(e.next[0].Raw) + len(e.next[1].Raw)}, "transactions": object{"count": 2},
	})

	// As Mesh does: the second request waits for a change, and the third one waits for the second.
	s.send("acquireMempool", object{})
	s.send("nextTransaction", object{"fields": "all"})
	other := e.dial(t)
	same(t, "another client", other.result("acquireMempool", nil), acquired)
	other.send("acquireMempool", nil) // waits when the client leaves
	_ = other.c.CloseNow()
	e.node.SetMempool(e.next[1:3]...)
	same(t, "acquire again", s.receive("acquireMempool"), acquired)
	all, ok := s.receive("nextTransaction").(object)["transaction"].(object)
	if !ok {
		t.Fatal("no transaction")
	}
	e.transaction(t, all, e.next[1])

	same(t, "release", s.result("releaseMempool", nil), object{"released": "mempool"})
	same(t, "acquire after the release", s.result("acquireMempool", nil), acquired)
	for _, bad := range []struct {
		method string
		params object
	}{{"nextTransaction", object{"fields": "some"}}, {"hasTransaction", object{"id": "x"}}, {"hasTransaction", object{"hash": ids[0]}}} {
		if got := s.result(bad.method, bad.params); !strings.HasPrefix(fmt.Sprint(got), "-32602 ") {
			t.Errorf("%s %v: %v", bad.method, bad.params, got)
		}
	}
	e.node.Stop()
	if got := s.result("acquireMempool", nil); !strings.HasPrefix(fmt.Sprint(got), "-32000 ") {
		t.Errorf("after the node stopped: %v", got)
	}
}

// transaction compares a transaction with what gouroboros reads.
func (e *endpoint) transaction(t *testing.T, got object, tx ouroborostest.Tx) {
	t.Helper()
	theirs, err := gouroboros.NewTransactionFromCbor(tx.Era, tx.Raw)
	if err != nil {
		t.Fatal(err)
	}
	inputs, outputs, signatories := []object{}, []object{}, []object{}
	for _, in := range theirs.Inputs() {
		inputs = append(inputs, object{"transaction": object{"id": in.Id().String()}, "index": in.Index()})
	}
	for _, o := range theirs.Outputs() {
		value := object{"ada": object{"lovelace": o.Amount()}}
		if assets := o.Assets(); assets != nil {
			for _, policy := range assets.Policies() {
				of := object{}
				for _, name := range assets.Assets(policy) {
					of[hex.EncodeToString(name)] = assets.Asset(policy, name)
				}
				value[policy.String()] = of
			}
		}
		entry := object{"address": o.Address().String(), "value": value}
		if h := o.DatumHash(); h != nil {
			entry["datumHash"] = h.String()
		}
		if d := o.Datum(); d != nil {
			entry["datum"] = hex.EncodeToString(d.Cbor())
			delete(entry, "datumHash")
		}
		outputs = append(outputs, entry)
	}
	for _, w := range theirs.Witnesses().Vkey() {
		signatories = append(signatories, object{"key": hex.EncodeToString(w.Vkey), "signature": hex.EncodeToString(w.Signature)})
	}
	want := object{
		"id": theirs.Hash().String(), "spends": "inputs", "inputs": inputs, "outputs": outputs, "signatories": signatories,
		"fee": object{"ada": object{"lovelace": theirs.Fee()}}, "cbor": hex.EncodeToString(tx.Raw),
	}
	if len(inputs) == 0 || len(outputs) == 0 {
		t.Error("the transaction is empty")
	}
	for name, v := range want {
		same(t, name, got[name], v)
	}
}

// Parts of a transaction that generated ones lack: references, collateral, withdrawals, mints, limits, signatures, datums
// and native scripts.
func TestPartsOfTransactions(t *testing.T) {
	e := start(t)
	hash := func(size int, n byte) []byte { return cardanotest.Filled(size, n) }
	account := append([]byte{0xe0}, hash(28, 4)...)
	in := func(n byte) list { return list{list{hash(32, n), int(n)}} }
	signer := list{0, hash(28, 13)}
	lock := cardanotest.Raw(t, list{0, list{1, list{list{2, list{signer}}, list{3, 2, list{signer, list{4, 20}}}, list{5, 30}}}})
	body := dict{
		0: in(1), 1: list{dict{0: append([]byte{0x60}, hash(28, 12)...), 1: 7, 3: cardanotest.Tagged(24, []byte(lock))}}, 2: 170_000, 3: 900, 5: cardanotest.Endless(t, 0xbf, account, 5),
		8: 800, 9: cardanotest.Endless(t, 0xbf, hash(28, 5), cardanotest.Endless(t, 0xbf, []byte("a"), -3)), 13: in(2), 14: list{hash(28, 6)}, 18: in(3),
		15: 1, 16: list{append([]byte{0x60}, hash(28, 12)...), 3}, 17: 8, 21: 9, 22: 10,
	}
	witnesses := dict{
		0: list{list{hash(32, 7), hash(64, 8)}}, 2: list{list{hash(32, 9), hash(64, 10), hash(32, 11), []byte{0xa0}}},
		4: list{cardanotest.Tagged(121, list{})},
	}
	e.node.SetMempool(ouroborostest.Tx{Era: 6, Raw: cardanotest.Raw(t, list{body, witnesses, true, nil})})
	s := e.dial(t)
	s.result("acquireMempool", nil)
	all := s.result("nextTransaction", object{"fields": "all"}).(object)["transaction"].(object)
	x := func(size int, n byte) string { return hex.EncodeToString(hash(size, n)) }
	of := func(n byte) []object { return []object{{"transaction": object{"id": x(32, n)}, "index": n}} }
	signed := object{"clause": "signature", "from": x(28, 13)}
	same(t, "script", all["outputs"].([]any)[0].(object)["script"].(object)["json"], object{"clause": "all", "from": []object{
		{"clause": "any", "from": []object{signed}},
		{"clause": "some", "atLeast": 2, "from": []object{signed, {"clause": "after", "slot": 20}}}, {"clause": "before", "slot": 30},
	}})
	for name, want := range map[string]any{
		"inputs": of(1), "collaterals": of(2), "references": of(3), "validityInterval": object{"invalidBefore": 800, "invalidAfter": 900},
		"withdrawals": object{address.Format(address.Network{Testnet: true}, account): object{"ada": object{"lovelace": 5}}},
		"network":     "mainnet", "totalCollateral": object{"ada": object{"lovelace": 8}},
		"treasury": object{"value": object{"ada": object{"lovelace": 9}}, "donation": object{"ada": object{"lovelace": 10}}},
		"collateralReturn": object{
			"address": address.Format(address.Network{Testnet: true}, append([]byte{0x60}, hash(28, 12)...)), "value": object{"ada": object{"lovelace": 3}},
		},
		"datums": object{"923918e403bf43c34b4ef6b48eb2ee04babed17320d8d1b9ff9ad086e86f44ec": "d87980"},
		"mint":   object{x(28, 5): object{"61": -3}}, "requiredExtraSignatories": []string{x(28, 6)},
		"signatories": []object{
			{"key": x(32, 7), "signature": x(64, 8)}, {"key": x(32, 9), "signature": x(64, 10), "chainCode": x(32, 11), "addressAttributes": "a0"},
		},
	} {
		same(t, name, all[name], want)
	}
}
