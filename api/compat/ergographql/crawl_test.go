package ergographql_test

import (
	"encoding/json"
	"net/http"
	"slices"
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

// boxFields are the fields of boxes that queries of the crawl return.
const boxFields = "boxId transactionId headerId ergoTree ergoTreeTemplateHash address assets { tokenId } additionalRegisters"

// Each id, address and script in an answer is an argument of a query, whose answer is not empty.
func TestAnswersLeadToAnswers(t *testing.T) {
	rng := testseed.Rand(t)
	c := ergogen.New(Odd(rng))
	store := storetest.NewFaulty(memory.New())
	w := newWorldIn(t, "testnet", store)
	w.Sync(t, 0, ergotest.Made(c, 30)...)
	n := w.Pend(t, c, 5)
	fresh := map[string]bool{}
	for _, b := range n.Fresh {
		for _, text := range []string{b.ID, b.Tree, w.address(b.Tree)} {
			fresh[text] = true
		}
	}
	// A key with its size in the tree has the address of another tree, and that address can have no boxes.
	for _, b := range n.Boxes {
		if b.Tree != b.Payable() {
			fresh[w.address(b.Tree)] = true
		}
	}
	ask := func(query string) (int, []byte) {
		body, err := json.Marshal(map[string]any{"query": query})
		if err != nil {
			t.Fatal(err)
		}
		a := Ask(t, w, path, string(body))
		var got struct {
			Data   map[string]any
			Errors []any
		}
		if err := json.Unmarshal([]byte(a.Body), &got); err != nil || a.Status != http.StatusOK || len(got.Errors) > 0 {
			if strings.Contains(a.Body, "internal error") {
				return http.StatusInternalServerError, []byte(a.Body)
			}
			return http.StatusBadRequest, []byte(a.Body)
		}
		for _, v := range got.Data {
			if list, ok := v.([]any); ok && len(list) == 0 {
				return http.StatusNotFound, []byte(a.Body)
			}
		}
		return a.Status, []byte(a.Body)
	}
	// Boxes of the mempool are in lists of the mempool only.
	excused := func(target string, status int, _ []byte) bool {
		_, argument, _ := strings.Cut(target, `"`)
		argument, _, _ = strings.Cut(argument, `"`)
		return status == http.StatusNotFound && fresh[argument]
	}
	i := slices.IndexFunc(n.Boxes, func(b *Box) bool { return len(b.Tokens) > 0 })
	answertest.Crawl{
		Ask: ask,
		Seeds: []string{
			"{ blockHeaders(take: 10) { headerId parentId height } }", "{ mempool { transactions(take: 10) { transactionId } } }",
			`{ boxes(address: "` + w.address(n.Boxes[len(n.Boxes)-1].Tree) + `", take: 5) { ` + boxFields + ` } }`,
			`{ tokens(tokenId: "` + n.Boxes[i].Tokens[0].ID + `") { tokenId boxId } }`,
		},
		Rules: []answertest.Rule{
			{Keys: []string{"headerId"}, Targets: []string{`{ blockHeaders(headerId: "{=}") { headerId parentId } }`}},
			{Keys: []string{"boxId"}, Targets: []string{`{ boxes(boxId: "{=}") { ` + boxFields + ` } }`}},
			{Keys: []string{"tokenId"}, Targets: []string{
				`{ tokens(tokenId: "{=}") { tokenId boxId } }`, `{ boxes(tokenId: "{=}", take: 5) { ` + boxFields + ` } }`,
			}},
			{Keys: []string{"address"}, Targets: []string{
				`{ boxes(address: "{=}", take: 5) { ` + boxFields + ` } }`,
				`{ addresses(addresses: ["{=}"]) { address balance { nanoErgs assets { tokenId } } } }`,
			}},
			{Keys: []string{"ergoTree"}, Targets: []string{`{ boxes(ergoTree: "{=}", take: 5) { ` + boxFields + ` } }`}},
			{Keys: []string{"ergoTreeTemplateHash"}, Targets: []string{`{ boxes(ergoTreeTemplateHash: "{=}", take: 5) { ` + boxFields + ` } }`}},
		},
		Contents: []string{"additionalRegisters", "name", "description"}, Excused: excused, Most: 400, Store: store,
	}.Run(t)
}
