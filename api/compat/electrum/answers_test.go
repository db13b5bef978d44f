package electrum_test

import (
	"encoding/json"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"birthmark/api/compat/answertest"
	"birthmark/api/compat/electrum"
	"birthmark/internal/testseed"
)

// Every text in an answer that names something is an argument of a method. Targets are a method and its parameters.
func TestTextsOfAnswersAreArguments(t *testing.T) {
	w := newWorld(t, testseed.Rand(t), electrum.Options{})
	w.miner.mine(20, 4)
	w.sync()
	var seeds []string
	for _, script := range w.miner.scripts {
		for _, list := range []string{"get_history", "listunspent", "get_balance", "subscribe"} {
			seeds = append(seeds, "blockchain.scripthash."+list+` ["`+scriptHash(script)+`"]`)
		}
	}
	c := connect(t, w.addr)
	hash := regexp.MustCompile("[0-9a-f]{64}")
	answertest.Crawl{
		Ask: func(target string) (int, []byte) {
			method, text, _ := strings.Cut(target, " ")
			var params []any
			if err := json.Unmarshal([]byte(text), &params); err != nil {
				t.Fatalf("%s: %v", target, err)
			}
			var result json.RawMessage
			if code := c.call(&result, method, params...); code != 0 {
				return http.StatusBadRequest, result
			}
			return http.StatusOK, result
		},
		Seeds: append(seeds, "server.features []", "blockchain.headers.subscribe []"),
		Rules: []answertest.Rule{
			{Keys: []string{"tx_hash"}, Targets: []string{
				`blockchain.transaction.get ["{=}"]`, `blockchain.transaction.get ["{=}",true]`, `blockchain.transaction.get_merkle ["{=}",{height}]`,
			}},
			{Keys: []string{"height"}, Targets: []string{
				"blockchain.block.header [{=}]", "blockchain.block.headers [{=},3]", "blockchain.transaction.id_from_pos [{=},0,false]",
			}},
			{Keys: []string{"vin.txid"}, Pattern: hash, Targets: []string{`blockchain.transaction.get ["{=}"]`}},
			{Keys: []string{"text"}, In: regexp.MustCompile("id_from_pos .*false"), Targets: []string{`blockchain.transaction.get ["{=}"]`}},
		},
	}.Run(t)
}
