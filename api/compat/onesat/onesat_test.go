package onesat_test

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/wire/v2"
	"github.com/expr-lang/expr"

	"birthmark/api/compat/onesat"
	"birthmark/api/compat/wallet"
	"birthmark/api/served"
	"birthmark/core"
	"birthmark/internal/testnode/bitcointest"
	"birthmark/internal/testnode/onesattest"
	"birthmark/model"
	"birthmark/storage/memory"
)

// world is a database of the scenario, and the handler that serves it.
type world struct {
	*testing.T
	*onesattest.Scenario
	db *core.DB
	http.Handler
	known map[string]any
}

// newWorld serves the scenario, to which more adds blocks; nil: none.
func newWorld(t *testing.T, more func(*onesattest.Scenario)) *world {
	t.Helper()
	c := chainWith(t, "1sat")
	db, err := core.Open(t.Context(), memory.New(), core.Options{
		Chain: c, Indexes: indexes, Raw: true, CacheBytes: 4 << 20, Keep: map[string]model.IndexOptions{"address": hot, "script_hash": hot},
	})
	if err != nil {
		t.Fatal(err)
	}
	w := &world{T: t, Scenario: onesattest.NewScenario(), db: db}
	if more != nil {
		more(w.Scenario)
	}
	file := filepath.Join(t.TempDir(), "blk00000.dat")
	if err := os.WriteFile(file, bitcointest.BlockFile(wire.TestNet, w.Blocks()...), 0o600); err != nil {
		t.Fatal(err)
	}
	src, err := c.Open(t.Context(), model.SourceOptions{URI: "file://" + file, Indexes: db.Indexes(), Raw: true})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	if err := core.Sync(t.Context(), db, src, core.SyncOptions{}); err != nil {
		t.Fatal(err)
	}
	state := func() served.State { return served.State{} }
	w.Handler, err = onesat.New(onesat.Options{
		Chain: wallet.New(&served.Chain{Name: "bitcoin-sv", Model: c, View: db.View, Moved: db.Moved, State: state, Fees: fees{}}),
		Rules: c.Traits().Tokens.Rules, Path: "/bsv",
	})
	if err != nil {
		t.Fatal(err)
	}
	address := func(n byte) string { return c.(model.Scripter).ScriptAddress(onesattest.Lock(n)) }
	w.known = map[string]any{
		"a": address(1), "b": address(2), "token": w.Token, "minted": w.Minted, "ordinal": strings.TrimSuffix(w.Ordinal, ":origin"),
		"second": strings.TrimSuffix(w.Second, ":origin"), "tip": float64(w.Height()),
	}
	for name, tx := range map[string]*wire.MsgTx{
		"deploy": w.Deploy, "auth": w.Auth, "mint": w.Mint, "move": w.Move, "burn": w.Burn, "invalid": w.Invalid,
		"inscribe": w.Inscribe, "carry": w.Carry, "swap": w.Swap, "child": w.Child,
	} {
		w.known[name] = tx.TxHash().String()
	}
	for h, b := range w.Blocks() {
		for _, tx := range b.Transactions {
			if tx.TxHash() == w.Move.TxHash() {
				w.known["moved"] = float64(h)
			}
		}
	}
	return w
}

// fees are the limits of a node.
type fees struct{}

func (fees) EstimateFees(context.Context, []int, string) (map[int]float64, error) { return nil, nil }
func (fees) MinimumFees(context.Context) (model.MinimumFees, error) {
	return model.MinimumFees{Relay: 50}, nil
}

var placeholder = regexp.MustCompile(`\{(\w+)\}`)

// fill replaces names in braces.
func (w *world) fill(text string) string {
	return placeholder.ReplaceAllStringFunc(text, func(name string) string {
		if value, ok := w.known[strings.Trim(name, "{}")]; ok {
			return fmt.Sprint(value)
		}
		return name
	})
}

// ask sends a request, GET if body is empty. Names in braces are replaced.
func (w *world) ask(path, body string) *httptest.ResponseRecorder {
	w.Helper()
	fill := w.fill
	method, content := http.MethodGet, io.Reader(nil)
	if body != "" {
		method, content = http.MethodPost, strings.NewReader(fill(body))
	}
	rec := httptest.NewRecorder()
	w.ServeHTTP(rec, httptest.NewRequest(method, "/bsv"+fill(path), content).WithContext(w.Context()))
	return rec
}

// holds evaluates an expression over an answer.
func (w *world) holds(what string, rec *httptest.ResponseRecorder, expected string) {
	w.Helper()
	if rec.Code != http.StatusOK {
		w.Errorf("%s: %d %s", what, rec.Code, rec.Body)
		return
	}
	w.known["answer"] = rec.Body.String()
	if strings.HasPrefix(rec.Header().Get("Content-Type"), "application/json") {
		var document any
		if err := json.Unmarshal(rec.Body.Bytes(), &document); err != nil {
			w.Fatalf("%s: %v: %s", what, err, rec.Body)
		}
		w.known["answer"] = document
	}
	if ok, err := expr.Eval(expected, w.known); ok != true || err != nil {
		w.Errorf("%s: expected that %s (%v): %.2000s", what, expected, err, rec.Body)
	}
}

// Each kind of key that 1sat-stack stores has a route with the answer that the key serves.
func TestEveryKeyOfTheStackHasARoute(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	text, err := os.ReadFile(filepath.Join("testdata", "stack-keys.md"))
	if err != nil {
		t.Fatal(err)
	}
	cell := regexp.MustCompile("(?m)^\\| `([^`]+)` \\| [^|`]+ \\| `([^`]+)` \\| `([^`]+)` \\|$")
	found := cell.FindAllStringSubmatch(string(text), -1)
	keys := map[string]bool{}
	for _, m := range found {
		keys[m[1]] = true
		w.holds(m[1]+" "+m[2], w.ask(m[2], ""), m[3])
	}
	if lines := strings.Count(string(text), "\n| `"); lines != len(found) || len(keys) < 27 {
		t.Errorf("%d of %d lines, %d keys", len(found), lines, len(keys))
	}
}

// Requests with lists, files and their metadata, headers and proofs.
func TestAnswers(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	for _, q := range [][3]string{
		{"/capabilities", "", `"bsv21" in answer and "txo" in answer`},
		{"/1sat/bsv21/{token}/p2pkh/balance", `["{a}","{b}"]`, `answer.balance == 150 and answer.utxoCount == 1`},
		{"/1sat/bsv21/{minted}/p2pkh/balance", `["{b}"]`, `answer.balance == 50 and answer.utxoCount == 1`},
		{"/1sat/bsv21/{token}/p2pkh/history?limit=3", `["{a}","{b}"]`, `map(answer, .data.bsv21.amt) == ["1000", "300", "700"]`},
		{"/1sat/bsv21/{token}/p2pkh/history?rev=true", `["{a}"]`, `map(answer, .data.bsv21.amt) == ["700", "1000"]`},
		{"/1sat/bsv21/{token}/p2pkh/unspent", `["{a}"]`, `answer == []`},
		{"/1sat/bsv21/lookup", `["{token}","{move}_0","{minted}"]`, `map(answer, .tokenId) == [token, minted] and answer[0].token.sym == "CATS"`},
		{"/1sat/bsv21/{token}/outputs?spend=true", `["{move}_0","{invalid}_0","{burn}_1"]`,
			`map(answer, .outpoint) == [move + "_0", burn + "_1"] and answer[0].spend == burn`},
		{"/1sat/bsv21/{token}/outputs/{burn}_1?events=true", "", `("p2pkh:" + b + ":" + token) in answer.events`},
		{"/1sat/txo/outpoints?sats=true", `["{burn}_1","x","{burn}_9"]`, `answer[0].satoshis == 1 and answer[1] == nil and answer[2] == nil`},
		{"/1sat/txo/spends", `["{move}_0","{swap}_0"]`, `map(answer, .spendTxid) == [burn, nil]`},
		{"/1sat/txo/search?key=type:text/plain,type:image/svg%2Bxml", "", `map(answer, .outpoint) == [ordinal, child + "_0"]`},
		{"/1sat/txo/search?key=parent:{ordinal}&tags=cosign,insc", "",
			`answer[0].data.cosign.address == b and answer[0].data.insc.parent == inscribe + ".1"`},
		{"/1sat/txo/search?key=own:{b}&unspent=true&limit=2&rev=true", "", `map(answer, .outpoint) == [child + "_0", swap + "_0"]`},
		{"/txo/search?key=own:{b}&limit=1", "", `map(answer, .outpoint) == [mint + "_1"]`},
		{"/1sat/owner/{b}/txos?refresh=true&sats=true", "",
			`answer contains "event: sync" and answer contains "event: txo" and answer endsWith "event: done\ndata: {}\n\n" and answer contains burn`},
		{"/1sat/owner/sync?owner={b}&owner={a}", "", `answer contains (burn + ".1") and answer contains "spendTxid" and answer contains "retry: 60000"`},
		{"/1sat/ordfs/metadata/{ordinal}", "", `answer.contentType == "text/plain;charset=utf-8" and answer.contentLength == 5 and answer.map.name == "a cat"`},
		{"/1sat/ordfs/metadata/{carry}_1:-1", "", `answer.origin == ordinal and answer.sequence == 1 and answer.outpoint == carry + "_1" and answer.map.name == "a cat"`},
		{"/1sat/ordfs/metadata/{carry}_1:0", "", `answer.outpoint == ordinal and answer.sequence == 0`},
		{"/1sat/ordfs/metadata/{child}_0", "", `answer.parent == ordinal and answer.contentType == "image/svg+xml"`},
		{"/1sat/ordfs/metadata", `{"outpoints":["{ordinal}:-2","{burn}_7"]}`, `answer[ordinal + ":-2"].origin == ordinal and answer[burn + "_7"] == nil`},
		{"/content/{ordinal}", "", `answer == "hello"`},
		{"/content/{inscribe}", "", `answer == "hello"`},
		{"/content/{carry}_1:1?map=true", "", `answer == "hello"`},
		{"/1sat/ordfs/preview/PGI%2BeDwvYj4%3D", "", `answer == "<b>x</b>"`},
		{"/1sat/ordfs/stream/{ordinal}", "", `answer == "hello"`},
		{"/1sat/chaintracks/network", "", `answer.network == "test"`},
		{"/1sat/chaintracks/headers?height=0&count=2", "", `len(answer) > 100`},
		{"/1sat/chaintracks/header/height/0", "", `answer.hash == "0f9188f13cb7b2c71f2a335e3a4fc328bf5beb436012afca590b1a11466e2206" and answer.bits == 545259519`},
		{"/1sat/chaintracks/header/hash/0f9188f13cb7b2c71f2a335e3a4fc328bf5beb436012afca590b1a11466e2206", "", `answer.height == 0`},
		{"/1sat/arcade/tx/{burn}", "", `answer.txStatus == "MINED" and answer.txid == burn and answer.merklePath != ""`},
		{"/1sat/overlay/listTopicManagers", "", `len(answer) == 0`},
	} {
		w.holds(q[0], w.ask(q[0], q[1]), q[2])
	}
	rec := w.ask("/content/{carry}_1:1?map=true", "")
	for name, want := range map[string]string{
		"X-Outpoint": "{carry}_1", "X-Origin": "{ordinal}", "X-Ord-Seq": "1", "X-Map": `{"name":"a cat"}`,
		"Cache-Control": "public, max-age=31536000, immutable", "Content-Type": "text/plain;charset=utf-8",
	} {
		if got := rec.Header().Get(name); got != w.fill(want) {
			t.Errorf("%s: %q, expected %q", name, got, w.fill(want))
		}
	}
}

// Invalid and unknown arguments are answered in the form of the part of the API.
func TestErrors(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	for _, q := range []struct {
		path, body string
		status     int
		text       string
	}{
		{"/1sat/bsv21/x", "", 400, `{"message":"Invalid token ID format"}`},
		{"/1sat/bsv21/{burn}_1", "", 404, `{"message":"Token not found"}`},
		{"/1sat/bsv21/{token}/blk/x", "", 400, `{"message":"Invalid height parameter"}`},
		{"/1sat/bsv21/{token}/p2pkh/balance", `[]`, 400, `{"message":"No addresses provided"}`},
		{"/1sat/bsv21/{token}/p2pkh/balance", `{`, 400, `{"message":"Invalid request body"}`},
		{"/1sat/bsv21/{token}/outputs/{invalid}_0", "", 404, `{"message":"Output not found"}`},
		{"/1sat/txo/{burn}_9", "", 404, "TXO not found"},
		{"/1sat/txo/x", "", 400, "Invalid outpoint format"},
		{"/1sat/txo/search", "", 400, "At least one key is required"},
		{"/1sat/owner/sync", "", 400, "owner query parameter required"},
		{"/content/x", "", 400, `{"error":"invalid pointer format"}`},
		{"/content/{ordinal}:x", "", 400, `{"error":"invalid seq value: x"}`},
		{"/content/{ordinal}:7", "", 404, `{"error":"target sequence 7 not found (chain ends at 1): not found"}`},
		{"/content/{swap}_1", "", 200, ""},
		{"/1sat/beef/{ordinal}", "", 400, `{"error":"Invalid txid"}`},
		{"/1sat/chaintracks/header/height/999", "", 404, `{"error":"Header not found"}`},
		{"/nothing", "", 404, "Cannot GET /nothing"},
	} {
		if rec := w.ask(q.path, q.body); rec.Code != q.status || rec.Body.String() != q.text {
			t.Errorf("%s: %d %s, expected %d %s", q.path, rec.Code, rec.Body, q.status, q.text)
		}
	}
}

// listingLock is the OrdLock of a real transaction, of another seller.
func listingLock(t *testing.T, seller []byte) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "chains", "bitcoinsv", "onesat", "testdata",
		"690b213114926cd5a6f0785cb3e289afe9cde195972c1d344569c90530b8cbd1.hex"))
	if err != nil {
		t.Fatal(err)
	}
	raw, err := hex.DecodeString(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	var tx wire.MsgTx
	if err := tx.DeserializeNoWitness(bytes.NewReader(raw)); err != nil {
		t.Fatal(err)
	}
	script := tx.TxOut[0].PkScript
	const hashAt = 103
	return slices.Concat(script[:hashAt], seller, script[hashAt+len(seller):])
}

// Offers are found by token and by seller, and are not among the other outputs of the seller's token.
func TestListings(t *testing.T) {
	t.Parallel()
	var listing *wire.MsgTx
	w := newWorld(t, func(s *onesattest.Scenario) {
		seller := onesattest.Lock(1)[3:23]
		listing = bitcointest.Spend(s.Mint, 1, onesattest.Told("transfer", `,"id":"`+s.Minted+`","amt":"50"`, listingLock(t, seller)))
		s.Chain.Mine(listing)
	})
	w.known["listing"] = listing.TxHash().String()
	for _, q := range [][3]string{
		{"/1sat/bsv21/{minted}/list/{a}/balance", "", `answer.balance == 50 and answer.utxoCount == 1`},
		{"/1sat/bsv21/{minted}/p2pkh/{a}/balance", "", `answer.balance == 0 and answer.utxoCount == 0`},
		{"/1sat/txo/search?key=list", "", `map(answer, .outpoint) == [listing + "_0"]`},
		{"/1sat/txo/search?key=list:{minted}&events=true&tags=ordlock", "",
			`("list:" + a + ":" + minted) in answer[0].events and "list" in answer[0].events and ("own:" + a) in answer[0].events and ` +
				`answer[0].data.ordlock.price == 1000000 and answer[0].data.ordlock.seller.AddressString == a`},
		{"/1sat/txo/search?key=list:{token}", "", `answer == []`},
		{"/1sat/txo/search?key=list:{b}:{minted}", "", `answer == []`},
	} {
		w.holds(q[0], w.ask(q[0], q[1]), q[2])
	}
}

// The protocol needs both kinds of assets.
func TestOtherAssetsAreRefused(t *testing.T) {
	t.Parallel()
	for _, assets := range []string{"bsv21", "ordinals"} {
		if _, err := onesat.New(onesat.Options{Rules: chainWith(t, assets).Traits().Tokens.Rules}); err == nil {
			t.Errorf("%s are accepted", assets)
		}
	}
	if _, err := onesat.New(onesat.Options{}); err == nil {
		t.Error("no assets are accepted")
	}
}
