package ergonode_test

import (
	"encoding/hex"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"birthmark/api/compat/answertest"
	"birthmark/api/compat/boxes"
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
	w.model(w.Pend(t, c, 5))
	genesis, pending := map[string]bool{}, w.e.PendingIDs()
	for _, b := range w.e.Boxes[:w.e.GenesisBoxes] {
		genesis[b.ID] = true
	}
	spent := func(id string) bool {
		b := w.e.Box(id)
		return b != nil && (b.Spender != nil || b.Pending != nil)
	}
	tree := func(text string) string {
		raw, err := hex.DecodeString(text)
		if err != nil {
			t.Fatal(err)
		}
		hash := boxes.NodeTemplateOf(raw)
		return hex.EncodeToString(hash[:])
	}
	// As in the node, the extra index has no genesis boxes, and only confirmed boxes and tokens; the set of unspent boxes has
	// these only. Block 1 has no parent.
	excused := func(target string, status int, _ []byte) bool {
		id := target[strings.LastIndex(target, "/")+1:]
		return status == http.StatusNotFound && (strings.HasPrefix(target, "/blockchain/") && (genesis[id] || pending[id]) ||
			strings.HasPrefix(target, "/utxo/") && spent(id) || strings.Contains(target, strings.Repeat("0", 64)))
	}
	answertest.Crawl{
		Ask: answertest.HTTP(w, path),
		Seeds: []string{
			"/blocks?limit=30", "/blocks/lastHeaders/5", "/blockchain/transaction/range?limit=20", "/blockchain/box/range?limit=40",
			"/transactions/unconfirmed", "/blocks/at/7", "/utxo/genesis",
		},
		Rules: []answertest.Rule{
			{Keys: []string{"blockId", "headerId", "parentId"}, Targets: []string{
				"/blocks/{}/header", "/blocks/{}/transactions", "/blockchain/block/byHeaderId/{}",
			}},
			{In: regexp.MustCompile(`^/blocks(\?|/at)`), Targets: []string{"/blocks/{}/header"}},
			{In: regexp.MustCompile(`^/blockchain/transaction/range`), Targets: []string{"/blockchain/transaction/byId/{}"}},
			{In: regexp.MustCompile(`^/blockchain/box/range`), Targets: []string{"/blockchain/box/byId/{}"}},
			{Keys: []string{"spentTransactionId"}, Targets: []string{"/blockchain/transaction/byId/{}"}},
			{Keys: []string{"boxId"}, Targets: []string{"/blockchain/box/byId/{}", "/utxo/withPool/byId/{}"}},
			{Keys: []string{"tokenId"}, Targets: []string{
				"/blockchain/token/byId/{}", "/blockchain/box/byTokenId/{}", "/blockchain/box/unspent/byTokenId/{}",
				`POST /blockchain/tokens ["{=}"]`, "/transactions/unconfirmed/outputs/byTokenId/{}",
			}},
			{Keys: []string{"address"}, Targets: []string{
				"/blockchain/transaction/byAddress/{}", "/blockchain/box/byAddress/{}", "/blockchain/box/unspent/byAddress/{}",
				"/blockchain/balanceForAddress/{}", "POST /blockchain/balance {=}", "/script/addressToTree/{}", "/utils/address/{}",
			}},
			{Keys: []string{"ergoTree"}, Targets: []string{
				`POST /blockchain/box/byErgoTree "{=}"`, `POST /blockchain/box/unspent/byErgoTree "{=}"`, "/utils/ergoTreeToAddress/{}",
				`POST /transactions/unconfirmed/byErgoTree "{=}"`, `POST /transactions/unconfirmed/outputs/byErgoTree "{=}"`,
			}},
			{Keys: []string{"ergoTree"}, As: tree, Targets: []string{
				"/blockchain/box/byTemplateHash/{}", "/blockchain/box/unspent/byTemplateHash/{}",
			}},
		},
		Contents: []string{"additionalRegisters", "name", "description"}, Excused: excused, Most: 900, Store: store,
	}.Run(t)
}
