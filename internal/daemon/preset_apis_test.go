package daemon

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"birthmark/bench/generate"
	"birthmark/core/query"

	"github.com/coder/websocket"
	"go.yaml.in/yaml/v3"
)

// argument matches an argument of a path.
var argument = regexp.MustCompile(`\{(\w+)(\.\.\.)?\}`)

// below returns a function that requests operations of an API below a path. values are those of arguments. Their keys
// are NAME, SEGMENT/NAME with the segment before the argument, or OPERATION NAME. requests are the queries and bodies of
// operations: a query begins with a question mark, and a body follows a space.
func below(path string, values func(w *presetWorld) (values, requests map[string]string)) func(*presetWorld,
	string) (int, []byte) {
	return func(w *presetWorld, operation string) (int, []byte) {
		of, requests := values(w)
		method, rest, _ := strings.Cut(operation, " ")
		if strings.HasPrefix(rest, "/") {
			return w.request(operation)
		}
		segments := strings.Split(rest, "/")
		for i, s := range segments {
			m := argument.FindStringSubmatch(s)
			if m == nil {
				continue
			}
			value, ok := of[operation+" "+m[1]]
			if !ok && i > 0 {
				value, ok = of[segments[i-1]+"/"+m[1]]
			}
			if !ok {
				value, ok = of[m[1]]
			}
			if !ok {
				w.Fatalf("%s: %s has no value in this world", operation, m[1])
			}
			segments[i] = url.PathEscape(value)
		}
		return w.request(method + " " + path + "/" + strings.Join(segments, "/") + requests[operation])
	}
}

// endpointsIn returns the operations of the tables of endpoints in files: each line of their functions with a text is one.
func endpointsIn(files ...string) func(*presetWorld) []string {
	return func(t *presetWorld) (all []string) {
		t.Helper()
		for _, file := range files {
			all = append(all, endpointsOf(t, file)...)
		}
		if len(all) < 15 {
			t.Errorf("%v have %d endpoints", files, len(all))
		}
		return all
	}
}

func endpointsOf(t *presetWorld, file string) (all []string) {
	t.Helper()
	path := regexp.MustCompile(`^\t+(?:boxes\.)?(\w+)\(.*?(v0 ?\+ ?|v1 ?\+ ?)?"([^"]*)"`)
	method := regexp.MustCompile(`http\.Method(\w+)`)
	text, err := os.ReadFile(filepath.Join("..", "..", "api", "compat", file))
	if err != nil {
		t.Fatal(err)
	}
	table := regexp.MustCompile(`(?s)\) \w*[eE]ndpoints\(\) .*`).FindString(string(text))
	table, _, _ = strings.Cut(table, "\n}\n")
	for line := range strings.Lines(table) {
		line, _, _ = strings.Cut(line, "//")
		if !strings.Contains(line, `"`) || strings.Contains(line, "const ") {
			continue
		}
		m := path.FindStringSubmatch(strings.TrimRight(line, "\n"))
		if m == nil {
			t.Fatalf("%s: no endpoint in %s", file, line)
		}
		verb := strings.ToUpper(m[1])
		if x := method.FindStringSubmatch(line); x != nil {
			verb = strings.ToUpper(x[1])
		} else if verb != "POST" {
			verb = "GET"
		}
		version := strings.Trim(m[2], "+ ")
		if version == "" && strings.Contains(table, "const v0, v1") {
			version = "v1"
		}
		if version != "" {
			version = "api/" + version + "/"
		}
		all = append(all, verb+" "+version+m[3])
	}
	return all
}

// documented returns the operations of Blockfrost in docs/cardano-clients.md; with are those with a condition.
func documented(t testing.TB, with string) (all []string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "cardano-clients.md"))
	if err != nil {
		t.Fatal(err)
	}
	row := regexp.MustCompile("(?m)^\\| `([A-Z]+) /([^`]*)` \\| (always|with [^|]*) \\|$")
	for _, m := range row.FindAllStringSubmatch(string(text), -1) {
		if strings.Contains(m[3], with) {
			all = append(all, m[1]+" "+m[2])
		}
	}
	return all
}

// methodsIn returns the methods of Electrum.
func methodsIn(file string) func(*presetWorld) []string {
	return func(t *presetWorld) (all []string) {
		t.Helper()
		text, err := os.ReadFile(filepath.Join("..", "..", "api", "compat", file))
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`(?m)^\t"([a-z_.]+)":`).FindAllStringSubmatch(string(text), -1) {
			all = append(all, m[1])
		}
		if len(all) < 30 {
			t.Errorf("%s has %d methods", file, len(all))
		}
		return all
	}
}

// presetTests returns the presets with the APIs that they are for. That of the explorer is for every chain.
func presetTests() []presetTest {
	all := []presetTest{
		{
			preset: "wallet", chain: "bitcoin",
			serve: "  electrum: 127.0.0.1:0\n  esplora: /api\n  blockbook: /blockbook\n",
			apis:  []apiTest{esploraTest, blockbookTest, blockbookMethodsTest, electrumTest},
		},
		{preset: "wallet", chain: "tapyrus", serve: "  esplora: /api\n", apis: []apiTest{tapyrusTest}},
		{preset: "blockfrost", chain: "cardano", serve: "  blockfrost: /api/v0\n", apis: []apiTest{blockfrostTest}},
		{
			preset: "kupo", chain: "cardano", serve: "  kupo: /kupo\n", apis: []apiTest{kupoTest},
			spare: []string{"failed_datum", "failed_script"}, // what only they find is null without them
		},
		{preset: "ergo_node", chain: "ergo", serve: "  ergo_node: /node\n  ergo_graphql: /graphql\n",
			apis: []apiTest{ergoNodeTest, graphQLTest}},
		{preset: "ergo_explorer", chain: "ergo", serve: "  ergo_explorer: /explorer\n",
			apis: []apiTest{ergoExplorerTest}},
	}
	for _, chain := range generate.Chains() {
		all = append(all, presetTest{
			preset: "explorer", chain: chain, apis: []apiTest{pagesTest, v1Test},
			spare: []string{"stake_credential", "policy"}, // pages link to their values
		})
	}
	return all
}

// pagesTest has pages of the explorer as operations: it follows links, to a few pages of each kind.
var pagesTest = apiTest{
	name: "explorer",
	operations: func(w *presetWorld) (all []string) {
		base := "/" + w.chain.Name
		link, kinds, seen := regexp.MustCompile(`href="(`+base+`[^"#]*)`), map[string]int{}, map[string]bool{}
		for wait := []string{base}; len(wait) > 0; {
			path := wait[0]
			wait = wait[1:]
			kind := strings.Split(path+"//", "/")[2]
			if kinds[kind]++; kinds[kind] > 5 {
				continue
			}
			all = append(all, "GET "+path)
			_, body := w.request("GET " + path)
			for _, m := range link.FindAllSubmatch(body, -1) {
				if to := strings.ReplaceAll(string(m[1]), "&amp;", "&"); !seen[to] {
					seen[to] = true
					wait = append(wait, to)
				}
			}
		}
		for _, kind := range []string{"block", "tx", "output", "address", "richest", "values", "status"} {
			if kinds[kind] == 0 {
				all = append(all, "GET "+base+"/"+kind+"/none")
			}
		}
		return all
	},
	ask: func(w *presetWorld, operation string) (int, []byte) {
		switch status, body := w.request(operation); {
		case lacking.Match(body): // in a page with other contents
			return http.StatusNotImplemented, body
		case status == http.StatusFound:
			return http.StatusOK, nil // its target is another page
		default:
			return status, body
		}
	},
}

// v1Test has the operations of the OpenAPI document, but those of a chain without assets, and the series of statistics,
// which no preset has. Of the endless stream of events
// it reads until the first event.
var v1Test = apiTest{
	name: "v1",
	operations: func(w *presetWorld) (all []string) {
		text, err := os.ReadFile(filepath.Join("..", "..", "docs", "openapi.yaml"))
		if err != nil {
			w.Fatal(err)
		}
		var document struct{ Paths map[string]map[string]any }
		if err := yaml.Unmarshal(text, &document); err != nil {
			w.Fatal(err)
		}
		for path, methods := range document.Paths {
			below, ok := strings.CutPrefix(path, "/v1/{chain}/")
			if !ok || w.values["asset"] == "" && strings.HasPrefix(below, "asset/") || below == "stats/{series}" {
				continue
			}
			for method := range methods {
				all = append(all, strings.ToUpper(method)+" "+below)
			}
		}
		slices.Sort(all)
		return all
	},
	ask: func(w *presetWorld, operation string) (int, []byte) {
		if operation == "GET events" {
			return w.firstEvent("/v1/" + w.chain.Name + "/events?from=origin&sparse=true&follow=address=" + url.QueryEscape(w.values["address"]))
		}
		return below("/v1/"+w.chain.Name, func(w *presetWorld) (values, requests map[string]string) {
			v := w.values
			outputs := ` {"outputs":["` + v["output"] + `"]}`
			return map[string]string{
					"index": "address", "value": v["address"], "block": "2", "output": v["output"], "hash": v["tx"],
					"asset": v["asset"],
				}, map[string]string{
					"POST balances": ` {"index":"address","values":["` + v["address"] + `"]}`,
					"POST outputs":  outputs, "POST spends": outputs,
					"POST txs": ` {"txs":["` + v["tx"] + `"]}`, "POST tx": ` {"tx":"00"}`,
					"POST tx/test":    ` {"txs":["00"]}`,
					"POST tx/package": ` {"txs":["00"]}`, "GET search": "?q=" + v["tx"],
					"POST watch": " " + v["address"],
				}
		})(w, operation)
	},
	node: []string{
		"GET block/{block}/comparison", "GET fees", "GET mempool", "GET mempool/blocks", "GET mempool/transactions", "POST tx",
		"POST tx/package", "POST tx/test",
	},
}

var esploraTest = apiTest{
	name: "esplora", operations: endpointsIn("esplora/endpoints.go"),
	ask: below("/api", func(w *presetWorld) (values, requests map[string]string) {
		v := w.values
		return map[string]string{
				"start": "2", "height": "2", "hash": v["block"], "index": "0", "id": v["tx"], "address": v["address"],
				"last": v["tx"], "colors/last": v["asset"], "color": v["asset"],
				"scripthash/hash": v["scripthash"], "prefix": v["address"][:5], "txs/start": "0", "page/last": v["tx"],
			}, map[string]string{
				"GET txs/outspends": "?txids=" + v["tx"], "GET broadcast": "?tx=00", "POST tx": " 00",
				"POST txs/package": ` ["` + v["raw"] + `"]`, "POST txs/test": ` ["` + v["raw"] + `"]`,
				"POST addresses/txs":                   ` ["` + v["address"] + `"]`,
				"POST addresses/txs/summary":           ` ["` + v["address"] + `"]`,
				"POST addresses/txs/summary/{last}":    ` ["` + v["address"] + `"]`,
				"POST scripthashes/txs":                ` ["` + v["scripthash"] + `"]`,
				"POST scripthashes/txs/summary":        ` ["` + v["scripthash"] + `"]`,
				"POST scripthashes/txs/summary/{last}": ` ["` + v["scripthash"] + `"]`,
			}
	}),
	node: []string{"POST tx", "GET broadcast", "POST txs/package", "POST txs/test", "GET fee-estimates",
		"GET v1/fees/recommended"},
	absent: []string{"GET address-prefix/{prefix}"}, // an option of the original too: docs/wallets.md
}

var tapyrusTest = func() apiTest {
	a := esploraTest
	a.operations = endpointsIn("esplora/endpoints.go", "esplora/colors.go")
	return a
}()

var blockbookTest = apiTest{
	name: "blockbook", operations: endpointsIn("blockbook/endpoints.go"),
	ask: below("/blockbook/api/v2", func(w *presetWorld) (values, requests map[string]string) {
		v := w.values
		return map[string]string{
			"height": "2", "id": "2", "txid": v["tx"], "descriptor": v["address"], "blocks": "3", "hex": "00",
			"rest":                  "x",
			"POST sendtx/{hex} hex": "",
		}, map[string]string{"POST sendtx/{hex}": " 00"}
	}),
	node: []string{"GET estimatefee/{blocks}", "GET sendtx/{hex}", "POST sendtx/{hex}"},
	absent: []string{ // in the words of the original: this server does not serve them at all
		"GET tickers/{rest...}", "GET tickers-list/{rest...}", "GET multi-tickers/{rest...}", "GET contract/{rest...}",
		"GET block-filters/{rest...}",
	},
}

// blockbookMethodsTest has the methods of Blockbook's WebSocket as operations.
var blockbookMethodsTest = apiTest{
	name: "blockbook websocket",
	operations: func(w *presetWorld) (all []string) {
		text, err := os.ReadFile(filepath.Join("..", "..", "api", "compat", "blockbook", "websocket_methods.go"))
		if err != nil {
			w.Fatal(err)
		}
		table, _, _ := strings.Cut(string(text), "\n}\n\n// call calls")
		for _, m := range regexp.MustCompile(`(?m)^\t\t"(\w+)": |"(\w+)",`).FindAllStringSubmatch(table, -1) {
			all = append(all, m[1]+m[2])
		}
		for _, m := range regexp.MustCompile(`range \[\]string\{([^}]*)\}`).FindAllStringSubmatch(table, -1) {
			for name := range strings.SplitSeq(m[1], ",") {
				if name = strings.Trim(name, "\" \t\n"); name != "" && !slices.Contains(all, name) {
					all = append(all, name)
				}
			}
		}
		if len(all) < 25 {
			w.Errorf("%d methods: %q", len(all), all)
		}
		return all
	},
	ask: func(w *presetWorld, method string) (int, []byte) {
		v := w.values
		params := map[string]string{
			"getBlockHash": `"height": 2`, "getBlock": `"id": "2"`, "estimateFee": `"blocks": [2]`, "sendTransaction": `"hex": "00"`,
			"getTransaction": `"txid": "` + v["tx"] + `"`, "getTransactionSpecific": `"txid": "` + v["tx"] + `"`,
			"getAccountInfo": `"details": "txs", "descriptor": "` + v["address"] + `"`, "getAccountUtxo": `"descriptor": "` + v["address"] + `"`,
			"getBalanceHistory": `"descriptor": "` + v["address"] + `"`, "subscribeAddresses": `"addresses": ["` + v["address"] + `"]`,
		}[method]
		s := httptest.NewServer(w.handler)
		defer s.Close()
		c, _, err := websocket.Dial(w.Context(), s.URL+"/blockbook/websocket", nil)
		if err != nil {
			w.Fatal(err)
		}
		defer c.CloseNow()
		c.SetReadLimit(-1)
		err = c.Write(w.Context(), websocket.MessageText, fmt.Appendf(nil, `{"id": "1", "method": %q, "params": {%s}}`, method, params))
		if err != nil {
			w.Fatal(err)
		}
		_, text, err := c.Read(w.Context())
		var a struct{ Data json.RawMessage }
		if err != nil || json.Unmarshal(text, &a) != nil {
			w.Fatalf("%s: %v: %s", method, err, text)
		}
		var failed struct{ Error json.RawMessage }
		if json.Unmarshal(a.Data, &failed) == nil && failed.Error != nil {
			return http.StatusBadRequest, failed.Error
		}
		return http.StatusOK, text
	},
	node: []string{"estimateFee", "sendTransaction"},
	absent: []string{ // as for blockbookTest
		"subscribeFiatRates", "unsubscribeFiatRates", "getCurrentFiatRates", "getFiatRatesForTimestamps", "getFiatRatesTickersList",
		"getContractInfo", "rpcCall", "getBlockFilter", "getBlockFiltersBatch", "getMempoolFilters", "longTermFeeRate",
	},
}

var electrumTest = apiTest{
	name: "electrum", operations: methodsIn("electrum/methods.go"),
	ask: func(w *presetWorld, method string) (int, []byte) {
		v := w.values
		arguments := map[string]string{
			"server.version": `"test", "1.4"`, "blockchain.block.header": "2", "blockchain.block.headers": "1, 2",
			"blockchain.estimatefee":             "2",
			"blockchain.transaction.get":         `"` + v["tx"] + `"`,
			"blockchain.transaction.get_merkle":  `"` + v["tx"] + `", ` + v["number"],
			"blockchain.transaction.id_from_pos": "2, 0", "blockchain.transaction.get_height": `"` + v["tx"] + `"`,
			"blockchain.transaction.get_confirmed_blockhash": `"` + v["tx"] + `"`,
			"blockchain.transaction.broadcast":               `"00"`,
			"blockchain.transaction.broadcast_package":       `["00"]`,
		}
		for _, m := range []string{"get_balance", "get_history", "get_mempool", "listunspent", "get_first_use",
			"get_status", "subscribe", "unsubscribe"} {
			arguments["blockchain.scripthash."+m] = `"` + v["electrum"] + `"`
		}
		for _, m := range []string{"utxo.get_info", "outpoint.get_status", "outpoint.subscribe",
			"outpoint.unsubscribe"} {
			arguments["blockchain."+m] = `"` + v["tx"] + `", 0`
		}
		c, err := net.Dial("tcp", w.server.electrum[0].Addr().String())
		if err != nil {
			w.Fatal(err)
		}
		defer c.Close()
		if _, err := fmt.Fprintf(c, `{"id": 1, "method": %q, "params": [%s]}`+"\n", method,
			arguments[method]); err != nil {
			w.Fatal(err)
		}
		line, err := bufio.NewReader(c).ReadBytes('\n')
		var a struct{ Error json.RawMessage }
		if json.Unmarshal(line, &a) != nil || err != nil {
			w.Fatalf("%s: %v: %s", method, err, line)
		}
		if a.Error != nil {
			return http.StatusBadRequest, a.Error
		}
		return http.StatusOK, line
	},
	node: []string{"blockchain.transaction.broadcast", "blockchain.transaction.broadcast_package", "mempool.get_info"},
}

var blockfrostTest = apiTest{
	name: "blockfrost", operations: func(w *presetWorld) []string { return documented(w, "") },
	nodes: func(w *presetWorld) []string { return documented(w, "a node") },
	ask: below("/api/v0", func(w *presetWorld) (values, requests map[string]string) {
		v := w.values
		if v["pool"] == "" {
			var b struct {
				Pool  string `json:"slot_leader"`
				Slot  int
				Epoch int
				In    int `json:"epoch_slot"`
			}
			w.get("/api/v0/blocks/"+v["block"], &b)
			v["pool"], v["slot"], v["epoch"], v["epoch slot"] = b.Pool, fmt.Sprint(b.Slot), fmt.Sprint(b.Epoch),
				fmt.Sprint(b.In)
			w.sampleParts()
		}
		return map[string]string{
			"hash": v["tx"], "address": v["address"], "stake_address": v["of stake_credential"],
			"slot_number":  v["slot"],
			"epoch_number": v["epoch"], "block": v["block"], "number": v["epoch"], "pool_id": v["pool"],
			"asset":     v["asset"],
			"policy_id": v["of policy"], "datum_hash": v["known datum"], "script_hash": v["of script_hash"],
			"GET scripts/{script_hash}/redeemers script_hash": v["script not run"],
			"label":            "674",
			"slot/slot_number": v["slot"],
			"GET blocks/epoch/{epoch_number}/slot/{slot_number} slot_number": v["epoch slot"],
			"GET governance/dreps/{drep_id} drep_id":                         "drep_always_abstain",
			"GET governance/dreps/{drep_id}/delegators drep_id":              "drep_always_abstain",
			"drep_id":                              "drep1rphr974gpgngzqujlknd2kw8a4rjrfjuu8yafme7rjrmg443jff",
			"cc_id":                                "cc_hot1qdjt7zpx7a8d76y29r4tml9aryff9m6pegz84lttspujfdcrkr62j",
			"GET pools/{pool_id}/metadata pool_id": v["registered pool"],
			"GET pools/{pool_id}/relays pool_id":   v["registered pool"],
			"GET pools/{pool_id}/updates pool_id":  v["registered pool"],
			"GET txs/{hash}/redeemers hash":        v["tx with redeemers"],
			"GET pools/{pool_id}/votes pool_id":    v["registered pool"],
			"GET governance/proposals/{gov_action_id}/parameters gov_action_id":      v["parameter_change id"],
			"GET governance/proposals/{tx_hash}/{cert_index}/parameters tx_hash":     v["parameter_change tx"],
			"GET governance/proposals/{tx_hash}/{cert_index}/parameters cert_index":  v["parameter_change index"],
			"GET governance/proposals/{gov_action_id}/withdrawals gov_action_id":     v["treasury_withdrawals id"],
			"GET governance/proposals/{tx_hash}/{cert_index}/withdrawals tx_hash":    v["treasury_withdrawals tx"],
			"GET governance/proposals/{tx_hash}/{cert_index}/withdrawals cert_index": v["treasury_withdrawals index"],
			"gov_action_id": v["parameter_change id"], "tx_hash": v["parameter_change tx"], "cert_index": v["parameter_change index"],
			"xpub": "7ec9738746cb4708df52a455b43aa3fdee8955abaf37f68ffc79bb84fbf9e1b3" +
				"9d77e2deb9749faf890ff8326d350ed3fd0e4aa271b35cad063692af87102152", "role": "0", "index": "0",
		}, nil
	}),
	// These have constants of public networks, the last one the prices of scripts.
	absent: []string{"GET genesis", "GET network/eras", "GET txs/{hash}/redeemers"},
}

// sampleParts finds a registered stake pool, a proposal of each kind, a datum, a script without redeemers, and a
// transaction with redeemers.
func (w *presetWorld) sampleParts() {
	w.Helper()
	v := w.values
	var pools []string
	w.get("/api/v0/pools?count=1", &pools)
	v["registered pool"] = pools[0]
	var proposals []struct {
		ID     string
		TxHash string `json:"tx_hash"`
		Index  int    `json:"cert_index"`
		Kind   string `json:"governance_type"`
	}
	w.get("/api/v0/governance/proposals", &proposals)
	for _, p := range proposals {
		v[p.Kind+" id"], v[p.Kind+" tx"], v[p.Kind+" index"] = p.ID, p.TxHash, fmt.Sprint(p.Index)
	}
	v["known datum"] = w.answered("datum_hash", "/api/v0/scripts/datum/%s")
	v["script not run"] = w.answered("script_hash", "/api/v0/scripts/%s/redeemers")
	for block := v["block"]; v["tx with redeemers"] == ""; {
		var b struct {
			Before string `json:"previous_block"`
		}
		var txs []string
		w.get("/api/v0/blocks/"+block, &b)
		w.get("/api/v0/blocks/"+block+"/txs", &txs)
		for _, hash := range txs {
			var tx struct {
				Redeemers int `json:"redeemer_count"`
			}
			if w.get("/api/v0/txs/"+hash, &tx); tx.Redeemers > 0 {
				v["tx with redeemers"] = hash
			}
		}
		block = b.Before
	}
}

// answered returns the first value of an index for which the path is answered.
func (w *presetWorld) answered(index, path string) string {
	w.Helper()
	var values *query.ValuesAnswer
	err := w.chain.View(w.Context(), func(v *query.View) (err error) {
		values, err = v.Values(w.Context(), index, query.Page{Limit: 1000})
		return err
	})
	if err != nil {
		w.Fatal(err)
	}
	for _, x := range values.Values {
		if status, _ := w.request("GET " + fmt.Sprintf(path, x.Value)); status == http.StatusOK {
			return x.Value
		}
	}
	w.Fatalf("%s: not found for any value of %s", path, index)
	return ""
}

var kupoTest = apiTest{
	name: "kupo", operations: endpointsIn("kupo/endpoints.go"),
	ask: below("/kupo", func(w *presetWorld) (values, requests map[string]string) {
		v := w.values
		if v["slot"] == "" {
			var all []struct {
				Slot int `json:"slot_no"`
			}
			w.get("/kupo/checkpoints", &all)
			v["slot"] = fmt.Sprint(all[0].Slot)
		}
		return map[string]string{
			"pattern": v["address"], "payment": "*", "delegation": "*", "slot": v["slot"],
			"datums/hash":  v["of datum_hash"],
			"scripts/hash": v["of script_hash"],
		}, map[string]string{"GET matches": "?policy_id=" + v["of policy"], "GET matches/{pattern}": "?resolve_hashes"}
	}),
	more: func(w *presetWorld) []string {
		v := w.values
		return []string{
			"GET /kupo/matches/" + v["of stake_credential"], "GET /kupo/matches/" + v["of payment_credential"] + "/*",
			"GET /kupo/matches/*?unspent",
		}
	},
	absent: []string{"DELETE matches", "DELETE matches/{pattern}", "DELETE matches/{payment}/{delegation}",
		"DELETE patterns"}, // refused
}

var ergoNodeTest = apiTest{
	name: "ergo_node", operations: endpointsIn("ergonode/endpoints.go"),
	ask: below("/node", func(w *presetWorld) (values, requests map[string]string) {
		v := w.ergo()
		quoted, list := func(s string) string { return ` "` + s + `"` },
			func(s string) string { return ` ["` + s + `"]` }
		requests = map[string]string{
			"POST blockchain/block/byHeaderIds": list(v["block"]), "POST blockchain/tokens": list(v["asset"]),
			"GET blocks/chainSlice": "?fromHeight=0", "POST utxo/withPool/byIds": list(v["box"]),
			"POST transactions/unconfirmed/byTransactionIds":    list(v["tx"]),
			"POST transactions/unconfirmed/outputs/byRegisters": ` {"R4":"0e00"}`,
			"POST utils/hash/blake2b":                           quoted("abc"), "POST blocks/headerIds": " []", "POST transactions": " {}",
			"POST transactions/bytes": quoted("00"),
			"POST transactions/check": " {}", "POST transactions/checkBytes": quoted("00"),
		}
		for _, o := range []string{"transaction/byAddress", "box/byAddress", "box/unspent/byAddress", "balance"} {
			requests["POST blockchain/"+o] = " " + v["address"]
		}
		for _, o := range []string{"blockchain/box", "blockchain/box/unspent", "transactions/unconfirmed",
			"transactions/unconfirmed/outputs"} {
			requests["POST "+o+"/byErgoTree"] = quoted(v["tree"])
		}
		requests["POST utils/address"], requests["POST utils/ergoTreeToAddress"] = quoted(v["address"]),
			quoted(v["tree"])
		return map[string]string{
			"id": v["box"], "byHeaderId/id": v["block"], "transaction/byId/id": v["tx"], "blocks/id": v["block"],
			"token/byId/id": v["asset"],
			"byTokenId/id":  v["asset"], "modifier/id": v["block"], "popowHeaderById/id": v["block"],
			"byTransactionId/id": v["tx"],
			"unconfirmed/id":     v["tx"], "GET blockchain/transaction/byId/{id} id": v["tx"],
			"GET blockchain/token/byId/{id} id": v["asset"],
			"index":                             "0", "address": v["address"], "hash": v["of ergo_tree_template_hash"], "height": "2",
			"tx": v["tx"], "count": "2",
			"m": "1", "k": "1", "key": "0327e65711a59378c59359c3e1d0f7abe906479eccb76094e50fe79d743ccc15e6",
			"tree": v["tree"],
		}, requests
	}),
	node: []string{
		"GET blocks/{id}", "GET blocks/modifier/{id}", "POST blocks/headerIds", "GET transactions/poolHistogram",
		"GET transactions/getFee",
		"GET transactions/waitTime", "POST transactions", "POST transactions/bytes", "POST transactions/check",
		"POST transactions/checkBytes",
		"GET emission/at/{height}", "GET emission/scripts", "GET nipopow/popowHeaderById/{id}",
		"GET nipopow/popowHeaderByHeight/{height}",
		"GET nipopow/proof/{m}/{k}", "GET utils/seed",
	},
	absent: []string{ // no transaction is unconfirmed
		"GET transactions/unconfirmed/byTransactionId/{id}", "GET transactions/unconfirmed/inputs/byBoxId/{id}",
		"GET transactions/unconfirmed/outputs/byBoxId/{id}", "HEAD transactions/unconfirmed/{id}",
	},
}

var ergoExplorerTest = apiTest{
	name: "ergo_explorer", operations: endpointsIn("ergoexplorer/endpoints.go"),
	ask: below("/explorer", func(w *presetWorld) (values, requests map[string]string) {
		v := w.ergo()
		search := fmt.Sprintf(` {"ergoTreeTemplateHash":%q,"assets":[%q]}`, v["of ergo_tree_template_hash"], v["asset"])
		const page, span = "?minGix=0&limit=500", "?minHeight=0&maxHeight=5"
		return map[string]string{
				"id": v["box"], "address": v["address"], "tree": v["tree"], "hash": v["of ergo_tree_template_hash"],
				"byTokenId/id": v["asset"],
				"blocks/id":    v["block"], "transactions/id": v["tx"], "tokens/id": v["asset"], "check/id": v["asset"],
				"name": "Token", "unconfirmed/id": v["tx"],
			}, map[string]string{
				"POST api/v1/addresses/batchInfo": ` ["` + v["address"] + `"]`, "POST api/v1/boxes/search": search,
				"POST api/v1/boxes/unspent/search": search, "POST api/v1/boxes/unspent/search/union": search,
				"GET api/v1/tokens/search":                     "?query=Token",
				"GET api/v1/assets/search/byTokenId":           "?query=" + v["asset"],
				"GET api/v1/boxes/unspent/stream":              span,
				"GET api/v1/boxes/unspent/byLastEpochs/stream": "?lastEpochs=1",
				"GET api/v1/boxes/byGlobalIndex/stream":        page, "GET api/v1/boxes/unspent/byGlobalIndex/stream": page,
				"GET api/v1/boxes/byErgoTreeTemplateHash/{hash}/stream":         span,
				"GET api/v1/boxes/unspent/byErgoTreeTemplateHash/{hash}/stream": span,
				"GET api/v1/transactions/byGlobalIndex/stream":                  page, "GET api/v1/blocks/byGlobalIndex/stream": page,
				"GET api/v1/blocks/stream/summary": page, "POST api/v1/mempool/transactions/submit": " {}",
				"POST api/v0/transactions/send": " {}",
			}
	}),
	node: []string{"POST api/v1/mempool/transactions/submit", "GET api/v1/epochs/params",
		"POST api/v0/transactions/send"},
	absent: []string{ // no transaction is unconfirmed; the others are never answered: docs/ergo-clients.md
		"GET api/v0/transactions/unconfirmed/{id}", "GET api/v1/tokens/check/{id}/{name}",
		"GET api/v1/tokens/listGenuine",
		"GET api/v1/tokens/listBlocked", "POST api/v1/ergotree/convert", "GET api/v1/docs/openapi",
	},
}

// graphQLTest has the fields of Query as operations.
var graphQLTest = apiTest{
	name: "ergo_graphql",
	operations: func(t *presetWorld) (all []string) {
		t.Helper()
		text, err := os.ReadFile(filepath.Join("..", "..", "api", "compat", "ergographql", "schema.graphql"))
		if err != nil {
			t.Fatal(err)
		}
		_, fields, _ := strings.Cut(string(text), "\ntype Query {")
		fields, _, _ = strings.Cut(fields, "\n}")
		for _, m := range regexp.MustCompile(`(?m)^  (\w+)[(:]`).FindAllStringSubmatch(fields, -1) {
			all = append(all, m[1])
		}
		return all
	},
	ask: func(w *presetWorld, field string) (int, []byte) {
		v := w.ergo()
		query, ok := map[string]string{
			"boxes":        `boxes(address: "` + v["address"] + `") { boxId ergoTree assets { tokenId } additionalRegisters }`,
			"blockHeaders": `blockHeaders { headerId powSolutions votes }`,
			"addresses":    `addresses(addresses: ["` + v["address"] + `"]) { balance { nanoErgs assets { name } } boxesCount transactionsCount }`,
			"tokens":       `tokens(tokenId: "` + v["asset"] + `") { name box { boxId ergoTreeTemplateHash } }`,
			"mempool":      `mempool { transactions { transactionId } }`,
			"state":        `state { height }`, "info": `info { version }`,
		}[field]
		if !ok {
			w.Fatalf("no query for %s", field)
		}
		body, err := json.Marshal(map[string]string{"query": "{ " + query + " }"})
		if err != nil {
			w.Fatal(err)
		}
		status, answer := w.request("POST /graphql " + string(body))
		if strings.Contains(string(answer), `"errors"`) {
			status = http.StatusBadRequest
		}
		return status, answer
	},
}

// firstEvent requests a stream of events, and returns its text until the end of the first output.
func (w *presetWorld) firstEvent(path string) (status int, body []byte) {
	s := httptest.NewServer(w.handler)
	defer s.Close()
	ctx, cancel := context.WithTimeout(w.Context(), time.Minute) // a stream without outputs has no end
	defer cancel()                                               // before the server is closed, which waits for the stream
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, s.URL+path, nil)
	if err != nil {
		w.Fatal(err)
	}
	answer, err := s.Client().Do(r)
	if err != nil {
		w.Fatal(err)
	}
	defer answer.Body.Close()
	lines := bufio.NewScanner(answer.Body)
	for lines.Scan() {
		if body = append(append(body, lines.Bytes()...), '\n'); len(lines.Bytes()) == 0 && strings.Contains(string(body), "event: output") {
			break
		}
	}
	if status = answer.StatusCode; status == http.StatusOK && !strings.Contains(string(body), "event: output") {
		w.Errorf("%s: no output: %s", path, body)
	}
	return status, body
}

// ergo returns the values of arguments of Ergo's APIs: those of an output with a token and a script.
func (w *presetWorld) ergo() map[string]string {
	w.Helper()
	v := w.values
	if v["box"] != "" {
		return v
	}
	err := w.chain.View(w.Context(), func(view *query.View) error {
		found, err := view.Find(w.Context(), query.AssetTerm, v["asset"], query.Terms{}, query.Page{Limit: 1,
			Descending: true})
		if err != nil {
			return err
		}
		o, err := view.Output(w.Context(), fmt.Sprintf("%s:%d", found.Outputs[0].Tx, found.Outputs[0].Index))
		if err != nil {
			return err
		}
		b, err := view.Block(w.Context(), fmt.Sprint(o.Height))
		if err != nil {
			return err
		}
		v["tx"], v["block"], v["address"], v["box"] = o.Tx, b.Hash, o.Keys["address"].(string),
			o.Keys["box_id"].(string)
		v["of ergo_tree_template_hash"], v["tree"] = o.Keys["ergo_tree_template_hash"].(string), o.ErgoTree
		return nil
	})
	if err != nil {
		w.Fatal(err)
	}
	return v
}
