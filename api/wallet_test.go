package api_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"testing"

	"birthmark/api"
	"birthmark/api/served"
	"birthmark/core"
	"birthmark/core/coretest"
	"birthmark/core/query"
	"birthmark/internal/testseed"
	"birthmark/model/modeltest"
	"birthmark/storage/memory"
)

// walletOf returns a database of a random chain, and the text of a wallet with its first addresses.
func walletOf(t *testing.T) (*core.DB, string) {
	t.Helper()
	v := modeltest.Variants()[len(modeltest.Variants())-1]
	db := coretest.Open(t, memory.New(), v, 1<<20)
	coretest.AppendAll(t, db, v.NewGenerator(testseed.Rand(t).Uint64()).Blocks(20), 5)
	page, err := db.Values(t.Context(), "address", query.Page{Limit: 12})
	if err != nil {
		t.Fatal(err)
	}
	branches := [2][]string{}
	for i, a := range page.Values {
		branches[i%2] = append(branches[i%2], a.Value[1:], "-")
	}
	return db, "wallet:" + strings.Join(branches[0], ",") + ";" + strings.Join(branches[1], ",")
}

// The answers about a wallet are those of the queries with the gap of the request. The whole list as lines and as CSV has
// the same entries, and CSV has the columns of wallets only for a wallet.
func TestWalletsAreValues(t *testing.T) {
	db, text := walletOf(t)
	h := newAPI(t, api.Options{Chains: []*served.Chain{of("test", db)}})
	path := func(kind string) string { return "/v1/test/" + kind + "/address/" + url.PathEscape(text) }
	for _, gap := range []int{0, 1, 2, 7} {
		qs, suffix := db.WithGap(gap), ""
		if gap > 0 {
			suffix = "?gap=" + string(rune('0'+gap))
		}
		balance, err := qs.Balance(t.Context(), "address", text)
		if err != nil {
			t.Fatal(err)
		}
		if want := 12; gap == 1 {
			want = 2 // the second position of each branch is unused
			if balance.Derived.UsedCount != want {
				t.Errorf("gap %d: %d used values, expected %d", gap, balance.Derived.UsedCount, want)
			}
		} else if balance.Derived.UsedCount != want || len(balance.Derived.Next) != 2 {
			t.Errorf("gap %d: %+v, expected %d used values", gap, balance.Derived, want)
		}
		history, err := qs.History(t.Context(), "address", text, query.Range{}, query.Page{Limit: 500})
		if err != nil {
			t.Fatal(err)
		}
		outputs, err := qs.Find(t.Context(), "address", text, query.Terms{}, query.Page{Limit: 500})
		if err != nil {
			t.Fatal(err)
		}
		for path, want := range map[string]any{
			path("balance") + suffix: balance, path("history") + "?limit=500" + strings.Replace(suffix, "?", "&", 1): history,
			path("find") + "?limit=500" + strings.Replace(suffix, "?", "&", 1): outputs,
		} {
			a := ask(h, "GET", path, "")
			text, err := json.Marshal(want)
			if err != nil {
				t.Fatal(err)
			}
			if a.Code != http.StatusOK || !sameJSON(t, a.Body.Bytes(), text) {
				t.Errorf("%s: %d %s\nexpected %s", path, a.Code, a.Body, text)
			}
		}
		for kind, n := range map[string]int{"history": len(history.Txs), "find": len(outputs.Outputs)} {
			if lines := bytesOf(t, h, path(kind)+suffix, "application/x-ndjson"); strings.Count(lines, "\n") != n+1 {
				t.Errorf("%s has %d lines, expected %d", kind, strings.Count(lines, "\n"), n+1)
			}
		}
		rows := rowsOf(t, bytesOf(t, h, path("find")+suffix, "text/csv"))
		if len(rows) != len(outputs.Outputs) {
			t.Fatalf("%d rows, expected %d", len(rows), len(outputs.Outputs))
		}
		for i, o := range outputs.Outputs {
			if rows[i]["path"] != o.Path || rows[i]["tx"] != o.Tx || rows[i]["keys.address"] != o.Keys["address"] || o.Path == "" {
				t.Errorf("row %v, expected %+v", rows[i], o)
			}
		}
		rows = rowsOf(t, bytesOf(t, h, path("history")+"?raw_amounts=true"+strings.Replace(suffix, "?", "&", 1), "text/csv"))
		for i, tx := range history.Txs {
			if rows[i]["net"] != tx.Net || rows[i]["hash"] != tx.Hash || rows[i]["balance"] != tx.Balance || tx.Net == "" {
				t.Errorf("row %v, expected %+v", rows[i], tx)
			}
		}
	}
	one, err := db.Values(t.Context(), "address", query.Page{Limit: 1})
	if err != nil {
		t.Fatal(err)
	}
	for kind, column := range map[string]string{"find": "path", "history": "net"} {
		header, _, _ := strings.Cut(bytesOf(t, h, "/v1/test/"+kind+"/address/"+one.Values[0].Value, "text/csv"), "\n")
		if slices.Contains(strings.Split(header, ","), column) {
			t.Errorf("the CSV of %s of an address has a column %s", kind, column)
		}
	}
}

func sameJSON(t *testing.T, a, b []byte) bool {
	t.Helper()
	var x, y any
	if err := json.Unmarshal(a, &x); err != nil {
		return false
	}
	if err := json.Unmarshal(b, &y); err != nil {
		t.Fatal(err)
	}
	ax, _ := json.Marshal(x)
	by, _ := json.Marshal(y)
	return string(ax) == string(by)
}

func bytesOf(t *testing.T, h http.Handler, path, accept string) string {
	t.Helper()
	a := ask(h, "GET", path, "", "Accept", accept)
	if a.Code != http.StatusOK {
		t.Fatalf("%s: %d %s", path, a.Code, a.Body)
	}
	return a.Body.String()
}

// An address that only an unconfirmed transaction pays counts as used for unconfirmed transactions: the addresses after it
// belong to the wallet.
func TestUnconfirmedTransactionsOfAWallet(t *testing.T) {
	h, _, _ := withMempool(t)
	for gap, want := range map[string]query.PendingBalanceAnswer{
		"1": {Received: "10", Sent: "41", Balance: "-31", TxCount: 1, OutputCount: 1, SpentCount: 1},
		"2": {Received: "65", Sent: "71", Balance: "-6", TxCount: 2, OutputCount: 3, SpentCount: 2},
	} {
		var a query.BalanceAnswer
		const text = "wallet:aa,-,ab,-,ac"
		answer := ask(h, "GET", "/v1/test/balance/address/"+text+"?mempool=include&gap="+gap, "")
		if err := json.Unmarshal(answer.Body.Bytes(), &a); err != nil || a.Mempool == nil {
			t.Fatalf("%s: %v", answer.Body, err)
		}
		want.State = a.Mempool.State
		if !reflect.DeepEqual(*a.Mempool, want) || a.Balance != "41" || a.TxCount != 1 {
			t.Errorf("gap %s: %+v, expected %+v", gap, a.Mempool, want)
		}
		var list query.HistoryAnswer
		answer = ask(h, "GET", "/v1/test/history/address/"+text+"?mempool=include&gap="+gap, "")
		if err := json.Unmarshal(answer.Body.Bytes(), &list); err != nil || list.Mempool.TxCount != want.TxCount || len(list.Mempool.Txs) != want.TxCount {
			t.Errorf("gap %s: history %s: %v", gap, answer.Body, err)
		}
		var found query.FindAnswer
		answer = ask(h, "GET", "/v1/test/find/address/"+text+"?mempool=include&gap="+gap, "")
		if err := json.Unmarshal(answer.Body.Bytes(), &found); err != nil || len(found.Mempool.Outputs) != want.OutputCount || len(found.Mempool.Spends) != want.SpentCount {
			t.Errorf("gap %s: outputs %s: %v", gap, answer.Body, err)
		}
	}
}

// A private key is refused wherever a value is accepted, and no answer and no line of the log has it.
func TestPrivateKeysAreNotRepeated(t *testing.T) {
	db, _ := walletOf(t)
	h, log := handler(t, api.Options{}, map[string]*core.DB{"test": db})
	const secret = "wallet:secret"
	for _, path := range []string{"balance/address/" + secret, "history/address/" + secret, "find/address/" + secret, "search?q=" + secret,
		"history/address/" + secret + "?group_by=day", "find/tag/t00?and=address=" + secret} {
		a := ask(h, "GET", "/v1/test/"+path, "")
		if a.Code != http.StatusBadRequest || !strings.Contains(a.Body.String(), "private_key") || strings.Contains(a.Body.String(), secret) {
			t.Errorf("%s: %d %s", path, a.Code, a.Body)
		}
	}
	if strings.Contains(log.String(), secret) {
		t.Errorf("the log has the key: %s", log)
	}
}
