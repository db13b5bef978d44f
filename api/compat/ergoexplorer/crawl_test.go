package ergoexplorer_test

import (
	"net/http"
	"strings"
	"testing"

	"birthmark/api/compat/answertest"
	. "birthmark/api/compat/boxes/boxestest"
	"birthmark/bench/generate/ergogen"
	"birthmark/internal/testnode/ergotest"
	"birthmark/internal/testseed"
	"birthmark/storage/memory"
	"birthmark/storage/storetest"
)

// Each id, address and script in an answer is an argument of the API.
func TestAnswersLeadToAnswers(t *testing.T) {
	rng := testseed.Rand(t)
	c := ergogen.New(Odd(rng))
	store := storetest.NewFaulty(memory.New())
	w := newWorldIn(t, "testnet", store)
	w.Sync(t, 0, ergotest.Made(c, 30)...)
	w.Naive = w.Pend(t, c, 5)
	pending := w.PendingIDs()
	// As at the explorer, genesis boxes belong to a block and a transaction of zeros, and version 1 finds confirmed
	// transactions, boxes and tokens only.
	zeros := strings.Repeat("0", 64)
	excused := func(target string, status int, _ []byte) bool {
		id := target[strings.LastIndex(target, "/")+1:]
		return status == http.StatusNotFound && (id == zeros || pending[id] && strings.HasPrefix(target, "/v1/"))
	}
	answertest.Crawl{
		Ask: answertest.HTTP(w, path+"/api"),
		Seeds: []string{
			"/v1/blocks", "/v1/blocks/headers", "/v1/tokens", "/v1/assets", "/v1/networkState", "/v1/mempool/boxes/unspent",
			"/v0/transactions/unconfirmed", "/v1/blocks?limit=30&offset=5",
		},
		Rules: []answertest.Rule{
			{Keys: []string{"blockId", "outputBlockId", "headerId", "lastBlockId", "previousId", "nextId", "parentId"}, Targets: []string{"/v1/blocks/{}"}},
			{Keys: []string{"transactionId", "outputTransactionId", "txId", "spentTransactionId"}, Targets: []string{"/v1/transactions/{}"}},
			{Keys: []string{"boxId"}, Targets: []string{"/v1/boxes/{}"}},
			{Keys: []string{"tokenId"}, Targets: []string{
				"/v1/tokens/{}", "/v1/boxes/byTokenId/{}", "/v1/boxes/unspent/byTokenId/{}", "/v1/assets/search/byTokenId?query={}",
			}},
			{Keys: []string{"address"}, Targets: []string{
				"/v1/addresses/{}/transactions", "/v1/addresses/{}/balance/confirmed", "/v1/addresses/{}/balance/total",
				"/v1/boxes/byAddress/{}", "/v1/boxes/unspent/byAddress/{}", "/v1/boxes/unspent/all/byAddress/{}",
				"/v1/boxes/unspent/unconfirmed/byAddress/{}", "/v1/mempool/transactions/byAddress/{}",
				"/v0/transactions/unconfirmed/byAddress/{}", `POST /v1/addresses/batchInfo ["{=}"]`,
			}},
			{Keys: []string{"ergoTree"}, Targets: []string{"/v1/boxes/byErgoTree/{}", "/v1/boxes/unspent/byErgoTree/{}"}},
		},
		Contents: []string{"additionalRegisters", "name", "description"}, Excused: excused, Most: 800, Store: store,
	}.Run(t)
}
