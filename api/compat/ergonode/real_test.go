package ergonode_test

import (
	"fmt"
	"net/http"
	"testing"

	"birthmark/api/compat/answertest"
	. "birthmark/api/compat/boxes/boxestest"
	"birthmark/bench/generate/ergogen"
	"birthmark/internal/testnode/ergotest"
)

// Answers of a node 5.0.15, recorded in packages/_test-vectors/nodeMocks.ts of fleet-sdk/fleet at
// 5144a9b8624ce2ddc159eae381964233e5db904f: mockGetBoxById with a register of mockTransactionList, the head of the first
// transaction of that list, mockTokenInfo, mockGetBalance and mockIndexedHeight, shortened to one entry of each list.
// Nodes from 6.0 on add spendingProof, of which no recorded answer is known here: its form is that of indexedBoxEncoder in
// ApiExtraCodecs.scala of ergoplatform/ergo 6.0.4.
const (
	realBox = `{"globalIndex":33263731,"inclusionHeight":1107200,"address":"9g16ZMPo22b3qaRL7HezyQt2HSW2ZBF6YR3WW9cYQjgQwYKxxoT",
		"spentTransactionId":"18b11ee7adbb1e2b837052d7f28df3c50ffb257c31447b051eac21b74780d842",
		"spendingProof":{"proofBytes":"","extension":{"0":"0500"}},
		"boxId":"45ce2cd800136a44f2cbf8b48472c7585cd37530de842823684b38a0ffa317a6","value":735400000,
		"ergoTree":"0008cd02c35a808c1c713fc1ae169e33da7492eee8f913a2045a7d56a3ca3103b5525ff3","assets":[
		{"tokenId":"50eab1afc495420c17c0df5154584cf09d9167263fffc99c25e3e0ae4b26fe00","amount":22154563}],"creationHeight":1107198,
		"additionalRegisters":{"R5":"10074644bc06c203060606"},
		"transactionId":"75ca1dbd6d6db1e07dafe0dd2bd61abcd7588114328c71a5643953ea4fe0369b","index":2}`
	realTx = `{"id":"fa467416eca865a46b686059ad7c293afd08b1d429a393137ea99600d475ae9a",
		"blockId":"7b9a62555fcf9517b6792c1105c288f3a365c86117075d17f05fd31ba8809765","inclusionHeight":1063811,
		"timestamp":1691402306885,"index":10,"globalIndex":5631288,"numConfirmations":59268,"inputs":[` + realBox + `],
		"dataInputs":[{"boxId":"97208a959a4acd6865a999eb3f4aa7c2fa50f079e709d2e488c18b445b67e8b7"}],"outputs":[` + realBox + `],
		"size":1724}`
	realToken = `{"boxId":"00ef11830d923c432b5a85ee78a151c717d65ef8a280d1e2e8afb32a7ca32ac1","decimals":0,
		"description":"A token to support and memorialize nanoergs.","emissionAmount":1000000000,
		"id":"fbbaac7337d051c10fc3da0ccb864f4d32d40027551e1c3ea3ce361f39b91e40","name":"kushti"}`
	realBalances = `{"nanoErgs":160000000,"tokens":[{"tokenId":"fbbaac7337d051c10fc3da0ccb864f4d32d40027551e1c3ea3ce361f39b91e40",
		"amount":10,"decimals":0,"name":"kushti"}]}`
	realIndexedHeight = `{"indexedHeight":1125453,"fullHeight":1125453}`
)

// Answers have the keys and the types of answers of the node.
func TestRealAnswersOfTheNode(t *testing.T) {
	w := newWorld(t, "testnet")
	w.Sync(t, 0, ergotest.Made(ergogen.New(ergogen.Options{Seed: 6, TxsPerBlock: 8}), 30)...)
	w.model(w.Model(nil))
	items := func(item string) string { return `{"items":[` + item + `],"total":1}` }
	spent, tokens := 0, 0
	for _, tx := range w.e.Txs[len(w.e.Txs)-60:] {
		out := tx.Outputs[0]
		address := w.e.address(out.Tree)
		targets := map[string]string{
			"/blockchain/transaction/byId/" + tx.ID: realTx, "/blockchain/box/byId/" + out.ID: realBox,
			"/blockchain/transaction/byAddress/" + address: items(realTx), "/blockchain/box/byAddress/" + address: items(realBox),
			"/blockchain/box/unspent/byAddress/" + address: `[` + realBox + `]`, "/blockchain/indexedHeight": realIndexedHeight,
			"/blockchain/balanceForAddress/" + address:                   fmt.Sprintf(`{"confirmed":%s,"unconfirmed":%[1]s}`, realBalances),
			fmt.Sprintf("/blockchain/transaction/byIndex/%d", tx.Global): realTx,
		}
		if out.Spender != nil {
			spent++
		}
		for _, x := range out.Tokens {
			tokens++
			targets["/blockchain/token/byId/"+x.ID] = realToken
			targets["/blockchain/box/byTokenId/"+x.ID] = items(realBox)
			targets["/blockchain/box/unspent/byTokenId/"+x.ID] = `[` + realBox + `]`
		}
		for target, real := range targets {
			if a := Ask(t, w, path+target, ""); a.Status == http.StatusOK {
				answertest.SameShape(t, target[:22], []byte(a.Body), []byte(real), "additionalRegisters", "extension")
			} else {
				t.Errorf("%s: %d %s", target, a.Status, a.Body)
			}
		}
	}
	if spent == 0 || tokens == 0 {
		t.Errorf("%d spent boxes and %d tokens: expected some", spent, tokens)
	}
}
