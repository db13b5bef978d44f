package ergonode_test

import (
	"fmt"
	"net/http"
	"testing"

	. "birthmark/api/compat/boxes/boxestest"
	"birthmark/bench/generate/ergogen"
	"birthmark/internal/testnode/ergotest"
)

// Answers in the form of the node's encoders (ApiExtraCodecs.scala of ergoplatform/ergo 6.0.4 and JsonCodecs.scala of
// sigmastate-interpreter 6.0.3), with the example values of its openapi.yaml.
const (
	realBox = `{"globalIndex":83927,"inclusionHeight":147,"address":"3WwbzW6u8hKWBcL1W7kNVMr25s2UHfSBnYtwSHvrRQt7DdPuoXrt",
		"spentTransactionId":"2ab9da11fc216660e974842cc3b7705e62ebb9e0bf5ff78e53f9cd40abadd117","spendingProof":{"proofBytes":
		"4ab9da11fc216660e974842cc3b7705e62ebb9e0bf5ff78e53f9cd40abadd1173ab9da11fc216660e974842cc3b7705e62ebb9e0bf5ff78e53f9cd40abadd117",
		"extension":{"1":"a2aed72ff1b139f35d1ad2938cb44c9848a34d4dcfd6d8ab717ebde40a7304f2541cf628ffc8b5c496e6161eba3f169c6dd440704b1719e0"}},
		"boxId":"1ab9da11fc216660e974842cc3b7705e62ebb9e0bf5ff78e53f9cd40abadd117","value":147,"ergoTree":"0008cd0336100e",
		"assets":[{"tokenId":"4ab9da11fc216660e974842cc3b7705e62ebb9e0bf5ff78e53f9cd40abadd117","amount":1000}],
		"creationHeight":9149,"additionalRegisters":{"R4":"100204a00b08cd0336100e"},
		"transactionId":"2ab9da11fc216660e974842cc3b7705e62ebb9e0bf5ff78e53f9cd40abadd117","index":0}`
	realTx = `{"id":"2ab9da11fc216660e974842cc3b7705e62ebb9e0bf5ff78e53f9cd40abadd117",
		"blockId":"d7c8b2d8fd1dc0e5b4c0b8d7c8b2d8fd1dc0e5b4c0b8d7c8b2d8fd1dc0e5b4c0","inclusionHeight":20998,
		"timestamp":1643107740000,"index":3,"globalIndex":3565445,"numConfirmations":20998,"inputs":[` + realBox + `],
		"dataInputs":[{"boxId":"1ab9da11fc216660e974842cc3b7705e62ebb9e0bf5ff78e53f9cd40abadd117"}],"outputs":[` + realBox + `],
		"size":344}`
	realToken = `{"id":"4ab9da11fc216660e974842cc3b7705e62ebb9e0bf5ff78e53f9cd40abadd117",
		"boxId":"1ab9da11fc216660e974842cc3b7705e62ebb9e0bf5ff78e53f9cd40abadd117","emissionAmount":3565445,"name":"ERG","description":
		"","decimals":8}`
	realBalances = `{"nanoErgs":147,"tokens":[{"tokenId":"4ab9da11fc216660e974842cc3b7705e62ebb9e0bf5ff78e53f9cd40abadd117",
		"amount":1000,"decimals":8,"name":"ERG"}]}`
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
			"/blockchain/box/unspent/byAddress/" + address: `[` + realBox + `]`, "/blockchain/indexedHeight": `{"indexedHeight":1,"fullHeight":1}`,
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
				SameShape(t, target[:22], []byte(a.Body), []byte(real), "additionalRegisters", "extension")
			} else {
				t.Errorf("%s: %d %s", target, a.Status, a.Body)
			}
		}
	}
	if spent == 0 || tokens == 0 {
		t.Errorf("%d spent boxes and %d tokens: expected some", spent, tokens)
	}
}
