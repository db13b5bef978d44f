package explorer

import (
	"encoding/json"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"birthmark/api/compat/answertest"
	"birthmark/core"
	"birthmark/internal/testrun"
	"birthmark/storage/storetest"
)

// On real chains, all links of pages lead to pages, and every text in an answer of /v1 that names something is an argument
// of /v1 and found by search.
func TestTextsOfAnswersAreArguments(t *testing.T) {
	testrun.Slow(t)
	for name, open := range map[string]func(testing.TB) *core.DB{"bitcoin": bitcoin, "cardano": cardano, "ergo": ergo} {
		t.Run(name, func(t *testing.T) {
			textsAreArguments(t, name, everythingOf(t, chainOf(name, open(t), nil)), nil, testrun.Amount(1500, 150))
		})
	}
}

// textsAreArguments crawls /v1 and the pages of a chain, with at most that many requests.
func textsAreArguments(t *testing.T, name string, h http.Handler, store *storetest.Faulty, most int) {
	t.Helper()
	at := "/v1/" + name
	search := at + "/search?q={}"
	block := []string{at + "/block/{height}"}
	address := []string{at + "/balance/address/{}", at + "/history/address/{}", at + "/find/address/{}", search}
	tx := []string{at + "/tx/{}", search}
	seeds := []string{at + "/blocks?order=desc", at + "/blocks?limit=50", at + "/values/address", at + "/indexes", at + "/assets", "/" + name}
	if status, _ := answertest.HTTP(h, "")(at + "/mempool"); status == http.StatusOK {
		seeds = append(seeds, at+"/mempool", at+"/mempool/transactions")
		address = append(address, at+"/history/address/{}?mempool=include", at+"/find/address/{}?mempool=include")
	}
	answertest.Crawl{
		Ask:   foundBySearch(answertest.HTTP(h, "")),
		Seeds: seeds,
		Rules: []answertest.Rule{
			{Keys: []string{"hash", "blocks.hash", "parent"}, Targets: []string{search}},
			{Keys: []string{"txs", "tx", "txs.hash", "transactions.hash"}, Pattern: regexp.MustCompile("[0-9a-f]{64}"), Targets: tx},
			// Outputs and transactions before the first block have a height, but neither a block nor a time.
			{Keys: []string{"block_hash"}, Targets: append(block, at+"/block/{}")},
			{Keys: []string{"blocks.hash"}, Targets: append(block, at+"/block/{}", at+"/block/{}/totals")},
			{Keys: []string{"txs.time"}, Targets: block, Rare: true},
			{Keys: []string{"values.value"}, In: regexp.MustCompile("/(values|richest)/address"), Targets: address},
			{Keys: []string{"keys.address"}, Targets: address},
			{Keys: []string{"asset"}, Targets: []string{at + "/asset/{}", at + "/asset/{}/holders", search}, Rare: true},
			{Keys: []string{"href"}, Targets: []string{"{=}"}},
		},
		Own: true, Most: most, Store: store,
		Excused: func(target string, _ int, _ []byte) bool { return target == "/v1" || target == "/docs" }, // of the server
	}.Run(t)
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
