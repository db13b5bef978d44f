package blockfrost_test

import (
	"net/http"
	"regexp"
	"strings"
	"testing"

	"birthmark/api/compat/answertest"
	"birthmark/internal/testrun"
)

// Each address in an answer about any of the 10,813 transactions of preview is an argument of Blockfrost, Kupo, /v1 and
// the pages, whichever of them answered.
func TestEveryAddressOfRealBlocksIsAnswered(t *testing.T) {
	most := testrun.Requests(t, 0)
	if most == 0 {
		t.Skip("sends 61,000 requests: set BIRTHMARK_REQUESTS=1000000")
	}
	w := preview(t, 50_939)
	apis := w.apis(t)
	// Kupo has no outputs of the genesis, and this address has no others.
	const genesis = "FHnt4NL7yPXvDWHa8bVs73UEUdJd64VxWXSFNqetECtYfTd9TtJguJ14Lu3feth"
	seeds := []string{"/kupo/matches/*"}
	seen := map[*naiveTx]bool{}
	for _, o := range w.naive.outputs {
		if tx := o.tx; !seen[tx] && tx.block != nil { // docs/cardano-clients.md: Blockfrost has no transactions of the genesis
			seen[tx] = true
			seeds = append(seeds, path+"/txs/"+tx.Hash.String()+"/utxos", "/v1/test/tx/"+tx.Hash.String())
		}
	}
	t.Logf("%d transactions", len(seen))
	answertest.Crawl{
		Ask: func(target string) (int, []byte) {
			status, body := apis.ask(t, target)
			if strings.HasPrefix(target, "/kupo/") && status == http.StatusOK && body == "[]" {
				status = http.StatusNotFound
			}
			return status, []byte(body)
		},
		Seeds: seeds,
		Rules: []answertest.Rule{{
			Keys: []string{"address"}, Pattern: regexp.MustCompile("[^s].*"),
			Targets: []string{
				path + "/addresses/{}", path + "/addresses/{}/total", path + "/addresses/{}/utxos", path + "/addresses/{}/transactions",
				"/kupo/matches/{}", "/v1/test/balance/address/{}", "/v1/test/find/address/{}", "/v1/test/history/address/{}",
				"/v1/test/search?q={}", "/test/address/{}",
			},
		}, {
			Keys: []string{"address"}, Pattern: regexp.MustCompile("stake.*"),
			Targets: []string{
				path + "/accounts/{}/addresses", path + "/accounts/{}/withdrawals", "/v1/test/balance/address/{}", "/v1/test/history/address/{}",
				"/v1/test/search?q={}",
			},
		}},
		Excused:  func(target string, _ int, _ []byte) bool { return target == "/kupo/matches/"+genesis },
		Contents: []string{"datum", "script", "metadata", "inline_datum", "href"}, Own: true, Most: most,
	}.Run(t)
}
