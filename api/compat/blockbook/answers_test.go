package blockbook_test

import (
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
			{Keys: []string{"addresses", "tokens.name", "scriptPubKey.address", "utxo.address"}, Pattern: regexp.MustCompile("[1-9A-Za-z]{26,}"), Targets: address},
		},
	}.Run(t)
}
