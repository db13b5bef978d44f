package ergoexplorer_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"birthmark/api/compat/answertest"
	. "birthmark/api/compat/boxes/boxestest"
	"birthmark/api/compat/ergoexplorer"
	"birthmark/bench/generate/ergogen"
	"birthmark/internal/testnode/ergotest"
	"birthmark/internal/testseed"
)

// Answers of the explorer, shortened to one entry of each list, which all objects have here. The transaction is
// mockedObservationTx in tests/chains/ergo/testUtils/TestData.ts of rosen-bridge/guard-service at
// 023ed468730e8cc768b68dcbaa85f21898f61e1f. It lacks ergoTreeConstants and ergoTreeScript, which later recordings have:
// src/lib/data/utxos.ts of SavonarolaLabs/crystal-pool at 0a89aff024a44d8c76eada450f105633cabe4aca. Other forms are of
// ergoplatform/explorer-backend at ae73d4ef18d83cadfdf037773485ef3031a5257b.
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

	// unConfirmedTx in tests/ergo/objects/mockedResponseBody.ts of rosen-bridge/watcher, with a register of another box.
	realInput0 = `{"id":"2506a27c28ccb36d7b9e830e5d0beba67e5315e2dccb340a6b055860034760a4",
		"transactionId":"ebb5aa196e64e28a04eda4f5e25ac9e2bf883af1f5a1e63b1429b2e14c6b0dcb","spendingProof":{
		"proofBytes":"f92be0ae8e7e9be5cd5dd0554376bbd4ec3655da3a177d938736c93a1e14e57cef84ec06f148a63d17447af0ef6b9a4803067396f2779895",
		"extension":{}},"value":10200298170,"index":0,
		"outputTransactionId":"b3cd9ad0fdeb43f82bc38c13d294e0422d7a27b2dd4978c42aaa3edb3ad6d604","outputIndex":0,
		"address":"9h3DjWYXLriAn5cox3CeCFGxngTY3JQpy9RwZwP4x1xYAjeSN1G"}`
	realOutput0 = `{"id":"552b920841043666c4ac6071be28260e12432675ec9faf14210c050a8f6b87be",
		"txId":"ebb5aa196e64e28a04eda4f5e25ac9e2bf883af1f5a1e63b1429b2e14c6b0dcb","value":106000,"index":1,"creationHeight":735585,
		"ergoTree":"0008cd030980bbb89c2c0812ccf9e7fa1ffac385eb15890fbe8dd843ac396dcfdb313537",
		"address":"9gXzRrbhbc5qMFR7DZ6nPV7q4bshwTeRAZusRvnF44WFc4PZ5QC","assets":[{
		"tokenId":"30974274078845f263b4f21787e33cc99e9ec19a17ad85a5bc6da2cca91c5a2e","index":0,"amount":50000000000,"name":"WT_ADA",
		"decimals":8,"type":"EIP-004"}],"additionalRegisters":{"R4":"0e00"}}`
	realTx0 = `{"id":"ebb5aa196e64e28a04eda4f5e25ac9e2bf883af1f5a1e63b1429b2e14c6b0dcb","inputs":[` + realInput0 + `],
		"dataInputs":[],"outputs":[` + realOutput0 + `],"creationTimestamp":1650863160118,"size":871`
	realSummary0 = realTx0 + `,"ioSummary":{"totalCoinsTransferred":10200298170,"totalFee":1100000,"feePerByte":1262.9161882893227}}`

	// explorerBlockTx in packages/abstract-extractor/tests/network/testData.ts of rosen-bridge/scanner, in a block with the
	// members of BlockSummary.scala and FullBlockInfo.scala.
	realBlockTx = `{"id":"4e7c782db6525e7d59a28df3b72a16d26fcb64ceae535dfec3936e61d8feddf2",
		"headerId":"a39b506bc9ba2b199ff803a967319c67cece3207c7d54cdad79345f8d228d367","inclusionHeight":1320528,
		"timestamp":1722500537020,"index":3,"confirmationsCount":4285,"inputs":[{
		"id":"4af30f9c715a7e2bc5f05ad8eedfab1592a320f3c7dd3ca6093902f5207b5c05","value":23326478571,"index":1,
		"spendingProof":"9b8d1011510b3f62632d421818a18e913fccd81d4f0b1117f873e169f4e0bad88111309f1b8d3f4b6768580c963d749e0f9f50fb881d3b66",
		"transactionId":"4e7c782db6525e7d59a28df3b72a16d26fcb64ceae535dfec3936e61d8feddf2",
		"outputTransactionId":"c1625b2f26935514d9cc47ce3acedb75e7b51595c1a26cc2fe0b6eadeeb205d8","outputIndex":6,
		"address":"9fzRcctiWfzoJyqGtPWqoXPuxSmFw6zpnjtsQ1B6jSN514XqH4q"}],"dataInputs":[],"outputs":[{
		"id":"3729892f2fcd5b05761ab2994bb418947a5e7d6aaeae5c46351b2e6cf29afc34",
		"txId":"4e7c782db6525e7d59a28df3b72a16d26fcb64ceae535dfec3936e61d8feddf2","value":5810250000,"index":0,
		"creationHeight":1320526,"ergoTree":"1014040004000e208c27dd9d","address":"NTkuk55NdwCXkF1e2nCABxq7bHjtinX3wH13zYPZ6qYT71dC",
		"assets":[{"tokenId":"011d3364de07e5a26f0c4eef0852cddb387039a921b7154ef3cab22c6eda887f","index":0,"amount":1,
		"name":"ERGUSD-NFT","decimals":0,"type":"EIP-004"}],"additionalRegisters":{"R4":"05a686a9ad09","R5":"04a299a101"},
		"spentTransactionId":"0ad32fd0423a4d2e551f0ae9be28a650bef4b9420791bd5208c6f35c1b234322","mainChain":true}]}`

	// sigma-js/tests/data/info.js of ScorexFoundation/sigmastate-interpreter, from api.ergoplatform.com/api/v1/info.
	realParams = `{"height":506880,"storageFeeFactor":1250000,"minValuePerByte":360,"maxBlockSize":1271009,"maxBlockCost":7030268,
		"blockVersion":2,"tokenAccessCost":100,"inputCost":2000,"dataInputCost":100,"outputCost":100}`
	realState = `{"lastBlockId":"5b9b19ac028c6956b4cdf8ec75227934b8134ff3635ed3aceac8a8bf20788dce","height":1282261,
		"maxBoxGix":6197269,"maxTxGix":1167892,"params":` + realParams + `}`

	// addressTokenBalances in src/ExplorerTokenMarket.test.samples.ts of JimmyHoffa/ergo-market-lib at
	// a3ffdd332bc077b86652f86ec8ce6dc573117b77, with the amount of testAddressBalance in testData.ts of
	// rosen-bridge/guard-service.
	realBalance = `{"nanoErgs":10000000000,"tokens":[{"tokenId":"03faf2cb329f2e90d6d23b58d91bbb6c046aa143261cc21f52fbe2824bfcbf04",
		"amount":1,"decimals":2,"name":"SigUSD","tokenType":"EIP-004"}]}`
	realTotal = `{"confirmed":` + realBalance + `,"unconfirmed":` + realBalance + `}`

	// The first token of appkit/src/test/resources/tokens.json in ergoplatform/ergo-appkit at
	// 29418943a96a5e0965826142617c8cbcbae2ab99, from /api/v1/tokens, and the first of /api/v1/tokens/search in
	// src/scripts/validateFirstCertificate.ts of sigmastamp/sigmastamp-frontend at
	// f3a52aab1a16325bfa4ea838550790a34b1ec0a9.
	realTokens = `{"items":[{"id":"2ac6e502e997681191ad336587e4bd0a1f25ce3709c29214f6c533575f9957fd",
		"boxId":"5eb715015c6d894303f3ba9c1796791c9a2af61aab659b8a63d890fbbc92756b","emissionAmount":1,"name":"ergopad Stake Key",
		"description":"{\"originalAmountStaked\": 12423.04, \"stakeTime\": \"2022-07-09 17:05:30.551623\"}","type":"EIP-004",
		"decimals":0}],"total":46337}`
	realFound = `{"items":[{"id":"72349d20ccc448b76dce62b07b1467d674263ac08c27b3bfddcb800b710e36f3",
		"boxId":"6e0f329fb4d24111e9ce6d73cd6d20ecb16187d7418d40c37fa7edbb4b5f9b71","emissionAmount":1,"name":"SigmaStampNFT",
		"description":"Proof of existence of document with Blake2b-256 hash specified in R8 register during minting of this NFT token.",
		"type":"EIP-004","decimals":0}],"total":8}`

	// The first entry of blocks.json, and blockAtHeight.json, in tests/commitment/dataset of rosen-bridge/watcher at
	// 34d9fd81a389a5c6cb461630c72867ff58c92d81, and networkStatus.json there at
	// 5c9e978e3c136de8e1e4028dc708cb67b84a1ebd. The parameters of the state are those of a much lower block.
	realBlocks = `{"items":[{"id":"e43c8f4b635f70a7495205e47c5fde461f065b18dc1bea0e0b57064702394618","height":744063,"epoch":726,
		"version":2,"timestamp":1651871934864,"transactionsCount":4,"miner":{
		"address":"88dhgzEuTXaSuf5QC1TJDgdxqJMQEQAM6YaTTRqmUDrmPoVky1b16WAK5zMrq3p2mYqpUNKCyi5CLS9V","name":"yi5CLS9V"},
		"size":16418,"difficulty":1935505537105920,"minerReward":63000000000}],"total":744063}`
	realBlock = `{"id":"9a5208f5bcc4a42a1bd914fe3d269f7df01801e04f829812d0af87de72d6792e","height":744041,"epoch":726,"version":2,
		"timestamp":1651869017229,"transactionsCount":9,"miner":{
		"address":"88dhgzEuTXaRxf1rbqBRZ6Zbw9iigdB4PCdjyFKLrk22gnmjKcxZBe53vqJVetRa4tTNF9oowQWPp2c6","name":"wQWPp2c6"},
		"size":30413,"difficulty":1935505537105920,"minerReward":63000000000}`
	realNetwork = `{"lastBlockId":"1a8ad85d20754331ffb97526f915395802e04d7f597f0f6f0b1b24101cb8a51d","height":745677,
		"maxBoxGix":16516450,"maxTxGix":3151628,"params":{"height":508928,"storageFeeFactor":1250000,"minValuePerByte":360,
		"maxBlockSize":1271009,"maxBlockCost":7030268,"blockVersion":2,"tokenAccessCost":100,"inputCost":2000,
		"dataInputCost":100,"outputCost":100}}`
)

// Forms that the source of the explorer decides.
const (
	decidedAsset  = `{"headerId":"6e74","boxId":"75a8","tokenId":"0034","index":2,"amount":18,"name":"SWSE","decimals":0,"type":"EIP-004"}`
	decidedMerged = `{"boxId":"75a8","transactionId":"d04f","blockId":"6e74","value":1,"index":0,"globalIndex":1,"creationHeight":1,
		"settlementHeight":1,"ergoTree":"10","address":"2CBj","assets":` + realAssets + `,"additionalRegisters":` + realRegisters + `,
		"spentTransactionId":null,"mainChain":true}`
)

// Blocks of answers have the header of lists with three members more, and other votes.
var (
	realBlockHeader = strings.Replace(realHeader, `"votes":"000000"`,
		`"epoch":979,"difficulty":3121211179171840,"size":9104,"votes":{"_1":0,"_2":0,"_3":0}`, 1)
	realFullBlock = `{"header":` + realBlockHeader + `,"blockTransactions":[` + realBlockTx + `]`
	realBlockRefs = `,"references":{"previousId":"22cf8658bfd65d005da052d2dff38caf0f4ebb7a2d252fa74ffc1b3225e2e109","nextId":"aed3"}}`
	realSummary   = `{"block":` + realFullBlock + `,"extension":{"digest":"3670","fields":{},"headerId":"aed3"},"adProofs":null}` + realBlockRefs
)

// original is an answer of the explorer to an operation: a recorded one, or one whose form is decided by the source if
// none is known.
type original struct {
	answer   string
	recorded string // a recording of this operation
	// The source of its form, if none is known. Looked at: the clients of Fleet, Nautilus, Minotaur, Rosen, Spectrum,
	// appkit, ErgoMixer, SigmaStamp, SigmaO, SAFEW, Yoroi, ergo-ts and ergo-market-lib; ErgExplorer, ergo-mcp, which has
	// examples of the document, and tests and issues of ergoplatform/explorer-backend. Answers of ergo-ts to
	// transactions/unconfirmed are those of an explorer before version 0 had pages.
	decided string
}

const (
	guard   = "rosen-bridge/guard-service, "
	network = guard + "packages/networks/ergo-explorer/tests/"
	mocks   = network + "mocked/ergoExplorerClient.mock.ts: "
	watcher = "rosen-bridge/watcher, tests/ergo/objects/mockedResponseBody.ts: "
	watched = "rosen-bridge/watcher, tests/commitment/dataset/"
	scanner = "rosen-bridge/scanner, packages/abstract-extractor/tests/network/testData.ts: "
	appkit  = "ergoplatform/ergo-appkit, appkit/src/test/resources/mockwebserver/explorer_responses: "
	tokens  = "ergoplatform/ergo-appkit, appkit/src/test/resources/tokens.json"
	// The first entry of addressTokenBalances has a token of a balance, and balanceHistoryAtAddress has boxes.
	market = "JimmyHoffa/ergo-market-lib, src/ExplorerTokenMarket.test.samples.ts: "
	// An answer before globalIndex and settlementHeight. The client of that repository reads lists of transactions from this
	// operation only: getTransactionsByInputScript.
	dex = "spectrum-finance/ergo-dex-backend, modules/markets-api/src/test/scala/org/ergoplatform/dex/markets/modules/" +
		"samples.scala: TradeTxRaw"
	stamp  = "sigmastamp/sigmastamp-frontend, src/scripts/validateFirstCertificate.ts"
	models = "ergoplatform/explorer-backend, modules/explorer-api/src/main/scala/org/ergoplatform/explorer/http/api/"
)

func items(item string) string { return `{"items":[` + item + `],"total":1}` }

func listed(item string) string { return "[" + item + "]" }

// originals are the answers by operation, those of streams as lists.
var originals = map[string]original{
	"GET v1/addresses/*/transactions":                      {items(realTx), "ergoplatform/explorer-backend issue 193, shortened", ""},
	"GET v1/addresses/*/balance/confirmed":                 {realBalance, network + "testData.ts: testAddressBalance; a token: " + market + "addressTokenBalances", ""},
	"GET v1/addresses/*/balance/total":                     {realTotal, market + "addressTokenBalances", ""},
	"POST v1/addresses/batchInfo":                          {"", "", models + "v1/models/AddressInfo.scala"},
	"GET v1/mempool/transactions/byAddress/*":              {items(realPendingTx), watcher + "mempoolTxs", ""},
	"GET v1/mempool/boxes/unspent":                         {listed(realPendingOutput), "", models + "v1/models/UOutputInfo.scala, streaming.scala"},
	"GET v1/boxes/*":                                       {realOutput, network + "testData.ts: testBox", ""},
	"GET v1/boxes/byAddress/*":                             {items(realOutput), market + "balanceHistoryAtAddress", ""},
	"GET v1/boxes/byErgoTree/*":                            {items(realOutput), "", models + "v1/models/OutputInfo.scala"},
	"GET v1/boxes/byErgoTreeTemplateHash/*":                {items(realOutput), "", models + "v1/models/OutputInfo.scala"},
	"GET v1/boxes/unspent/byAddress/*":                     {items(realOutput), watcher + "watcherUnspentBoxes; " + appkit + "response_boxesByAddressUnspent.json", ""},
	"GET v1/boxes/unspent/byErgoTree/*":                    {items(realOutput), watcher + "watcherPermitLastBox, repoLastBox", ""},
	"GET v1/boxes/unspent/byErgoTreeTemplateHash/*":        {items(realOutput), "", models + "v1/models/OutputInfo.scala"},
	"GET v1/boxes/byTokenId/*":                             {items(realOutput), "", models + "v1/models/OutputInfo.scala"},
	"GET v1/boxes/unspent/byTokenId/*":                     {items(realOutput), network + "testData.ts: testTokenIdBoxes", ""},
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
	"GET v1/blocks":                                        {realBlocks, watched + "blocks.json", ""},
	"GET v1/blocks/headers":                                {items(realHeader), network + "testData.ts: testBlockHeaders", ""},
	"GET v1/blocks/*":                                      {realSummary, scanner + "explorerBlockTx", ""},
	"GET v1/blocks/byGlobalIndex/stream":                   {listed(realBlock), watched + "blockAtHeight.json", ""},
	"GET v1/blocks/stream/summary":                         {listed(realFullBlock + "}"), "", models + "v1/models/BlockSummaryV1.scala"},
	"GET v1/transactions/*":                                {realTx, guard + "tests/chains/ergo/testUtils/TestData.ts: mockedObservationTx", ""},
	"GET v1/transactions/byInputsScriptTemplateHash/*":     {items(realTx), dex, ""},
	"GET v1/transactions/byGlobalIndex/stream":             {listed(realTx), "", models + "v1/models/TransactionInfo.scala"},
	"POST v1/mempool/transactions/submit":                  {`{"id":"` + submitted + `"}`, "", models + "v0/models/TxIdResponse.scala"},
	"GET v1/tokens":                                        {realTokens, tokens, ""},
	"GET v1/tokens/search":                                 {realFound, stamp, ""},
	"GET v1/tokens/bySymbol/*":                             {items(realToken), "", models + "v1/models/TokenInfo.scala"},
	"GET v1/tokens/*":                                      {realToken, network + "testData.ts: tokenApiResponse", ""},
	"GET v1/assets":                                        {items(decidedAsset), "", models + "v1/models/AssetInfo.scala"},
	"GET v1/assets/search/byTokenId":                       {items(decidedAsset), "", models + "v1/models/AssetInfo.scala"},
	"GET v1/info":                                          {realState, "ScorexFoundation/sigmastate-interpreter, sigma-js/tests/data/info.js", ""},
	"GET v1/networkState":                                  {realNetwork, watched + "networkStatus.json", ""},
	"GET v1/networkStats":                                  {`{"uniqueAddressesNum":1}`, "", models + "v1/models/NetworkStats.scala"},
	"GET v1/epochs/params":                                 {realParams, "", models + "v1/models/EpochInfo.scala"},
	"GET v0/transactions/unconfirmed":                      {items(realTx0 + "}"), mocks + "mockGetApiV0TransactionsUnconfirmed; a transaction: " + watcher + "unConfirmedTx", ""},
	"GET v0/transactions/unconfirmed/*":                    {realSummary0, watcher + "unConfirmedTx", ""},
	"GET v0/transactions/unconfirmed/byAddress/*":          {items(realTx0 + "}"), "", models + "v0/models/UTransactionInfo.scala"},
	"POST v0/transactions/send":                            {`{"id":"3ebc014bb19a5098820bef805f51dc3d61713003c8e2fae98e27e6e9d030e388"}`, "coinbarn/ergo-ts, tests/client.test.ts", ""},
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
			answertest.SameShape(t, operation, []byte(body), []byte(answer), "additionalRegisters", "spendingProof.extension", "fields")
		}
	})
}

// A client reads the stream of unconfirmed boxes: sigmao-bot/src/ergo-related/explorer.js of ThierryM1212/SigmaO at
// 0c5097509b29bf241ac84fb600b3e896cb403969 puts a comma between boxes where it finds this text, and brackets around all.
func TestAClientReadsTheStreamOfUnconfirmedBoxes(t *testing.T) {
	const between = `"spentTransactionId":null}{"boxId":`
	w := newWorld(t, "testnet")
	c := ergogen.New(ergogen.Options{Seed: testseed.Rand(t).Uint64(), TxsPerBlock: 8})
	w.Sync(t, 0, ergotest.Made(c, 10)...)
	w.Naive = w.Pend(t, c, 10)
	h := answertest.Recorded(t, ergoexplorer.New(ergoexplorer.Options{Chain: w.Chain, Path: path}))
	want := IDs(Filter(w.Fresh, func(b *Box) bool { return b.Pending == nil }))
	a := Ask(t, h, path+"/api/v1/mempool/boxes/unspent", "")
	var got []struct{ BoxID string }
	text := "[" + strings.ReplaceAll(a.Body, between, strings.Replace(between, "}{", "},{", 1)) + "]"
	if err := json.Unmarshal([]byte(text), &got); err != nil || len(got) != len(want) || len(want) < 2 {
		t.Errorf("%v: %d boxes, expected %d: %.500s", err, len(got), len(want), a.Body)
	}
}
