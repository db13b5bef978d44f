package blockbook_test

import (
	"encoding/json"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"birthmark/api/compat/answertest"
)

// Every text in an answer that names something is an argument of the API, also of unconfirmed transactions.
func TestTextsOfAnswersAreArguments(t *testing.T) {
	w := newWorld(t, nil)
	w.mine(t, 20, 4, false)
	w.arrive(t, 5)
	address := []string{"/address/{}?details=txs", "/utxo/{}", "/balancehistory/{}"}
	block := []string{"/block/{}", "/rawblock/{}", "/feestats/{}"}
	seeds := []string{"/status", "/block-index/"}
	for _, form := range []string{"pkh(%/<0;1>/*)", "sh(wpkh(%/<0;1>/*))", "wpkh(%/<0;1>/*)", "tr(%/<0;1>/*)"} {
		account := escaped(strings.Replace(form, "%", accountKey, 1))
		seeds = append(seeds, "/xpub/"+account+"?details=txs&tokens=used", "/utxo/"+account)
	}
	answertest.Crawl{
		Ask:   answertest.HTTP(w, prefix+"/api/v2"),
		Seeds: seeds,
		Rules: []answertest.Rule{
			{Keys: []string{"txid", "txids", "spentTxId"}, Targets: []string{"/tx/{}?spending=true", "/tx-specific/{}", "/rawtx/{}"}},
			{Keys: []string{"bestBlockHash", "blockHash", "blockhash", "previousBlockHash", "nextBlockHash"}, Pattern: regexp.MustCompile("[0-9a-f]{64}"), Targets: block},
			// Elsewhere it is the hash of a transaction with its witnesses, which identifies none.
			{Keys: []string{"hash"}, In: regexp.MustCompile("^/block/"), Targets: block},
			{Keys: []string{"height", "blockHeight", "bestHeight", "spentHeight"}, Pattern: regexp.MustCompile(`\d+`), Targets: append(block, "/block-index/{}")},
			{Keys: []string{"addresses", "tokens.name", "scriptPubKey.address", "utxo.address"}, Pattern: regexp.MustCompile("[0-9A-Za-z]{26,}"), Targets: address},
		},
		Store: w.store,
	}.Run(t)
}

// Every text in a message by WebSocket that names something is an argument of it, also in notifications.
func TestTextsOfMessagesAreArguments(t *testing.T) {
	w := newWorld(t, nil)
	w.mine(t, 20, 4, false)
	w.arrive(t, 5)
	c := dial(t, w.limited(t, nil))
	listener := dial(t, w.limited(t, nil))
	var all []string
	for _, script := range w.scripts {
		if a := address(script); a != "" {
			all = append(all, a)
		}
	}
	listener.expect("subscribeAddresses", object{"addresses": all, "newBlockTxs": true}, object{"subscribed": true})
	listener.expect("subscribeNewBlock", nil, object{"subscribed": true})
	w.mine(t, 1, 0, true) // confirms them
	account := []string{
		`getAccountInfo {"descriptor":"{=}","details":"txs","tokens":"used"}`, `getAccountUtxo {"descriptor":"{=}"}`,
		`getBalanceHistory {"descriptor":"{=}"}`,
	}
	address := append(account, `subscribeAddresses {"addresses":["{=}"],"newBlockTxs":true}`)
	seeds := []string{"getInfo {}", `getBlock {"id":"20"}`, "notification 1", "notification 2"}
	for _, a := range w.accounts {
		for _, target := range account {
			seeds = append(seeds, strings.Replace(target, "{=}", a.Text, 1))
		}
	}
	answertest.Crawl{
		Ask: func(target string) (int, []byte) {
			method, params, _ := strings.Cut(target, " ")
			if method == "notification" {
				return http.StatusOK, listener.notification().Data
			}
			_, answer := c.call(method, json.RawMessage(params))
			var failed struct{ Error struct{ Message string } }
			if json.Unmarshal([]byte(answer), &failed) == nil && failed.Error.Message != "" {
				return http.StatusBadRequest, []byte(answer)
			}
			return http.StatusOK, []byte(answer)
		},
		Seeds: seeds,
		Rules: []answertest.Rule{
			{
				Keys:    []string{"txid", "txids", "spentTxId"},
				Targets: []string{`getTransaction {"txid":"{=}"}`, `getTransactionSpecific {"txid":"{=}"}`},
			},
			{
				Keys:    []string{"bestHash", "block0Hash", "blockHash", "blockhash", "previousBlockHash", "nextBlockHash"},
				Pattern: regexp.MustCompile("[0-9a-f]{64}"), Targets: []string{`getBlock {"id":"{=}"}`},
			},
			{Keys: []string{"hash"}, In: regexp.MustCompile("^getBlock|^notification"), Targets: []string{`getBlock {"id":"{=}"}`}},
			{
				Keys: []string{"height", "blockHeight", "bestHeight", "spentHeight"}, Pattern: regexp.MustCompile(`\d+`), // -1: none
				Targets: []string{`getBlock {"id":"{=}"}`, `getBlockHash {"height":{=}}`},
			},
			// Bare multisig has the addresses of its keys, and data has a text.
			{
				Keys:    []string{"addresses", "tokens.name", "scriptPubKey.address"},
				Pattern: regexp.MustCompile("[0-9A-Za-z]{26,}"), Targets: address,
			},
			{Keys: []string{"address"}, Targets: account}, // or an account
		},
		Plain: []string{"hex", "asm", "merkleRoot", "hash", "txinwitness", "coinbase"},
	}.Run(t)
}
