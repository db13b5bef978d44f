//go:build interop

package cli

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/txscript/v2"
	"github.com/btcsuite/btcd/wire/v2"

	"birthmark/internal/testnode/btcdtest"
	"birthmark/internal/testnode/coretest"
)

// workersDiffer are the fields of answers that may differ between the Blockbook and the Electrum worker of the library,
// with any server. All other fields must be equal. Paths begin with the method, and the moment if they differ only
// then, or with the kind of a transaction. A field that only one worker has ends with the name of that worker.
var workersDiffer = map[string]string{
	"getInfo.url":      "each has its own server",
	"getInfo.version":  "of the server, or of the protocol",
	"getInfo.name":     "the Electrum worker calls every coin Bitcoin",
	"getInfo.shortcut": "the Electrum worker has the name of its settings",
	"getInfo.network":  "likewise",

	"getAccountInfo.history.addrTxCount Blockbook":                      "the Electrum worker does not count them",
	"getAccountInfo.addresses.change[].address Blockbook":               "as many as receiving ones, the Electrum worker has 20",
	"getAccountInfo.addresses.change[].path Blockbook":                  "likewise",
	"getAccountInfo(sent).history.total":                                "the Electrum worker counts once per address",
	"getAccountInfo(unconfirmed).history.unconfirmed":                   "likewise",
	"getAccountInfo(unconfirmed).addresses.used[].transfers":            "Blockbook counts confirmed ones",
	"getAccountInfo(unconfirmed).addresses.used[].sent Electrum":        "likewise",
	"getAccountInfo(unconfirmed).addresses.change[].transfers Electrum": "likewise",
	"getAccountInfo(unconfirmed).addresses.change[].received Electrum":  "likewise",
	"getAccountUtxo(unconfirmed)[].blockHeight Electrum":                "Blockbook has none, the Electrum worker -1",
	"getAccountBalanceHistory(sent)[].received Blockbook":               "the Electrum worker leaves out change",
	"getAccountBalanceHistory(sent)[].sent":                             "likewise",
	"getAccountBalanceHistory(sent)[].sentToSelf Blockbook":             "likewise",

	"coinbase.fee Electrum":                      "it subtracts the outputs from no inputs",
	"coinbase.feeRate Electrum":                  "likewise",
	"coinbase.details.vin[].coinbase Blockbook":  "the Electrum worker removes inputs of coinbases",
	"coinbase.details.vin[].sequence Blockbook":  "likewise",
	"coinbase.details.vout[].spent Blockbook":    "the Electrum worker has false for every output",
	"coinbase.details.vout[].isOwn Blockbook":    "the Electrum worker has isAccountOwned only",
	"transaction.details.vin[].isOwn Blockbook":  "likewise",
	"transaction.details.vout[].isOwn Blockbook": "likewise",
	"unconfirmed.details.vin[].isOwn Blockbook":  "likewise",
	"unconfirmed.details.vout[].isOwn Blockbook": "likewise",
	"unconfirmed.blockTime Blockbook":            "the Electrum worker does not know when it was seen",
}

// workers are both workers of the library, connected to one server.
type workers struct {
	*testing.T
	blockbook, electrum *trezorLink
	coinbases           map[string]bool // ids
	seen                map[string]bool // the keys of workersDiffer that occurred
}

// compare calls both workers and compares their answers. moment is part of the paths in workersDiffer.
func (w *workers) compare(moment, method string, parameters any) (answer any) {
	w.Helper()
	var other any
	refused, alsoRefused := w.blockbook.try(method, parameters, &answer), w.electrum.try(method, parameters, &other)
	if refused != "" || alsoRefused != "" {
		w.Errorf("%s %v: %s; %s", method, parameters, refused, alsoRefused)
		return answer
	}
	if moment != "" {
		method += "(" + moment + ")"
	}
	w.equal(method, answer, other)
	return answer
}

var (
	listKey = regexp.MustCompile(`\[[^]]*\]`)
	moments = regexp.MustCompile(`\([^)]*\)`)
)

// equal compares the leaves of two answers.
func (w *workers) equal(root string, blockbook, electrum any) {
	w.Helper()
	one, two := map[string]leaf{}, map[string]leaf{}
	w.leaves(one, root, root, blockbook)
	w.leaves(two, root, root, electrum)
	paths := maps.Clone(one)
	maps.Copy(paths, two)
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		a, b := one[path].value, two[path].value
		if reflect.DeepEqual(a, b) {
			continue
		}
		field := listKey.ReplaceAllString(paths[path].path, "[]")
		switch {
		case b == nil:
			field += " Blockbook"
		case a == nil:
			field += " Electrum"
		}
		always := moments.ReplaceAllString(field, "")
		if workersDiffer[field] == "" && workersDiffer[always] == "" {
			w.Errorf("%s (%s): Blockbook %v, Electrum %v", path, field, a, b)
		}
		w.seen[field], w.seen[always] = true, true
	}
}

// leaf is a value within an answer, and its path from the transaction that contains it, or from the answer.
type leaf struct {
	path  string
	value any
}

// leaves adds the values of an answer by path. It leaves out zeros, which servers may omit. List elements with an id
// are named by the id.
func (w *workers) leaves(to map[string]leaf, path, kind string, v any) {
	switch v := v.(type) {
	case nil:
	case bool:
		if v {
			to[path] = leaf{kind, v}
		}
	case float64:
		if v != 0 {
			to[path] = leaf{kind, v}
		}
	case string:
		if v != "" && v != "0" {
			to[path] = leaf{kind, v}
		}
	case map[string]any:
		if _, is := v["details"]; is {
			id, _ := v["txid"].(string)
			height, _ := v["blockHeight"].(float64)
			switch {
			case w.coinbases[id]:
				kind = "coinbase"
			case height <= 0:
				kind = "unconfirmed"
			default:
				kind = "transaction"
			}
		}
		for name, value := range v {
			w.leaves(to, path+"."+name, kind+"."+name, value)
		}
	case []any:
		for i, value := range v {
			name := fmt.Sprintf("[%d]", i)
			if fields, ok := value.(map[string]any); ok && fields["txid"] != nil {
				output, _ := fields["vout"].(float64)
				name = fmt.Sprintf("[%v:%v]", fields["txid"], output)
			}
			w.leaves(to, path+name, kind+name, value)
		}
	}
}

// account compares everything that the workers return about an account.
func (w *workers) account(moment, descriptor string) {
	w.Helper()
	for _, details := range []string{"basic", "tokens", "tokenBalances", "txs"} {
		w.compare(moment, "getAccountInfo", map[string]any{"descriptor": descriptor, "details": details, "pageSize": 50})
	}
	w.compare(moment, "getAccountUtxo", descriptor)
	w.compare(moment, "getAccountBalanceHistory", map[string]any{"descriptor": descriptor, "groupBy": 3600})
}

// The two workers of the library of Trezor Suite give the same answers over Blockbook and over Electrum.
func TestInteropTrezorWorkersAreEqual(t *testing.T) {
	t.Parallel()
	node := btcdtest.Start(t)
	a := newTrezorAccount(t)
	chain := trezorChain(t, a)
	node.Submit(t, chain.Blocks()[1:]...)
	s, electrum := serveTrezor(t, node.URL())
	s.reaches(t, "bitcoin-regtest", chain.Height())
	w := &workers{
		T: t, blockbook: startTrezor(t, "blockbook", s.URL+"blockbook"), electrum: startTrezor(t, "electrum", electrum+":t"),
		coinbases: map[string]bool{}, seen: map[string]bool{},
	}
	for _, b := range chain.Blocks() {
		w.coinbases[b.Transactions[0].TxHash().String()] = true
	}
	address := a.address(t, 0, 0)
	both := func(moment string) {
		t.Helper()
		w.account(moment, a.Text)
		w.account(moment, address)
	}
	w.compare("", "getInfo", nil)
	for _, height := range []int{0, 1, chain.Height()} {
		w.compare("", "getBlockHash", height)
	}
	both("")

	for _, l := range []*trezorLink{w.blockbook, w.electrum} {
		var subscribed struct{ Subscribed bool }
		var i struct{ Addresses json.RawMessage }
		l.call("getAccountInfo", map[string]any{"descriptor": a.Text, "details": "tokens"}, &i)
		l.call("subscribe", map[string]any{"type": "block"}, &subscribed)
		l.call("subscribe", map[string]any{
			"type": "accounts", "accounts": []any{map[string]any{"descriptor": a.Text, "addresses": i.Addresses}},
		}, &subscribed)
	}
	// notified compares the notifications of a kind.
	notified := func(kind string) {
		t.Helper()
		var one, other any
		w.blockbook.event(kind, &one)
		w.electrum.event(kind, &other)
		w.equal(kind, one, other)
	}
	data := append([]byte{txscript.OP_RETURN, 4}, "text"...)
	payment := a.pay(t, chain.Blocks()[1].Transactions[0],
		wire.NewTxOut(1e9, append([]byte{0, 20}, make([]byte, 20)...)), wire.NewTxOut(3_999_990_000, a.script(t, 1, 0)),
		wire.NewTxOut(0, data))
	id := payment.TxHash().String()
	var pushed string
	if w.electrum.call("pushTransaction", map[string]any{"hex": rawHex(payment)}, &pushed); pushed != id {
		t.Fatalf("pushed %s, expected %s", pushed, id)
	}
	notified("notification")
	both("unconfirmed")
	w.compare("", "getTransaction", id)
	w.compare("", "getTransactionHex", id)

	chain.Mine(payment)
	node.Submit(t, chain.Tip())
	w.coinbases[chain.Tip().Transactions[0].TxHash().String()] = true
	notified("block")
	s.reaches(t, "bitcoin-regtest", chain.Height())
	both("sent")
	w.compare("", "getTransaction", id)
	w.compare("", "getTransaction", chain.Blocks()[2].Transactions[0].TxHash().String())
	for field, why := range workersDiffer {
		if !w.seen[field] {
			t.Errorf("%s never differs (%s)", field, why)
		}
	}
}

// Both workers return equal fee estimates from a node that has estimates.
func TestInteropTrezorFeesAreEqual(t *testing.T) {
	t.Parallel()
	node := coretest.Start(t)
	node.SetEstimates(map[int]float64{2: 0.0003, 6: 0.00012345, 144: 0.00001})
	s, electrum := serveTrezor(t, node.URL())
	s.reaches(t, "bitcoin-regtest", int(node.Tip().Height))
	w := &workers{
		T: t, blockbook: startTrezor(t, "blockbook", s.URL+"blockbook"), electrum: startTrezor(t, "electrum", electrum+":t"),
	}
	fees := w.compare("", "estimateFee", map[string]any{"blocks": []int{2, 6, 144}})
	if got := fmt.Sprint(fees); !strings.Contains(got, "feePerUnit:12345") {
		t.Errorf("fees %s, expected 12345 satoshi per 1,000 bytes for 6 blocks", got)
	}
}
