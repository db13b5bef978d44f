package esplora_test

import (
	"encoding/hex"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/wire/v2"

	"birthmark/api/compat/answertest"
	"birthmark/internal/testnode/coretest"
)

// notZero excludes the transaction that a coinbase spends.
var notZero = regexp.MustCompile(`0{0,63}[1-9a-f][0-9a-f]*`)

// textsAreArguments crawls all that the API answers.
func (w *world) textsAreArguments(t *testing.T, unconfirmed bool) {
	t.Helper()
	holder := func(kind string) (targets []string) {
		for _, list := range []string{"", "/txs", "/txs/chain", "/txs/mempool", "/txs/summary", "/utxo"} {
			targets = append(targets, "/"+kind+"/{}"+list)
		}
		return targets
	}
	tx := []string{
		"/tx/{}", "/tx/{}/status", "/tx/{}/hex", "/tx/{}/raw", "/tx/{}/outspends", "/tx/{}/outspend/0", "/txs/outspends?txids={}",
		"/tx/{}/merkle-proof", "/tx/{}/merkleblock-proof",
	}
	text := []string{"text"}
	block := []string{"/block/{}/status", "/block/{}/txids", "/block/{}/txid/0", "/block/{}/txs", "/block/{}/txs/0", "/block/{}/header", "/block/{}/raw"}
	answertest.Crawl{
		Ask: answertest.HTTP(w, path), Store: w.store,
		Seeds: []string{"/blocks", "/blocks/tip/hash", "/blocks/tip/height", "/mempool", "/mempool/txids", "/mempool/txids/page", "/mempool/recent"},
		Rules: []answertest.Rule{
			{Keys: []string{"id", "previousblockhash", "block_hash", "next_best"}, Targets: append(block, "/block/{}", "/v1/block/{}")},
			{Keys: []string{"height", "block_height"}, Targets: []string{"/block-height/{}", "/blocks/{}", "/v1/blocks/{}"}},
			{Keys: []string{"txid"}, Pattern: notZero, Targets: tx},
			{Keys: text, In: regexp.MustCompile("/block/.*/txid|/mempool/txids"), Targets: tx},
			{Keys: text, In: regexp.MustCompile("/mempool/txids"), Targets: []string{"/mempool/txids/page/{}"}, Rare: !unconfirmed},
			{Keys: text, In: regexp.MustCompile("/block-height/|/tip/hash"), Targets: block},
			{Keys: text, In: regexp.MustCompile("/tip/height"), Targets: []string{"/block-height/{}"}},
			{Keys: []string{"scriptpubkey_address", "address"}, Targets: append(holder("address"), `POST /addresses/txs ["{=}"]`, `POST /addresses/txs/summary ["{=}"]`)},
			{Keys: []string{"scripthash"}, Targets: holder("scripthash")},
			{Keys: []string{"scriptpubkey"}, As: hashOfScript, Targets: append(holder("scripthash"), `POST /scripthashes/txs ["{=}"]`, `POST /scripthashes/txs/summary ["{=}"]`)},
		},
		Plain: []string{
			"merkle_root", "merkle", "scriptsig", "witness", "scriptpubkey_asm", "scriptsig_asm", "inner_redeemscript_asm",
			"inner_witnessscript_asm", "vin.txid", "text", // the hex of transactions and headers
		},
		// An unconfirmed transaction is in no Merkle tree.
		Excused: func(target string, status int, _ []byte) bool {
			id, _, proof := strings.Cut(target, "/merkle")
			return proof && status == http.StatusNotFound && w.get(t, id+"/status") == `{"confirmed":false}`
		},
	}.Run(t)
}

func hashOfScript(text string) string {
	script, err := hex.DecodeString(text)
	if err != nil {
		return fmt.Sprint(err)
	}
	return keyOf(script)
}

// p2pkh is a script with an address.
var p2pkh = slices.Concat([]byte{0x76, 0xa9, 20}, make([]byte, 20), []byte{0x88, 0xac})

// Every text in an answer that names something is an argument of the API, also of unconfirmed transactions.
func TestTextsOfAnswersAreArguments(t *testing.T) {
	w := newWorld(t, "regtest", nil)
	w.serve(t)
	w.miner.mine(30, 6)
	w.sync(t)
	w.textsAreArguments(t, false)

	n := newNodeWorld(t)
	coins := n.node.Coins(t, 12)
	n.sync(t)
	for i := range coins {
		value := coins[i].Value - 2000
		n.send(t, coretest.Pay(coins[i:i+1], wire.NewTxOut(value/2, p2pkh), wire.NewTxOut(value/2, n.miner.scripts[14+i])))
	}
	n.settle(t)
	n.textsAreArguments(t, true)
}
