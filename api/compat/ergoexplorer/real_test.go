package ergoexplorer_test

import (
	"strings"
	"testing"

	"birthmark/api/compat/answertest"
	. "birthmark/api/compat/boxes/boxestest"
	"birthmark/bench/generate/ergogen"
	"birthmark/internal/testnode/ergotest"
)

// Answers of the explorer, shortened to one entry of each list, which all objects have here. The transaction is
// mockedObservationTx in tests/chains/ergo/testUtils/TestData.ts of rosen-bridge/guard-service at
// 023ed468730e8cc768b68dcbaa85f21898f61e1f. It is older than ergoTreeConstants and ergoTreeScript of the explorer: these
// have the form of OutputInfo.scala and InputInfo.scala of ergoplatform/explorer-backend.
const (
	realAssets = `[{"tokenId":"0034c44f0c7a38f833190d44125ff9b3a0dd9dbb89138160182a930bc521db95","index":2,"amount":18,
		"name":"SWSE","decimals":0,"type":"EIP-004"}]`
	realRegisters = `{"R4":{"serializedValue":"1a040763617264616e6f0a746f4164647265737334063130303030300432353030",
		"sigmaType":"Coll[Coll[SByte]]","renderedValue":"[414441,746f4164647265737334,313030303030,32353030]"}}`
	realOutput = `{"boxId":"75a836e2c548c4e47fa75761c85168e6f0563bf7ec9db4aa21b6863a701b0637",
		"transactionId":"d04fc93dc15a28a1f0e50b0fffc94f360037dcedddaf8a2e25905a892cd48378",
		"blockId":"6e74499171d828ee51266d3b65011cf958afe551ce7a0d74e5f6aba9029ae90c","value":1100000,"index":0,
		"globalIndex":548120,"creationHeight":253476,"settlementHeight":253478,"ergoTree":"10010e20","ergoTreeConstants":"0: 720",
		"ergoTreeScript":"{sigmaProp(true)}","address":"2CBjjwbY9Rokj7Ue9qT2pbMR2WhLDmdcL2V9pRgCEEMks9QRXiQ7K73wNANLAczY1XLimkNBu6Nt3hW1zACrk4zQxu",
		"assets":` + realAssets + `,"additionalRegisters":` + realRegisters + `,"spentTransactionId":null,"mainChain":true}`
	realInput = `{"boxId":"e61780d6caa840d3dfc455900bf41b033e16cec27dca2ebfc033cb9d26612335","value":1000100000,"index":0,
		"spendingProof":"12806d7b68be67c6c3a7f96ece494cacdabc809b68bd79ae9e3b796b92cd53d1fcbb1533dc91a70016bcec64c280fe6c95a003bc5019b09d",
		"outputBlockId":"255f6e4ed26ee7a5860f5dfe7ce803eb4da465df355634481f7f44004cd52abc",
		"outputTransactionId":"e2659ee1f5c0bb021d3a46c092af39a0589d808a1286f90cee04983a2fc76664","outputIndex":2,
		"outputGlobalIndex":546800,"outputCreatedAt":252817,"outputSettledAt":252819,"ergoTree":"0008cd02","ergoTreeConstants":"",
		"ergoTreeScript":"","address":"9fadVRGYyiSBCgD7QtZU13BfGoDyTQ1oX918P8py22MJuMEwSuo","assets":` + realAssets + `,
		"additionalRegisters":` + realRegisters + `}`
	realTx = `{"id":"d04fc93dc15a28a1f0e50b0fffc94f360037dcedddaf8a2e25905a892cd48378",
		"blockId":"6e74499171d828ee51266d3b65011cf958afe551ce7a0d74e5f6aba9029ae90c","inclusionHeight":253478,
		"timestamp":1658485237304,"index":1,"globalIndex":266474,"numConfirmations":2187,"inputs":[` + realInput + `],
		"dataInputs":[],"outputs":[` + realOutput + `],"size":456}`
)

// Answers have the keys and the types of answers of the explorer.
func TestRealAnswersOfTheExplorer(t *testing.T) {
	w := newWorld(t, "testnet")
	w.Sync(t, 0, ergotest.Made(ergogen.New(ergogen.Options{Seed: 6, TxsPerBlock: 8}), 30)...)
	w.Naive = w.Model(nil)
	items := func(item string) string { return `{"items":[` + item + `],"total":1}` }
	for _, tx := range w.Txs[len(w.Txs)-20:] {
		address := w.address(tx.Outputs[0].Tree)
		for target, real := range map[string]string{
			"transactions/" + tx.ID: realTx, "boxes/" + tx.Outputs[0].ID: realOutput,
			"addresses/" + address + "/transactions?limit=5": items(realTx), "boxes/byAddress/" + address: items(realOutput),
			"boxes/unspent/byAddress/" + address:                 items(realOutput),
			"boxes/byErgoTree/" + tx.Outputs[0].Tree:             items(realOutput),
			"transactions/byGlobalIndex/stream?minGix=0&limit=3": `[` + realTx + `]`,
		} {
			if a := Ask(t, w, path+"/api/v1/"+target, ""); a.Status == 200 {
				answertest.SameShape(t, target[:strings.IndexByte(target, '/')], []byte(a.Body), []byte(real), "additionalRegisters")
			} else {
				t.Errorf("%s: %d %s", target, a.Status, a.Body)
			}
		}
	}
}
