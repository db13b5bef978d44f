package ergoexplorer_test

import (
	"slices"
	"strings"
	"testing"

	"birthmark/api/compat/answertest"
	. "birthmark/api/compat/boxes/boxestest"
	"birthmark/bench/generate/ergogen"
	"birthmark/internal/testnode/ergotest"
	"birthmark/internal/testseed"
)

// Answers of the explorer, shortened to one entry of each list, which all objects have here. The transaction is
// mockedObservationTx in tests/chains/ergo/testUtils/TestData.ts of rosen-bridge/guard-service at
// 023ed468730e8cc768b68dcbaa85f21898f61e1f. It lacks ergoTreeConstants and ergoTreeScript: these have the form of
// OutputInfo.scala and InputInfo.scala of ergoplatform/explorer-backend at ae73d4ef18d83cadfdf037773485ef3031a5257b.
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
	// mempoolTxs in tests/ergo/objects/mockedResponseBody.ts of rosen-bridge/watcher at
	// cf3f44510ddce54951e6c6676c118709b976656e.
	realPendingInput = `{"boxId":"ec0dcb8cfd0a8460068830210d723e4d0ec14b2adeaf7076ad64b606aef7a881","value":1000000000,"index":0,
		"spendingProof":"15311039251ca496b21eaf89794ec14db748fe3974060d74b6e8dbcce40aa87bacc6eec9cd59e2de987f59f543c9fff704859a71064aafc2",
		"outputBlockId":"024c093294376f40bc524ced694bb38020f242c3bafc4c0e789dcc74baf909a5",
		"outputTransactionId":"0359045585957c6cba13cb873171b41da5f2bde97aee840719a40c51ec2f210b","outputIndex":0,
		"ergoTree":"0008cd03df7b309dc5db4506dd1f400eff35931cf889338d29aacefba8491633333d6b3c",
		"address":"9iAEDf2b4J5T1QSAPStkSbSzNUUW38cy8EMJkKC3cxHCBoaQYfY","assets":` + realAssets + `,"additionalRegisters":` + realRegisters + `}`
	realPendingOutput = `{"boxId":"2afbd9393fb1ddb982e9d82a269e27b1b97184c1bc45451d5c63dae28d25d708",
		"transactionId":"66bc08610b836e810620236eb727b7a7264d5b6e6428eb94a6aed84895f61b15","value":1000000,"index":0,
		"creationHeight":0,"ergoTree":"0008cd03df7b309dc5db4506dd1f400eff35931cf889338d29aacefba8491633333d6b3c",
		"address":"9iAEDf2b4J5T1QSAPStkSbSzNUUW38cy8EMJkKC3cxHCBoaQYfY","assets":` + realAssets + `,
		"additionalRegisters":` + realRegisters + `,"spentTransactionId":null}`
	realPendingTx = `{"id":"66bc08610b836e810620236eb727b7a7264d5b6e6428eb94a6aed84895f61b15","creationTimestamp":1654588295781,
		"inputs":[` + realPendingInput + `],"dataInputs":[],"outputs":[` + realPendingOutput + `],"size":291}`

	// testBlockHeaders and tokenApiResponse in packages/networks/ergo-explorer/tests/testData.ts of
	// rosen-bridge/guard-service at 56594bce99812327fbcc406b54dbd9ac633901dd.
	realHeader = `{"id":"aed35bf19a822c218200618913616e7a50101a40588e1ee45cce89ee55c8403d",
		"parentId":"22cf8658bfd65d005da052d2dff38caf0f4ebb7a2d252fa74ffc1b3225e2e109","version":3,"timestamp":1683957638377,
		"height":1002623,"nBits":118154417,"votes":"000000",
		"stateRoot":"5f4dd95b85d3f5a75c7a64f3a312d0046bee88080e0667968ed4d24ba61c7af519",
		"adProofsRoot":"5b1b7a810271564ce66a411db5df2c5d2af116c601a16915af1d0de5839d26ad",
		"transactionsRoot":"53b41b7f49c2141a174a7d67962f95e4f8e1e48af673c3974d964797bc4f5139",
		"extensionHash":"b5ef773dd6a58053af81fa5ce4012d7f372e28dcf5d9172d71d62ccb468b2806","powSolutions":{
		"pk":"03677d088e4958aedcd5cd65845540e91272eba99e4d98e382f5ae2351e0dfbefd",
		"w":"0279be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798","n":"dabf2b005d5d9e5e","d":"0"}}`
	realToken = `{"id":"20fa2bf23962cdf51b07722d6237c0c7b8a44f78856c0f7ec308dc1ef1a92a51",
		"boxId":"5348128964dfd86202ff1ea511b292ac6fe05cd3a75b77da2833bb12e773a65c","emissionAmount":1,
		"name":"Emission Contract NFT","description":"Marks emission contract box. ","type":"EIP-004","decimals":3}`

	// sigma-js/tests/data/info.js of ScorexFoundation/sigmastate-interpreter, from api.ergoplatform.com/api/v1/info.
	realParams = `{"height":506880,"storageFeeFactor":1250000,"minValuePerByte":360,"maxBlockSize":1271009,"maxBlockCost":7030268,
		"blockVersion":2,"tokenAccessCost":100,"inputCost":2000,"dataInputCost":100,"outputCost":100}`
	realState = `{"lastBlockId":"5b9b19ac028c6956b4cdf8ec75227934b8134ff3635ed3aceac8a8bf20788dce","height":1282261,
		"maxBoxGix":6197269,"maxTxGix":1167892,"params":` + realParams + `}`

	// The block of tests/client.test.ts in coinbarn/ergo-ts at daf8df37886f31ac1c96582789030ce7e889a682, with the fields that
	// version 1 adds (BlockInfo.scala).
	realBlock = `{"id":"7d2061fc57ab851f8c0dbdc04b954bd0ee3265238338987840a5742249deaee2","height":98750,"epoch":96,"version":1,
		"timestamp":1573819527580,"transactionsCount":1,"miner":{
		"address":"88dhgzEuTXaVHENQwT2P342mk4Gfmz1AvZTVaYu49CM6AJHFKjUdwxm8H4h1ho6kVedcRUfsytxxoKDN","name":"ytxxoKDN"},
		"size":3078,"difficulty":161465000525824,"minerReward":67500000000}`
)

// Forms that the source of the explorer decides.
const (
	decidedBalance = `{"nanoErgs":1,"tokens":[{"tokenId":"0034","amount":18,"decimals":0,"name":"SWSE","tokenType":"EIP-004"}]}`
	decidedTotal   = `{"confirmed":` + decidedBalance + `,"unconfirmed":` + decidedBalance + `}`
	decidedAsset   = `{"headerId":"6e74","boxId":"75a8","tokenId":"0034","index":2,"amount":18,"name":"SWSE","decimals":0,"type":"EIP-004"}`
	decidedInput   = `{"id":"e617","transactionId":"d04f","spendingProof":{"proofBytes":"12","extension":{}},"value":1,"index":0,
		"outputTransactionId":"e265","outputIndex":2,"address":"9fad"}`
	decidedOutput = `{"id":"75a8","txId":"d04f","value":1,"index":0,"creationHeight":1,"ergoTree":"10","address":"2CBj",
		"assets":` + realAssets + `,"additionalRegisters":{"R4":"0e00"}}`
	decidedMerged = `{"boxId":"75a8","transactionId":"d04f","blockId":"6e74","value":1,"index":0,"globalIndex":1,"creationHeight":1,
		"settlementHeight":1,"ergoTree":"10","address":"2CBj","assets":` + realAssets + `,"additionalRegisters":` + realRegisters + `,
		"spentTransactionId":null,"mainChain":true}`
	decidedTx      = `{"id":"d04f","inputs":[` + decidedInput + `],"dataInputs":[],"outputs":[` + decidedOutput + `],"creationTimestamp":1,"size":456`
	decidedSummary = decidedTx + `,"ioSummary":{"totalCoinsTransferred":1,"totalFee":1,"feePerByte":1.5}}`
)

// original is an answer of the explorer to an operation: a recorded one, or one whose form is decided by the source if
// none is known.
type original struct {
	answer            string
	recorded, decided string // the recording of this operation; or the source of its form
}

const (
	guard   = "rosen-bridge/guard-service, "
	watcher = "rosen-bridge/watcher, tests/ergo/objects/mockedResponseBody.ts: "
	models  = "ergoplatform/explorer-backend, modules/explorer-api/src/main/scala/org/ergoplatform/explorer/http/api/"
)

func items(item string) string { return `{"items":[` + item + `],"total":1}` }

func listed(item string) string { return "[" + item + "]" }

// originals are the answers by operation.
var originals = map[string]original{
	"GET v1/addresses/*/transactions":                      {items(realTx), "", models + "v1/models/TransactionInfo.scala"},
	"GET v1/addresses/*/balance/confirmed":                 {decidedBalance, "", models + "v1/models/Balance.scala"},
	"GET v1/addresses/*/balance/total":                     {decidedTotal, "", models + "v1/models/TotalBalance.scala"},
	"POST v1/addresses/batchInfo":                          {"", "", models + "v1/models/AddressInfo.scala"},
	"GET v1/mempool/transactions/byAddress/*":              {items(realPendingTx), watcher + "mempoolTxs", ""},
	"GET v1/mempool/boxes/unspent":                         {listed(realPendingOutput), "", models + "v1/models/UOutputInfo.scala"},
	"GET v1/boxes/*":                                       {realOutput, guard + "packages/networks/ergo-explorer/tests/testData.ts: testBox", ""},
	"GET v1/boxes/byAddress/*":                             {items(realOutput), "", models + "v1/models/OutputInfo.scala"},
	"GET v1/boxes/byErgoTree/*":                            {items(realOutput), "", models + "v1/models/OutputInfo.scala"},
	"GET v1/boxes/byErgoTreeTemplateHash/*":                {items(realOutput), "", models + "v1/models/OutputInfo.scala"},
	"GET v1/boxes/unspent/byAddress/*":                     {items(realOutput), watcher + "watcherUnspentBoxes", ""},
	"GET v1/boxes/unspent/byErgoTree/*":                    {items(realOutput), "", models + "v1/models/OutputInfo.scala"},
	"GET v1/boxes/unspent/byErgoTreeTemplateHash/*":        {items(realOutput), "", models + "v1/models/OutputInfo.scala"},
	"GET v1/boxes/byTokenId/*":                             {items(realOutput), "", models + "v1/models/OutputInfo.scala"},
	"GET v1/boxes/unspent/byTokenId/*":                     {items(realOutput), guard + "packages/networks/ergo-explorer/tests/testData.ts: testTokenIdBoxes", ""},
	"GET v1/boxes/unspent/unconfirmed/byAddress/*":         {listed(decidedMerged), "", models + "v1/models/MOutputInfo.scala"},
	"GET v1/boxes/unspent/all/byAddress/*":                 {items(strings.Replace(realOutput, `"blockId"`, `"headerId"`, 1)), "", models + "v1/models/AnyOutputInfo.scala"},
	"POST v1/boxes/search":                                 {items(realOutput), "", models + "v1/models/OutputInfo.scala"},
	"POST v1/boxes/unspent/search":                         {items(realOutput), "", models + "v1/models/OutputInfo.scala"},
	"POST v1/boxes/unspent/search/union":                   {items(realOutput), "", models + "v1/models/OutputInfo.scala"},
	"GET v1/boxes/unspent/stream":                          {listed(realOutput), "", models + "v1/models/OutputInfo.scala"},
	"GET v1/boxes/unspent/byLastEpochs/stream":             {listed(realOutput), "", models + "v1/models/OutputInfo.scala"},
	"GET v1/boxes/byGlobalIndex/stream":                    {listed(realOutput), "", models + "v1/models/OutputInfo.scala"},
	"GET v1/boxes/unspent/byGlobalIndex/stream":            {listed(realOutput), "", models + "v1/models/OutputInfo.scala"},
	"GET v1/boxes/byErgoTreeTemplateHash/*/stream":         {listed(realOutput), "", models + "v1/models/OutputInfo.scala"},
	"GET v1/boxes/unspent/byErgoTreeTemplateHash/*/stream": {listed(realOutput), "", models + "v1/models/OutputInfo.scala"},
	"GET v1/blocks":                                        {items(realBlock), "", models + "v1/models/BlockInfo.scala"},
	"GET v1/blocks/headers":                                {items(realHeader), guard + "packages/networks/ergo-explorer/tests/testData.ts: testBlockHeaders", ""},
	"GET v1/blocks/*":                                      {"", "", models + "v0/models/BlockSummary.scala, compared with a model in TestForks"},
	"GET v1/blocks/byGlobalIndex/stream":                   {listed(realBlock), "", models + "v1/models/BlockInfo.scala"},
	"GET v1/blocks/stream/summary":                         {"", "", models + "v1/models/BlockSummaryV1.scala, compared with a model in TestForks"},
	"GET v1/transactions/*":                                {realTx, guard + "tests/chains/ergo/testUtils/TestData.ts: mockedObservationTx", ""},
	"GET v1/transactions/byInputsScriptTemplateHash/*":     {items(realTx), "", models + "v1/models/TransactionInfo.scala"},
	"GET v1/transactions/byGlobalIndex/stream":             {listed(realTx), "", models + "v1/models/TransactionInfo.scala"},
	"POST v1/mempool/transactions/submit":                  {`{"id":"` + submitted + `"}`, "", models + "v0/models/TxIdResponse.scala"},
	"GET v1/tokens":                                        {items(realToken), "", models + "v1/models/TokenInfo.scala"},
	"GET v1/tokens/search":                                 {items(realToken), "", models + "v1/models/TokenInfo.scala"},
	"GET v1/tokens/bySymbol/*":                             {items(realToken), "", models + "v1/models/TokenInfo.scala"},
	"GET v1/tokens/*":                                      {realToken, guard + "packages/networks/ergo-explorer/tests/testData.ts: tokenApiResponse", ""},
	"GET v1/assets":                                        {items(decidedAsset), "", models + "v1/models/AssetInfo.scala"},
	"GET v1/assets/search/byTokenId":                       {items(decidedAsset), "", models + "v1/models/AssetInfo.scala"},
	"GET v1/info":                                          {realState, "ScorexFoundation/sigmastate-interpreter, sigma-js/tests/data/info.js", ""},
	"GET v1/networkState":                                  {realState, "", models + "v1/models/NetworkState.scala"},
	"GET v1/networkStats":                                  {`{"uniqueAddressesNum":1}`, "", models + "v1/models/NetworkStats.scala"},
	"GET v1/epochs/params":                                 {realParams, "", models + "v1/models/EpochInfo.scala"},
	"GET v0/transactions/unconfirmed":                      {items(decidedTx + "}"), "", models + "v0/models/UTransactionInfo.scala"},
	"GET v0/transactions/unconfirmed/*":                    {decidedSummary, "", models + "v0/models/UTransactionSummary.scala"},
	"GET v0/transactions/unconfirmed/byAddress/*":          {items(decidedTx + "}"), "", models + "v0/models/UTransactionInfo.scala"},
	"POST v0/transactions/send":                            {`{"id":"` + submitted + `"}`, "", models + "v0/models/TxIdResponse.scala"},
	"GET v0/info":                                          {`{"version":"3","supply":1,"transactionAverage":1,"hashRate":1}`, "", models + "v0/models/BlockChainInfo.scala"},
}

// Every operation has an answer of the explorer, with whose keys and types the server answers.
func TestEveryOperationHasARealAnswer(t *testing.T) {
	rng := testseed.Rand(t)
	w := newWorld(t, "testnet")
	c := ergogen.New(ergogen.Options{Seed: rng.Uint64(), TxsPerBlock: 8})
	w.Sync(t, 0, ergotest.Made(c, 25)...)
	w.Naive = w.Pend(t, c, 10)
	w.Node.Break(answerSubmissions)
	operations := answered()
	for operation, o := range originals {
		if !slices.Contains(operations, operation) {
			t.Errorf("%s is no operation", operation)
		}
		if (o.recorded == "") == (o.decided == "") {
			t.Errorf("%s: expected a recording or a source that decides", operation)
		}
	}
	for _, operation := range operations {
		if _, ok := originals[operation]; !ok {
			t.Errorf("%s has no answer of the explorer", operation)
		}
	}
	w.requests(rng, 6).Verify(t, w, path+"/api", operations, func(operation string, _ Request, body string) {
		if answer := originals[operation].answer; answer != "" {
			answertest.SameShape(t, operation, []byte(body), []byte(answer), "additionalRegisters", "extension")
		}
	})
}
