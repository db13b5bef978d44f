package blockbook_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/btcsuite/btcd/chaincfg/v2"
	"github.com/btcsuite/btcd/txscript/v2"

	"birthmark/api/compat/account"
	"birthmark/internal/testnode/bitcointest"
	"birthmark/internal/testrun"
)

// sameJSON compares an answer with the expected one.
func sameJSON(t testing.TB, what, body string, want any) {
	t.Helper()
	var got any
	d := json.NewDecoder(strings.NewReader(body))
	d.UseNumber()
	if err := d.Decode(&got); err != nil {
		t.Fatalf("%s: %v in %s", what, err, body)
	}
	same(t, what, got, want)
}

// expect compares the answer of a path with the expected one.
func (w *world) expect(t testing.TB, path string, want any) {
	t.Helper()
	status, body := w.ask(t, path, "")
	if status != http.StatusOK {
		t.Fatalf("%s: %d %s", path, status, body)
	}
	sameJSON(t, path, body, want)
}

// fails checks an error.
func (w *world) fails(t testing.TB, path, text string) {
	t.Helper()
	status, body := w.ask(t, path, "")
	if want, _ := json.Marshal(map[string]string{"error": text}); status != http.StatusBadRequest || body != string(want) {
		t.Errorf("%s: %d %s, expected %s", path, status, body, want)
	}
}

// members returns the discovered addresses of an account.
func (w *world) members(t testing.TB, n *naive, a *account.Account, gap int) (list []expectedMember) {
	t.Helper()
	found, err := a.Discover(gap, func(script []byte) (bool, error) { return len(n.history(script)) > 0, nil })
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range found {
		list = append(list, expectedMember{f.Script, a.Path(f.Branch, f.Index)})
	}
	return list
}

// questions returns requests about every address and account.
func (w *world) questions(t testing.TB, n *naive) (all []question) {
	known := map[string]bool{}
	for _, s := range w.scripts {
		if a := address(s); a != "" && !known[a] {
			known[a] = true
			all = append(all, question{name: a, members: []expectedMember{{script: s}}})
		}
	}
	for _, a := range w.accounts {
		all = append(all, question{name: a.Text, isAccount: true, members: w.members(t, n, a, account.DefaultGap)})
	}
	return all
}

// path returns the path of a request.
func (q *question) path(kind string) string {
	if kind == "" {
		if kind = "address"; q.isAccount {
			kind = "xpub"
		}
	}
	return "/api/v2/" + kind + "/" + escaped(q.name)
}

// Every answer equals that of a naive model, over chains with reorganizations and a mempool.
func TestAnswersEqualTheNaiveModel(t *testing.T) {
	w := newWorld(t, nil)
	w.mine(t, 40, 4, false)
	for range testrun.Amount(6, 3) {
		w.arrive(t, 12)
		w.compare(t)
		w.mine(t, 3, 6, w.rng.IntN(2) == 0)
		w.compare(t)
		w.fork(t, 1+w.rng.IntN(3))
		w.compare(t)
	}
	w.mine(t, 80, 0, true) // coinbases become mature
	w.compare(t)
}

// compare compares the answers to all requests.
func (w *world) compare(t *testing.T) {
	t.Helper()
	n := w.naive()
	for _, q := range w.questions(t, n) {
		q.details = levels[w.rng.IntN(len(levels))]
		q.tokens = []string{"nonzero", "used", "derived"}[w.rng.IntN(3)]
		q.page, q.pageSize = w.rng.IntN(4), 1+w.rng.IntN(9)
		switch w.rng.IntN(5) {
		case 0:
			q.from = w.rng.IntN(n.tip() + 2)
		case 1:
			q.to = 1 + w.rng.IntN(n.tip()+2)
		case 2:
			q.from, q.to = w.rng.IntN(n.tip()+2), 1+w.rng.IntN(n.tip()+2)
		case 3:
			q.filter = []string{"inputs", "outputs"}[w.rng.IntN(2)]
		}
		parameters := fmt.Sprintf("?details=%s&tokens=%s&page=%d&pageSize=%d&from=%d&to=%d&filter=%s",
			q.details, q.tokens, q.page, q.pageSize, q.from, q.to, q.filter)
		w.expect(t, q.path("")+parameters, n.info(&q))
		defaults := q
		defaults.details, defaults.tokens, defaults.page, defaults.pageSize = "txids", "nonzero", 1, 1000
		defaults.from, defaults.to, defaults.filter = 0, 0, ""
		w.expect(t, q.path(""), n.info(&defaults))

		w.expectUtxos(t, &q, n)
		group := int64(3600 * (1 + w.rng.IntN(5)))
		from, to := n.time(w.rng.IntN(n.tip()+1)), n.time(w.rng.IntN(n.tip()+1))+w.rng.Int64N(700)
		w.expect(t, q.path("balancehistory"), n.balances(q.scripts(), 0, 0, 3600))
		w.expect(t, q.path("balancehistory")+fmt.Sprintf("?groupBy=%d&from=%d&to=%d", group, from, to), n.balances(q.scripts(), from, to, group))
	}
	for range 20 {
		p := n.all[w.rng.IntN(len(n.all))]
		w.expectTx(t, n, p)
	}
	w.expectTx(t, n, n.all[len(n.all)-1])
	for _, height := range []int{0, w.rng.IntN(n.tip() + 1), n.tip()} {
		w.expectBlock(t, n, height)
	}
}

// expectUtxos compares the unspent outputs. Those of an account may have any order within a block.
func (w *world) expectUtxos(t *testing.T, q *question, n *naive) {
	t.Helper()
	for path, want := range map[string][]object{
		q.path("utxo"): n.utxos(q, false), q.path("utxo") + "?confirmed=true": n.utxos(q, true),
	} {
		got := get[[]object](t, w, path)
		height := 1 << 30
		for _, u := range got {
			at := 1<<30 - 1
			if h, ok := u["height"].(float64); ok {
				at = int(h)
			}
			if at > height {
				t.Fatalf("%s: the outputs are not ordered by height: %v", path, got)
			}
			height = at
		}
		byID := func(list []object) []object {
			slices.SortFunc(list, func(a, b object) int {
				return strings.Compare(fmt.Sprint(a["txid"], a["vout"]), fmt.Sprint(b["txid"], b["vout"]))
			})
			return list
		}
		same(t, path, byID(got), byID(want))
	}
}

func (w *world) expectTx(t *testing.T, n *naive, p place) {
	t.Helper()
	id := p.tx.TxHash().String()
	w.expect(t, "/api/v2/tx/"+id, n.tx(p, false, false, nil))
	w.expect(t, "/api/v2/tx/"+id+"?spending=true", n.tx(p, false, true, nil))
	w.expect(t, "/api/rawtx/"+id, hex.EncodeToString(serialize(p.tx)))
	specific := get[struct {
		TxID, BlockHash string
		Confirmations   int
		Hash, Hex       string
		Version, Size   int
		VSize, Weight   int
		LockTime        uint32
		Vin, Vout       []json.RawMessage
		Time, BlockTime int64
	}](t, w, "/api/v2/tx-specific/"+id)
	want := ""
	if p.height >= 0 {
		want = n.blocks[p.height].BlockHash().String()
	}
	if specific.TxID != id || specific.BlockHash != want || len(specific.Vout) != len(p.tx.TxOut) || specific.Hex != hex.EncodeToString(serialize(p.tx)) {
		t.Errorf("tx-specific %s: %+v", id, specific)
	}
}

func (w *world) expectBlock(t *testing.T, n *naive, height int) {
	t.Helper()
	b := n.blocks[height]
	hash := b.BlockHash().String()
	for _, id := range []string{hash, fmt.Sprint(height)} {
		w.expect(t, "/api/v2/block/"+id, n.block(height, 1, 1000))
		w.expect(t, "/api/v2/block/"+id+"?page=7", n.block(height, 7, 1000))
		w.expect(t, "/api/v2/rawblock/"+id, object{"hex": hex.EncodeToString(bitcointest.Bytes(b))})
		w.expect(t, "/api/v2/feestats/"+id, n.fees(height))
	}
	w.expect(t, fmt.Sprintf("/api/v2/block-index/%d", height), object{"blockHash": hash})
	w.expect(t, "/api/block-index/", object{"blockHash": n.blocks[n.tip()].BlockHash().String()})
}

// The sums of an account equal those of its addresses.
func TestAccountsAreTheUnionOfTheirAddresses(t *testing.T) {
	w := newWorld(t, nil)
	w.mine(t, 50, 6, false)
	w.arrive(t, 20)
	type info struct {
		Balance, TotalReceived, TotalSent, UnconfirmedBalance json.Number
		Txs                                                   int
		TxIDs                                                 []string
		Tokens                                                []struct{ Name string }
	}
	for _, a := range w.accounts {
		for _, gap := range []int{1, 20, 60} {
			path := "/api/v2/xpub/" + escaped(a.Text) + fmt.Sprintf("?details=txids&tokens=derived&gap=%d", gap)
			status, body := w.ask(t, path, "")
			var whole info
			if err := json.Unmarshal([]byte(body), &whole); err != nil || status != http.StatusOK {
				t.Fatalf("%s: %d %s", path, status, body)
			}
			var balance, received, sent, pending int64
			ids := map[string]bool{}
			for _, token := range whole.Tokens {
				_, body := w.ask(t, "/api/v2/address/"+token.Name, "")
				var part info
				if err := json.Unmarshal([]byte(body), &part); err != nil {
					t.Fatalf("%s: %s", token.Name, body)
				}
				for sum, text := range map[*int64]json.Number{&balance: part.Balance, &received: part.TotalReceived, &sent: part.TotalSent, &pending: part.UnconfirmedBalance} {
					v, err := text.Int64()
					if err != nil {
						t.Fatal(err)
					}
					*sum += v
				}
				for _, id := range part.TxIDs {
					ids[id] = true
				}
			}
			for name, c := range map[string][2]string{
				"balance": {whole.Balance.String(), fmt.Sprint(balance)}, "received": {whole.TotalReceived.String(), fmt.Sprint(received)},
				"sent": {whole.TotalSent.String(), fmt.Sprint(sent)}, "pending": {whole.UnconfirmedBalance.String(), fmt.Sprint(pending)},
			} {
				if c[0] != c[1] {
					t.Errorf("%s, gap %d: %s %s, its addresses have %s", a.Text[:6], gap, name, c[0], c[1])
				}
			}
			if len(ids) != len(whole.TxIDs) || slices.ContainsFunc(whole.TxIDs, func(id string) bool { return !ids[id] }) {
				t.Errorf("%s, gap %d: %d transactions, its addresses have %d", a.Text[:6], gap, len(whole.TxIDs), len(ids))
			}
		}
	}
}

// The pages of a list together are the list.
func TestPagesAreTheList(t *testing.T) {
	w := newWorld(t, nil)
	w.mine(t, 60, 6, false)
	n := w.naive()
	for _, q := range w.questions(t, n) {
		var all []string
		for page := 1; ; page++ {
			a := get[object](t, w, q.path("")+fmt.Sprintf("?page=%d&pageSize=3", page))
			for _, id := range list(a["txids"]) {
				all = append(all, id.(string))
			}
			if float64(page) >= a["totalPages"].(float64) {
				break
			}
		}
		var want []string
		for _, e := range n.history(q.scripts()...) {
			want = append(want, e.tx.TxHash().String())
		}
		slices.Reverse(want)
		if !slices.Equal(all, want) {
			t.Errorf("%s: %d transactions in pages, expected %d", q.name, len(all), len(want))
		}
	}
}

func list(a any) []any {
	l, _ := a.([]any)
	return l
}

func TestErrors(t *testing.T) {
	w := newWorld(t, nil)
	w.mine(t, 3, 2, false)
	unknown := strings.Repeat("ab", 32)
	for path, text := range map[string]string{
		"/api/v2/tx/" + unknown:                               "Transaction '" + unknown + "' not found",
		"/api/v2/tx/xyz":                                      "Transaction 'xyz' not found",
		"/api/v2/tx-specific/" + unknown:                      "Transaction '" + unknown + "' not found",
		"/api/v2/rawtx/" + unknown:                            "Transaction '" + unknown + "' not found",
		"/api/v2/tx/" + unknown + "?spending=x":               "Parameter 'spending' cannot be converted to boolean",
		"/api/v2/block/99":                                    "Block not found",
		"/api/v2/block/" + unknown:                            "Block not found",
		"/api/v2/block/xyz":                                   "Block not found",
		"/api/v2/block-index/99":                              "Block not found",
		"/api/v2/rawblock/99":                                 "Block not found",
		"/api/v2/feestats/99":                                 "Block not found",
		"/api/v2/estimatefee/x":                               "Parameter 'number of blocks' is not a number",
		"/api/v2/estimatefee/5":                               "the node has no fee estimate for 5 blocks",
		"/api/v2/estimatefee/2?conservative=x":                "Parameter 'conservative' cannot be converted to boolean",
		"/api/v2/utxo/x?confirmed=maybe":                      "Parameter 'confirmed' cannot be converted to boolean",
		"/api/v2/address/x?page=-1":                           `page: "-1" is not a number from 0 to 1000000`,
		"/api/v2/address/x?details=all":                       `details: "all" is not one of basic, tokenBalances, tokens, txids, txs, txslight`,
		"/api/v2/address/x?filter=3":                          `filter: "3" is not one of inputs, outputs`,
		"/api/v2/xpub/" + escaped(accountKey) + "?gap=1001":   "gap 1001 is not a number from 1 to 1000",
		"/api/v2/xpub/" + escaped("wpkh("+accountKey+"/0/5)"): "invalid account: the path after the key must end with /*, so that the account has several addresses",
		"/api/v2/sendtx/00":                                   "-25: bad-txns-inputs-missingorspent",
		"/api/v2/sendtx/zz":                                   "the transaction is not hex: expected a serialized transaction as hex digits",
		"/api/v2/tickers/?timestamp=1":                        "not supported: this server has no fiat rates, tokens or block filters",
		"/api/v2/contract/0x00":                               "not supported: this server has no fiat rates, tokens or block filters",
		"/api/v2/nothing":                                     `unknown path or method: GET "/testnet/blockbook/api/v2/nothing"`,
	} {
		w.fails(t, path, text)
	}
	for _, path := range []string{"/api/v2/address/x", "/api/v2/address/bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu", "/api/v2/utxo/1"} {
		if status, body := w.ask(t, path, ""); status != http.StatusBadRequest || !strings.HasPrefix(body, `{"error":"Invalid address, `) {
			t.Errorf("%s: %d %s", path, status, body)
		}
	}
	if status, body := w.ask(t, "/api/v2/sendtx/", " "); status != http.StatusBadRequest || body != `{"error":"Missing tx blob"}` {
		t.Errorf("an empty transaction: %d %s", status, body)
	}
}

func TestStatusFeesAndSubmit(t *testing.T) {
	w := newWorld(t, nil)
	w.mine(t, 5, 2, false)
	w.arrive(t, 2)
	n := w.naive()
	tip := n.blocks[n.tip()]
	server := object{
		"coin": "Regtest", "network": "rBTC", "host": "example.com", "version": "v1.2.3",
		"gitCommit": "unknown", "buildTime": "unknown", "syncMode": true, "initialSync": false,
		"inSync": true, "bestHeight": n.tip(), "lastBlockTime": tip.Header.Timestamp.UTC().Format("2006-01-02T15:04:05Z"),
		"inSyncMempool": true, "mempoolSize": len(w.node.txs()), "decimals": 8, "dbSize": databaseSize,
		"about": "Birthmark, with the API of Blockbook",
	}
	backend := object{
		"chain": "regtest", "blocks": n.tip(), "bestBlockHash": tip.BlockHash().String(), "difficulty": "4.656542373906925e-10",
		"headers": n.tip(), "sizeOnDisk": 5000, "version": "280000", "subversion": "/Satoshi:28.0.0/", "protocolVersion": "70016",
		"warnings": "one two",
	}
	began := time.Now()
	expectStatus := func() {
		t.Helper()
		got := get[map[string]object](t, w, "/api/v2")
		at, err := time.Parse(time.RFC3339Nano, got["blockbook"]["lastMempoolTime"].(string))
		if err != nil || at.Before(began.Add(-time.Hour)) || at.After(time.Now()) {
			t.Errorf("the mempool is of %v: %v", at, err)
		}
		delete(got["blockbook"], "lastMempoolTime")
		same(t, "status", got, object{"blockbook": server, "backend": backend})
	}
	expectStatus()
	w.node.setSilent(true)
	server["inSync"], server["inSyncMempool"] = false, false
	backend = object{
		"error": "the node does not answer", "chain": "regtest", "blocks": n.tip(), "bestBlockHash": tip.BlockHash().String(),
		"difficulty": "4.656542373906925e-10",
	}
	expectStatus()
	w.node.setSilent(false)
	w.node.fees = map[int]float64{1: 25_000.4, 6: 100_000_000}
	w.expect(t, "/api/v2/estimatefee/1", object{"result": "0.00025001"})
	w.expect(t, "/api/v2/estimatefee/1?conservative=false", object{"result": "0.00012501"})
	w.expect(t, "/api/v2/estimatefee/6", object{"result": "1"})

	tx := w.spendAny(t)
	raw := hex.EncodeToString(serialize(tx))
	if status, body := w.ask(t, "/api/v2/sendtx/", raw+"\n"); status != http.StatusOK || body != `{"result":"`+tx.TxHash().String()+`"}` {
		t.Fatalf("sendtx: %d %s", status, body)
	}
	n = w.naive()
	w.expect(t, "/api/v2/tx/"+tx.TxHash().String(), n.tx(n.all[len(n.all)-1], false, false, nil)) // at once
}

// Outputs that pay to a public key do not belong to the address of the key.
func TestPublicKeysAreNotTheirAddresses(t *testing.T) {
	w := newWorld(t, nil)
	genesis := w.chain.Tip().Transactions[0].TxOut[0].PkScript
	kind, list, _, err := txscript.ExtractPkScriptAddrs(genesis, &chaincfg.RegressionNetParams)
	if err != nil || kind != txscript.PubKeyTy {
		t.Fatal(kind, err)
	}
	a := get[object](t, w, "/api/v2/address/"+list[0].EncodeAddress())
	if a["balance"] != "0" || a["txs"] != 0.0 {
		t.Errorf("the address of the first block: %v", a)
	}
}

func TestAnswersAreCompact(t *testing.T) {
	w := newWorld(t, nil)
	if _, body := w.ask(t, "/api/v2/block-index/0", ""); bytes.ContainsAny([]byte(body), " \n") {
		t.Errorf("%q", body)
	}
}

// An invalid parameter is refused before a request to the chain or the node, which would panic.
func TestInvalidParametersAreRefusedFirst(t *testing.T) {
	w := newWorld(t, nil)
	w.mine(t, 3, 2, false)
	id := w.chain.Tip().Transactions[0].TxHash().String()
	w.panics.Store(true)
	defer w.panics.Store(false)
	w.node.panics.Store(true)
	defer w.node.panics.Store(false)
	holder := address(w.scripts[0])
	for path, says := range map[string]string{
		"/block/1?page=x":                          `page: \"x\" is not a number from 0 to 1000000`,
		"/tx/x":                                    "Transaction 'x' not found",
		"/tx/" + id + "?spending=2":                "Parameter 'spending' cannot be converted to boolean",
		"/tx-specific/" + id[1:]:                   "Transaction '" + id[1:] + "' not found",
		"/rawtx/":                                  "Transaction '' not found",
		"/utxo/x?confirmed=maybe":                  "Parameter 'confirmed' cannot be converted to boolean",
		"/utxo/x/y?gap=-1":                         `gap: \"-1\" is not`,
		"/balancehistory/x?groupBy=x":              `groupBy: \"x\" is not`,
		"/estimatefee/x":                           "Parameter 'number of blocks' is not a number",
		"/estimatefee/1?conservative=2":            "Parameter 'conservative' cannot be converted to boolean",
		"/address/" + holder + "?details=all":      `details: \"all\" is not one of basic, tokenBalances, tokens, txids, txs, txslight`,
		"/address/" + holder + "?from=1&to=x":      `to: \"x\" is not`,
		"/xpub/" + accountKey + "?tokens=derived,": `tokens: \"derived,\" is not one of derived, nonzero, used`,
	} {
		for _, version := range []string{"/api", "/api/v1", "/api/v2"} {
			if status, got := w.ask(t, version+path, ""); status != http.StatusBadRequest || !strings.Contains(got, says) {
				t.Errorf("%s%s: %d %s, expected %s", version, path, status, got, says)
			}
		}
	}
}
