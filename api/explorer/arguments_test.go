package explorer

import (
	"encoding/json"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"birthmark/api"
	"birthmark/api/compat/answertest"
	"birthmark/api/served"
	"birthmark/core"
	"birthmark/internal/testrun"
)

// On real chains, all links of pages lead to pages, and every text in an answer of /v1 that names something is an argument
// of /v1 and found by search.
func TestTextsOfAnswersAreArguments(t *testing.T) {
	testrun.Slow(t)
	for name, open := range map[string]func(testing.TB) *core.DB{"bitcoin": bitcoin, "cardano": cardano, "ergo": ergo} {
		t.Run(name, func(t *testing.T) {
			chain := chainOf(name, open(t), nil)
			v1, err := api.New(api.Options{Chains: []*served.Chain{chain}})
			if err != nil {
				t.Fatal(err)
			}
			pages := explorerOf(t, chain)
			mux := http.NewServeMux()
			mux.Handle("/v1/", v1)
			mux.Handle("/", pages)
			at := "/v1/" + name
			search := at + "/search?q={}"
			address := []string{at + "/balance/address/{}", at + "/history/address/{}", at + "/find/address/{}", search}
			answertest.Crawl{
				Ask:   foundBySearch(answertest.HTTP(mux, "")),
				Seeds: []string{at + "/blocks?order=desc", at + "/blocks?limit=50", at + "/values/address", at + "/indexes", at + "/assets", "/" + name},
				Rules: []answertest.Rule{
					{Keys: []string{"hash", "blocks.hash", "parent"}, Targets: []string{search}},
					{Keys: []string{"txs", "tx"}, Pattern: regexp.MustCompile("[0-9a-f]{64}"), Targets: []string{at + "/tx/{}", search}},
					{Keys: []string{"height"}, Targets: []string{at + "/block/{}"}},
					{Keys: []string{"values.value"}, In: regexp.MustCompile("/(values|richest)/address"), Targets: address},
					{Keys: []string{"keys.address"}, Targets: address},
					{Keys: []string{"asset"}, Targets: []string{at + "/asset/{}", at + "/asset/{}/holders", search}, Rare: true},
					{Keys: []string{"href"}, Targets: []string{"{=}"}},
				},
				Own: true, Most: testrun.Amount(1500, 150),
				// The first two belong to the server. The genesis boxes of Ergo have height 0, at which it has no block.
				Excused: func(target string, _ int, _ []byte) bool {
					return target == "/v1" || target == "/docs" || target == "/v1/ergo/block/0"
				},
			}.Run(t)
		})
	}
}

// foundBySearch makes an answer of /v1/…/search without results a refusal.
func foundBySearch(ask func(string) (int, []byte)) func(string) (int, []byte) {
	return func(target string) (int, []byte) {
		status, body := ask(target)
		if strings.HasPrefix(target, "/v1/") && strings.Contains(target, "/search?q=") && status == http.StatusOK {
			var found struct{ Results []json.RawMessage }
			if err := json.Unmarshal(body, &found); err != nil || len(found.Results) == 0 {
				return http.StatusNotFound, body
			}
		}
		return status, body
	}
}
