package electrum_test

import (
	"encoding/json"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/wire/v2"

	"birthmark/api/compat/answertest"
	"birthmark/api/compat/electrum"
	"birthmark/internal/testnode/coretest"
	"birthmark/internal/testseed"
	"birthmark/storage/storetest"
)

// internalError is the code of an error of the server (JSON-RPC 2.0, section 5.1).
const internalError = -32603

// Every text in an answer that names something is an argument of a method, also of unconfirmed transactions. Targets are a
// method and its parameters.
func TestTextsOfAnswersAreArguments(t *testing.T) {
	w := newWorld(t, testseed.Rand(t), electrum.Options{})
	w.miner.mine(20, 4)
	w.sync()
	textsAreArguments(t, w.addr, w.miner.scripts, w.store)

	n := newNodeWorld(t, testseed.Rand(t), limits())
	var sent []*wire.MsgTx
	for _, coin := range n.node.Coins(t, 10) {
		tx := n.pay(coin)
		n.node.Send(t, tx)
		sent = append(sent, tx)
	}
	n.node.Send(t, n.pay(coretest.Outputs(sent[0])[0])) // with an unconfirmed parent
	if err := newStrict(t, n.addr, n.scripts, n.rng).settled(n.truth()); err != nil {
		t.Fatal(err)
	}
	textsAreArguments(t, n.addr, n.scripts, nil)
}

// textsAreArguments crawls a server from the lists of scripts, with subscriptions to scripts, outputs and headers. store is
// that of a server without unconfirmed transactions.
func textsAreArguments(t *testing.T, addr string, scripts [][]byte, store *storetest.Faulty) {
	t.Helper()
	unconfirmed := store == nil
	seeds := []string{"server.features []", "blockchain.headers.subscribe []", "blockchain.headers.get_tip []"}
	for _, script := range scripts {
		for _, list := range []string{"get_history", "get_mempool", "listunspent", "get_balance", "get_status", "get_first_use", "subscribe"} {
			seeds = append(seeds, "blockchain.scripthash."+list+` ["`+scriptHash(script)+`"]`)
		}
	}
	c := connect(t, addr)
	hash := regexp.MustCompile("[0-9a-f]{64}")
	tx := []string{
		`blockchain.transaction.get ["{=}"]`, `blockchain.transaction.get ["{=}",true]`, `blockchain.transaction.get_height ["{=}"]`,
		`blockchain.outpoint.subscribe ["{=}",0]`, `blockchain.outpoint.get_status ["{=}",0]`,
	}
	answertest.Crawl{
		Ask: func(target string) (int, []byte) {
			method, text, _ := strings.Cut(target, " ")
			var params []any
			if err := json.Unmarshal([]byte(text), &params); err != nil {
				t.Fatalf("%s: %v", target, err)
			}
			var result json.RawMessage
			switch code := c.call(&result, method, params...); code {
			case 0:
				return http.StatusOK, result
			case internalError:
				return http.StatusInternalServerError, result
			}
			return http.StatusBadRequest, result
		},
		Seeds: seeds, Store: store,
		Rules: []answertest.Rule{
			{Keys: []string{"tx_hash"}, Targets: append(tx, `blockchain.transaction.get_merkle ["{=}",{height}]`)},
			{Keys: []string{"tx_pos"}, Targets: []string{`blockchain.outpoint.subscribe ["{tx_hash}",{=}]`, `blockchain.utxo.get_info ["{tx_hash}",{=}]`}, Rare: true},
			{Keys: []string{"spender_txhash", "vin.txid", "txid"}, Pattern: hash, Targets: tx},
			{Keys: []string{"scripthash"}, Targets: []string{`blockchain.scripthash.get_history ["{=}"]`, `blockchain.scripthash.unsubscribe ["{=}"]`}},
			{Keys: []string{"height", "confirmed_height", "funder_height", "spender_height"}, Pattern: regexp.MustCompile("[1-9][0-9]*"), Targets: []string{
				"blockchain.block.header [{=}]", "blockchain.block.header [0,{=}]", "blockchain.block.headers [{=},3]", "blockchain.transaction.id_from_pos [{=},0,false]",
			}},
			{Keys: []string{"text"}, In: regexp.MustCompile("id_from_pos .*false"), Targets: tx},
		},
		// An unconfirmed transaction is in no Merkle tree.
		Excused: func(target string, _ int, _ []byte) bool {
			return unconfirmed && (strings.HasPrefix(target, "blockchain.transaction.get_merkle") && (strings.HasSuffix(target, ",0]") || strings.HasSuffix(target, ",-1]")))
		},
	}.Run(t)
}
