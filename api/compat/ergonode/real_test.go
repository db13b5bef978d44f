package ergonode_test

import (
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"birthmark/api/compat/answertest"
	. "birthmark/api/compat/boxes/boxestest"
	"birthmark/api/compat/ergonode"
	"birthmark/bench/generate/ergogen"
	"birthmark/internal/testnode/ergotest"
	"birthmark/internal/testseed"
)

// Answers of a node, recorded in packages/_test-vectors/nodeMocks.ts of fleet-sdk/fleet at
// 66c72077e51002dc1bd1d2c32e7aa384f61ad225, each shortened to one entry of a list. The box is mockGetBoxById with a
// register of another box there, the transaction and its data input are the first of mockTransactionList. The file does
// not name the version of the node: its mockNodeInfo is of a node 5.0.14-90 with the name ergo-mainnet-5.0.15.
// What later nodes add follows their source, ergoplatform/ergo 6.0.4: spendingProof (indexedBoxEncoder in
// ApiExtraCodecs.scala) and unparsedBytes (jsonEncoder in Header.scala).
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
	realHeader        = `{"extensionId":"66a6c3d35184fd0498a8adf289e7753c3064a7d1113d2493c4f86d037d0966e6","difficulty":"2097782286450688",
		"votes":"000000","timestamp":1698593168610,"size":220,"unparsedBytes":"",
		"stateRoot":"5b2cc1c64a4baf25f5bc28a86efe0d6ba6e1d9d460cb9673e4836a4893cf75f919","height":1123070,"nBits":117928940,
		"version":3,"id":"4b1023dfbc145a605e9c25944ef3745f44e4721ac7c85ee8ecea5d1d20e5705a",
		"adProofsRoot":"a91abbcfd3be2246adf87a3fe48b67328bd17df2fbc83df865568bfd7209789d",
		"transactionsRoot":"957768fbce400004be25809b6ffca881a8f0c105e44117613163d57a429f6c24",
		"extensionHash":"8a1f39f993a5d7f4ac1e80fbf4d22e0492dd450fa71a0636ee6c064f3e2b7f4a",
		"powSolutions":{"pk":"0274e729bb6615cbda94d9d176a2f1525068f12b330e38bbbf387232797dfd891f",
		"w":"0279be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798","n":"c7c900014f82143a","d":0},
		"adProofsId":"125e6a1d91a97f39646f10f81639b00092750a0c275ba50e2e900dfa731240d4",
		"transactionsId":"db92c5f94a13868d10c4fd1440fd5eaa068a507a8e344ec1622558278e117461",
		"parentId":"26cf5655d32cce0c4376c682e9b8b679c75f91e108dd6f51ac8d9005df1b7cd4"}`
	// The node writes fullBlocksScore without an exponent, which the recording in JavaScript has.
	realInfo = `{"currentTime":1698595733794,"network":"mainnet","name":"ergo-mainnet-5.0.15","stateType":"utxo",
		"difficulty":2218561061781504,"bestFullHeaderId":"5009ea3e85ff82e0013785f4adda6f39683ab660260011db5cffc575aa2a16a8",
		"bestHeaderId":"5009ea3e85ff82e0013785f4adda6f39683ab660260011db5cffc575aa2a16a8","peersCount":151,"unconfirmedCount":5,
		"appVersion":"5.0.14-90-2ddc123a-SNAPSHOT","eip37Supported":true,
		"stateRoot":"8250c6b0fe82d71a16250da1ed59c6ebf4937b0c67c265bf0767d450cac3f38d19",
		"genesisBlockId":"b0244dfc267baca974a4caee06120321562784303a8a688976ae56170e4d175b",
		"restApiUrl":"http://213.239.193.208:9053",
		"previousFullHeaderId":"604050c086a6b1e63045a1f9e43fa8958af116bca6e72bfe317dfc0582586155","fullHeight":1123102,
		"headersHeight":1123102,"stateVersion":"5009ea3e85ff82e0013785f4adda6f39683ab660260011db5cffc575aa2a16a8",
		"fullBlocksScore":2065969492859912527872,"maxPeerHeight":1123102,"launchTime":1698574947404,"isExplorer":true,
		"lastSeenMessageTime":1698595722441,"eip27Supported":true,"headersScore":2.0659694928599125e21,"parameters":{
		"outputCost":184,"tokenAccessCost":100,"maxBlockCost":8001091,"height":1122304,"maxBlockSize":1271009,
		"dataInputCost":100,"blockVersion":3,"inputCost":2407,"storageFeeFactor":1250000,"minValuePerByte":360},
		"isMining":true}`
	// The answer to "hello", which the node's own tests keep.
	hashOfHello = "324dcf027dd4a30a932c441f365a25e86b173defa4b8e58948253471b81b72cf"
	realID      = `"18b11ee7adbb1e2b837052d7f28df3c50ffb257c31447b051eac21b74780d842"` // mockPostTxSuccess

	// Of appkit/src/test/resources/mockwebserver/node_responses in ergoplatform/ergo-appkit: response_Box1.json with a token
	// and a register of others there, and the first transaction of response_mempool.json.
	realOutput = `{"boxId":"d47f958b201dc7162f641f7eb055e9fa7a9cb65cc24d4447a10f86675fc58328","value":1000000,
		"ergoTree":"0008cd036ba5cfbc03ea2471fdf02737f64dbcd58c34461a7ec1e586dcd713dacbf89a12","creationHeight":123142,
		"assets":[{"tokenId":"f446d4514eb48d62b84dc78c3458986abfb9cc56c04af1db5da5034ee9de5805","amount":1}],
		"additionalRegisters":{"R4":"0e00"},
		"transactionId":"f9e5ce5aa0d95f5d54a7bc89c46730d9662397067250aa18a0039631c0f5b809","index":0}`
	realInput = `{"boxId":"d47f958b201dc7162f641f7eb055e9fa7a9cb65cc24d4447a10f86675fc58328","spendingProof":{
		"proofBytes":"9f195a873f885fa88adfd0dbc00a4db047057ceab3afa07fc5dae3c9a185498643f1b2086a7d60b3dc8787ad79a55cc678cb5ca445cbeafc",
		"extension":{}}`
	realPlainTx = `{"id":"72b1ffcc5cb2684b832291927f0b52b845f9f740b81e3766cba22c51fc3aa42e","inputs":[` + realInput + `}],
		"dataInputs":[{"boxId":"97208a959a4acd6865a999eb3f4aa7c2fa50f079e709d2e488c18b445b67e8b7"}],
		"outputs":[` + realOutput + `],"size":344}`

	// testBlockProof of bindings/ergo-lib-ios/Tests/ErgoLibTests/MerkleProofTests.swift in ergoplatform/sigma-rust, whose
	// root is that of a block.
	realProof = `{"leafData":"563b34b96e65788d767a10b0c2ce4a9ef5dcb9f7f7919781624870d56506dc5b","levels":[
		["274d105b42c2da3e03519865470ccef5072d389b153535ca7192fef4abf3b3ed",0],
		["c1887cee0c42318ac04dfa93b8ef6b40c2b53a83b0e111f91a16b0842166e76e",0],
		["58be076cd9ef596a739ec551cbb6b467b95044c05a80a66a7f256d4ebafd787f",0]]}`
	// The part blockTransactions of block 540,000 in ergo-lib/src/chain/block.rs of ergoplatform/sigma-rust, shortened.
	// Block 700,000 of ergo-api/tests/fixtures/scala/blocks/700000.json in arkadianet/ergo has the same parts, and these.
	realBlockTxs = `{"headerId":"96911575efdceb082b974aa3042263be07632de48031aa2204d77d8d5a8240b8","transactions":[` + realPlainTx + `],
		"blockVersion":2,"size":381}`
	realBlock = `{"header":` + realHeader + `,"blockTransactions":` + realBlockTxs + `,"extension":{
		"headerId":"54dd49ffbb32d35d8d6c41f3b427c68ac3cec91f6718fb7a50ec0d18d36e982a",
		"digest":"590942e2d00951307770995267bfea1a77743fdef686a84b3b2fcd502a9f9457",
		"fields":[["0100","01b0244dfc267baca974a4caee06120321562784303a8a688976ae56170e4d175b"]]},"adProofs":null,"size":1332}`
	// test-vectors/api/emission/at_777217.json, scripts.json and test-vectors/mainnet/nipopow/proof_m6_k10.json there, the
	// latter with one header of each kind and one entry of each list.
	realEmission = `{"height":777217,"minerReward":51000000000,"totalCoinsIssued":56438259000000000,
		"totalRemainCoins":41301666000000000,"reemitted":12000000000}`
	realScripts = `{"emission":"2Z4YBkDsDvQj8BX7xiySFewjitqp2ge9c99jfes2whbtKitZTxdBYqbrVZUvZvKv6aqn9by4kp3LE1c26LCyosFnVnm6b6U1J",
		"reemission":"22WkKcVUvboYCZJe1urbmvBL3j67LKb5KEAvFhJXqA6ubYvHpSCvbvwvEY3xzUr7QvxpEtqjzMAPMsVdZh1VGWmZphvKoJdVzL1a",
		"pay2Reemission":"6KxusedL87PBibr1t1f4ggzAyTAmWEPqSpqXbkdoybNwHVw5Nb7cUESBmQw5XK8TyvbQiueyqkR9XMNaUgpWx3jT54p"}`
	realPoPow = `{"continuous":true,"k":10,"m":6,"prefix":[` + recordedPoPow + `],"suffixHead":` + recordedPoPow + `,
		"suffixTail":[` + realHeader + `]}`
	// test-vectors/mainnet/boxes_recent.json there.
	realBytes = `{"boxId":"3678d0690454348a43cfdd35f72ec426da16749b8188a2129d264c691257297a",
		"bytes":"80acc7f037100204a00b08cd02eeec374f4e660e117fccbfec79e6fe5cdf44ac508fa228bfc654d2973f9bdc9aea02d192a39a8cc7a70173007301"}`
)

// Nodes since 6.0.1 add the spent boxes to the inputs of unconfirmed transactions.
var (
	realSpent     = realInput + "," + realOutput[strings.Index(realOutput, `"value"`):]
	realPendingTx = strings.Replace(realPlainTx, realInput+"}", realSpent, 1)
)

// passedOn are answers of a node to requests that this server passes on, by operation. Numbers and ids without another
// source are of openapi.yaml.
var passedOn = map[string]string{
	"GET blocks/*":                      realBlock,
	"GET blocks/modifier/*":             realHeader,
	"POST blocks/headerIds":             listed(realBlock),
	"GET transactions/poolHistogram":    `[{"nTxns":1,"totalFee":1000000}]`,
	"GET transactions/getFee":           "437636",
	"GET transactions/waitTime":         "10700421007",
	"POST transactions":                 realID,
	"POST transactions/bytes":           realID,
	"POST transactions/check":           realID,
	"POST transactions/checkBytes":      realID,
	"GET emission/at/*":                 realEmission,
	"GET emission/scripts":              realScripts,
	"GET nipopow/popowHeaderById/*":     recordedPoPow,
	"GET nipopow/popowHeaderByHeight/*": recordedPoPow,
	"GET nipopow/proof/*/*":             realPoPow,
	"GET utils/seed":                    `"83375fd213cfd7dfd984ce1901d62c302a1db53160b416674c8da1a393a6bbc316"`,
}

// answerAsRecorded is a fault of the test node: it answers requests that are passed on with passedOn, and /info with
// realInfo.
func answerAsRecorded(r *http.Request, a *ergotest.Answer) {
	path := strings.TrimPrefix(r.URL.Path, "/")
	if path == "info" {
		a.Body = []byte(strings.Replace(realInfo, `"mainnet"`, `"testnet"`, 1))
	}
	for operation, answer := range passedOn {
		method, pattern, _ := strings.Cut(operation, " ")
		if method == r.Method && strings.ReplaceAll(pattern, "*", strings.Repeat("0", 64)) == path {
			a.Status, a.Body = http.StatusOK, []byte(answer)
		}
	}
}

// original is an answer of the original program to an operation. One field has its source.
type original struct {
	answer   string
	recorded string // a recording of this operation
	tested   string // a test of the original for it; the answer has the form of a recording
	// The source of its form, if neither is known. Looked at: the clients of Fleet, Nautilus, Minotaur, Rosen, Spectrum,
	// appkit, sigma-rust, ErgoMixer, oracle-core, Argus and Citadel; the nodes in Rust of arkadianet and mwaddip, whose
	// tests of these operations have made-up answers; ErgoDocs, ergo-mcp and issues of ergoplatform/ergo.
	decided string
}

const (
	fleet    = "fleet-sdk/fleet, packages/_test-vectors/nodeMocks.ts: "
	appkit   = "ergoplatform/ergo-appkit, appkit/src/test/resources/mockwebserver/node_responses: "
	rosen    = "rosen-bridge/guard-service, packages/networks/ergo-node/tests/testData.ts: "
	rosenTx  = "rosen-bridge/guard-service, packages/networks/ergo-node/tests/mocked/ergoNodeClient.mock.ts: "
	rosenFee = "rosen-bridge/utils, packages/boxes/minimum-fee/tests/testData.ts: "
	exle     = "SavonarolaLabs/exle-svelte, src/lib/exle/allMetadata.mockdata.ts: "
	exleTx   = "SavonarolaLabs/exle-svelte, src/lib/exle/exleTx.mockdata.ts: "
	rust     = "arkadianet/ergo, " // a node in Rust whose tests compare it with recordings of the node
	node     = "ergoplatform/ergo 6.0.4, "
	specs    = node + "src/test/scala/org/ergoplatform/http/routes/"
	txSpec   = specs + "TransactionApiRouteSpec.scala: "
	utxoSpec = specs + "UtxoApiRouteSpec.scala: "
	utilSpec = specs + "UtilsApiRouteSpec.scala: "
	extra    = node + "ApiExtraCodecs.scala: "
	routes   = node + "src/main/scala/org/ergoplatform/http/api/"
	// openAPI has examples of values.
	openAPI = node + "src/main/resources/api/openapi.yaml: "
)

func listed(item string) string { return "[" + item + "]" }

func counted(item string) string { return `{"items":[` + item + `],"total":3737}` }

// originals are the answers by operation.
var originals = map[string]original{
	"GET blockchain/indexedHeight":                      {answer: realIndexedHeight, recorded: fleet + "mockIndexedHeight"},
	"GET blockchain/block/byHeaderId/*":                 {answer: realIndexedBlock, decided: extra + "indexedBlockEncoder"},
	"POST blockchain/block/byHeaderIds":                 {answer: listed(recordedIndexedBlock), recorded: "Lithos-Protocol/Lithos-Client, test/resources/node/indexed_blocks_by_header_ids.json"},
	"GET blockchain/transaction/byId/*":                 {answer: realTx, recorded: fleet + "mockTransactionList; " + rust + "test-vectors/extra-index/heights_1_200.json"},
	"GET blockchain/transaction/byIndex/*":              {answer: realTx, recorded: rust + "test-vectors/extra-index/heights_1_200.json"},
	"GET blockchain/transaction/byAddress/*":            {answer: counted(realTx), decided: extra + "indexedTxSeqEncoder"},
	"POST blockchain/transaction/byAddress":             {answer: counted(realTx), recorded: fleet + "mockTransactionList; SavonarolaLabs/ergofi, src/data/history.ts"},
	"GET blockchain/transaction/range":                  {answer: listed(realID), decided: openAPI + "getTxRange, a documented example"},
	"GET blockchain/box/byId/*":                         {answer: realBox, recorded: fleet + "mockGetBoxById; " + rust + "test-vectors/extra-index/heights_1_200.json"},
	"GET blockchain/box/byIndex/*":                      {answer: realBox, recorded: rust + "test-vectors/extra-index/heights_1_200.json"},
	"GET blockchain/box/range":                          {answer: listed(realID), decided: openAPI + "getBoxRange, a documented example"},
	"GET blockchain/box/byAddress/*":                    {answer: counted(realBox), decided: extra + "indexedBoxSeqEncoder"},
	"POST blockchain/box/byAddress":                     {answer: counted(realBox), decided: extra + "indexedBoxSeqEncoder"},
	"POST blockchain/box/byErgoTree":                    {answer: counted(realBox), decided: extra + "indexedBoxSeqEncoder"},
	"GET blockchain/box/unspent/byAddress/*":            {answer: listed(realBox), decided: extra + "indexedBoxEncoder"},
	"POST blockchain/box/unspent/byAddress":             {answer: listed(realBox), recorded: fleet + "mockUTXOByAddress; " + rosen + "testAddressBoxes"},
	"POST blockchain/box/unspent/byErgoTree":            {answer: listed(realBox), recorded: exle + "repaymentBoxes"},
	"GET blockchain/box/byTemplateHash/*":               {answer: counted(realBox), decided: extra + "indexedBoxSeqEncoder"},
	"GET blockchain/box/unspent/byTemplateHash/*":       {answer: listed(realBox), decided: extra + "indexedBoxEncoder"},
	"GET blockchain/box/byTokenId/*":                    {answer: counted(realBox), recorded: exleTx + "exleMockBoxesByTokenId"},
	"GET blockchain/box/unspent/byTokenId/*":            {answer: listed(realBox), recorded: rosenFee + "nodeTestBoxes; " + exleTx + "exleUnspendWithRepaymentToken"},
	"GET blockchain/token/byId/*":                       {answer: realToken, recorded: fleet + "mockTokenInfo; " + rosen + "tokenApiResponse"},
	"POST blockchain/tokens":                            {answer: listed(realToken), decided: extra + "IndexedTokenEncoder"},
	"POST blockchain/balance":                           {answer: `{"confirmed":` + realBalances + `,"unconfirmed":` + realBalances + `}`, recorded: fleet + "mockGetBalance"},
	"GET blockchain/balanceForAddress/*":                {answer: `{"confirmed":` + realBalances + `,"unconfirmed":` + realBalances + `}`, decided: extra + "BalanceInfoEncoder"},
	"GET blocks":                                        {answer: listed(realID), tested: specs + "BlocksApiRouteSpec.scala: get last blocks"},
	"GET blocks/at/*":                                   {answer: listed(realID), recorded: rust + "ergo-api/tests/fixtures/scala/blocks_at/700000.json"},
	"GET blocks/*/header":                               {answer: realHeader, recorded: "ergoplatform/sigma-rust, ergo-lib/src/chain/block.rs: the header; " + rust + "test-vectors/scripts/extract_headers.sh"},
	"GET blocks/*/transactions":                         {answer: realBlockTxs, recorded: "ergoplatform/sigma-rust, ergo-lib/src/chain/block.rs: blockTransactions; " + rust + "test-vectors/mainnet/scala_tx_json"},
	"GET blocks/*/proofFor/*":                           {answer: realProof, recorded: rust + "test-vectors/mainnet/proof_for_tx"},
	"GET blocks/lastHeaders/*":                          {answer: listed(realHeader), recorded: fleet + "mockLastHeaders; " + appkit + "response_LastHeaders.json"},
	"GET blocks/chainSlice":                             {answer: listed(realHeader), recorded: rust + "test-vectors/mainnet/scala_chainslice"},
	"GET utxo/byId/*":                                   {answer: realOutput, recorded: appkit + "response_Box1.json"},
	"GET utxo/byIdBinary/*":                             {answer: realBytes, recorded: rust + "test-vectors/mainnet/boxes_recent.json"},
	"GET utxo/withPool/byId/*":                          {answer: realOutput, tested: utxoSpec + "get mempool box with withPool/byId"},
	"GET utxo/withPool/byIdBinary/*":                    {answer: realBytes, tested: utxoSpec + "get pool box with /withPool/byIdBinary"},
	"POST utxo/withPool/byIds":                          {answer: listed(realOutput), tested: utxoSpec + "get all mempool boxes with withPool/byIds"},
	"GET utxo/genesis":                                  {answer: listed(realOutput), recorded: rust + "test-vectors/mainnet/genesis_boxes.json"},
	"GET transactions/unconfirmed":                      {answer: listed(realPendingTx), recorded: appkit + "response_mempool.json"},
	"GET transactions/unconfirmed/transactionIds":       {answer: listed(realID), decided: openAPI + "getUnconfirmedTransactionIds"},
	"GET transactions/unconfirmed/byTransactionId/*":    {answer: realPendingTx, tested: txSpec + "return unconfirmed tx by id from mempool"},
	"POST transactions/unconfirmed/byTransactionIds":    {answer: listed(realID), decided: routes + "TransactionsApiRoute.scala: getUnconfirmedTxsByIdsR"},
	"POST transactions/unconfirmed/byErgoTree":          {answer: listed(realPendingTx), tested: txSpec + "return unconfirmed tx by output ergoTree from mempool"},
	"GET transactions/unconfirmed/inputs/byBoxId/*":     {answer: realSpent, tested: txSpec + "return unconfirmed input by boxId from mempool"},
	"GET transactions/unconfirmed/outputs/byBoxId/*":    {answer: realOutput, tested: txSpec + "return unconfirmed output by boxId from mempool"},
	"POST transactions/unconfirmed/outputs/byErgoTree":  {answer: listed(realOutput), tested: txSpec + "return unconfirmed output by ergoTree from mempool"},
	"GET transactions/unconfirmed/outputs/byTokenId/*":  {answer: listed(realOutput), tested: txSpec + "return unconfirmed output by tokenId from mempool"},
	"POST transactions/unconfirmed/outputs/byRegisters": {answer: listed(realOutput), tested: txSpec + "return unconfirmed outputs by exact same registers"},
	"HEAD transactions/unconfirmed/*":                   {answer: "", tested: txSpec + "return 200 if unconfirmed tx is present"},
	"GET info":                                          {answer: realInfo, recorded: fleet + "mockNodeInfo; " + appkit + "response_NodeInfo.json"},
	"GET blocks/*":                                      {answer: passedOn["GET blocks/*"], recorded: rust + "ergo-api/tests/fixtures/scala/blocks/700000.json"},
	"GET blocks/modifier/*":                             {answer: passedOn["GET blocks/modifier/*"], decided: routes + "BlocksApiRoute.scala: getModifierByIdR"},
	"POST blocks/headerIds":                             {answer: passedOn["POST blocks/headerIds"], recorded: rust + "test-vectors/mainnet/scala_headerids/blocks_1000000_1000004.json"},
	"GET transactions/poolHistogram":                    {answer: passedOn["GET transactions/poolHistogram"], decided: openAPI + "FeeHistogramBin"},
	"GET transactions/getFee":                           {answer: passedOn["GET transactions/getFee"], recorded: "ergoplatform/ergo issue 1884"},
	"GET transactions/waitTime":                         {answer: passedOn["GET transactions/waitTime"], recorded: "ergoplatform/ergo issue 1884"},
	"POST transactions":                                 {answer: realID, recorded: fleet + "mockPostTxSuccess"},
	"POST transactions/bytes":                           {answer: realID, recorded: rosenTx + "mockSendTransactionAsBytes"},
	"POST transactions/check":                           {answer: realID, tested: txSpec + "check transaction"},
	"POST transactions/checkBytes":                      {answer: realID, decided: openAPI + "checkTransactionAsBytes, a documented example"},
	"GET emission/at/*":                                 {answer: realEmission, recorded: rust + "test-vectors/api/emission/at_777217.json"},
	"GET emission/scripts":                              {answer: realScripts, recorded: rust + "test-vectors/api/emission/scripts.json"},
	"GET nipopow/popowHeaderById/*":                     {answer: recordedPoPow, recorded: rust + "test-vectors/mainnet/nipopow/popowHeaderById_h1000.json"},
	"GET nipopow/popowHeaderByHeight/*":                 {answer: recordedPoPow, recorded: rust + "test-vectors/mainnet/nipopow/popowHeaderByHeight_1000.json"},
	"GET nipopow/proof/*/*":                             {answer: realPoPow, recorded: rust + "test-vectors/mainnet/nipopow/proof_m6_k10.json"},
	"GET utils/seed":                                    {answer: passedOn["GET utils/seed"], decided: openAPI + "getRandomSeed, a documented example"},
	"GET script/addressToTree/*":                        {answer: `{"tree":"0008cd"}`, recorded: rust + "ergo-api/tests/script_address_routes.rs"},
	"GET script/addressToBytes/*":                       {answer: `{"bytes":"0e24"}`, recorded: rust + "ergo-api/tests/script_address_routes.rs"},
	"GET utils/address/*":                               {answer: `{"address":"9g","isValid":true}`, tested: utilSpec + "validate correct p2pk address"},
	"POST utils/address":                                {answer: `{"address":"9g","isValid":true}`, decided: routes + "ErgoUtilsApiRoute.scala: AddressValidationRequest"},
	"GET utils/addressToRaw/*":                          {answer: `{"raw":"02"}`, tested: utilSpec + "do correct raw/address roundtrip (p2pk)"},
	"GET utils/rawToAddress/*":                          {answer: `{"address":"9g"}`, tested: utilSpec + "do correct raw/address roundtrip (p2pk)"},
	"GET utils/ergoTreeToAddress/*":                     {answer: `{"address":"9g"}`, tested: utilSpec + "derive address from ErgoTree (p2pk)"},
	"POST utils/ergoTreeToAddress":                      {answer: `{"address":"9g"}`, decided: routes + "ErgoUtilsApiRoute.scala: ergoTreeToAddressR"},
	"POST utils/hash/blake2b":                           {answer: `"` + hashOfHello + `"`, recorded: node + "src/it/resources/devnetTemplate.conf: apiKeyHash"},
}

const realIndexedBlock = `{"header":` + realHeader + `,"transactions":[` + realTx + `],"height":1123070,"size":8486}`

// Block 500,001 of the public test network, recorded in test/resources/node/indexed_blocks_by_header_ids.json of
// Lithos-Protocol/Lithos-Client at 784aea97fb23b360e0b042426121f35f51cec81b, without the second block, the first output of
// the transaction and the ends of the tree and the address of the input.
const recordedIndexedBlock = `{"header":{"extensionId":"2a7fd04bbc57d49f98d766b777f71db0e485af14f80341f64666056dd02381ef",
	"difficulty":"22850830336","votes":"000000","timestamp":1787439609386,"size":221,"unparsedBytes":"",
	"stateRoot":"86d08c5235e99aa1c3c5097fc92739093b6a78064eb150d0de30e64e20dff10d17","height":500001,
	"nBits":84234756,"version":4,"id":"643a2573cb9dadcba6abe1ceb854665abcaf89102f909ec6368c2fa51dad0e44",
	"adProofsRoot":"4cae530b821e575d961c3633eac571ce28ec64f5b076407b3c3d7e8cb91d51dd",
	"transactionsRoot":"abfb7d59bbf53a1e475111f6dd1539b53d58e5815691f920a74dfed824b3c1bc",
	"extensionHash":"0b10bd3a2272a9e19f5ff121e8ebc2d80fa42c4d629dade97e7d6488fa2933bf",
	"powSolutions":{"pk":"02339b416a576ed390679cd7372902f04a442177ef067ee223036d5864b98a26cb",
	"w":"0279be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798","n":"00025325d613c031","d":0},
	"adProofsId":"450f782b62d6776d841b268da1950b41ebd7578a8014c3a3e95077f61f4e826d",
	"transactionsId":"4dad0240cc08c40656b4971f341872d6e40a8caa44af772e8ea6e9d04cfbb135",
	"parentId":"9b0c88420817f7db9b99e6a72293662ee9ab8ecf4bff8e687bbb792b7a3a7b38"},
	"transactions":[{"id":"82718c1bc19692c9cc24d5c2381944d84f6b715c8852f05db8b7fb284b93ec6f",
	"blockId":"643a2573cb9dadcba6abe1ceb854665abcaf89102f909ec6368c2fa51dad0e44","inclusionHeight":500001,
	"timestamp":1787439609386,"index":0,"globalIndex":1468297,"numConfirmations":8079,
	"inputs":[{"globalIndex":3637724,"inclusionHeight":500000,"address":"AfYgQf5PappexLPvSSvtQZQQ1UdAi1LyHrdvMxHv",
	"spentTransactionId":"82718c1bc19692c9cc24d5c2381944d84f6b715c8852f05db8b7fb284b93ec6f",
	"spendingProof":{"proofBytes":"","extension":{}},
	"boxId":"b7566d8a7c023456df2f93ebf3bfa2b63293138158c6f7a5bf7b2359a8eb289f","value":59659267500000000,
	"ergoTree":"101004020e36100204a00b08cd0279be667ef9dc","assets":[],"creationHeight":500000,
	"additionalRegisters":{},"transactionId":"6ca775ea61e7fb8b5d374d3e681ecb05c21bd05611192fed2739a75bf307737a",
	"index":0}],"dataInputs":[],"outputs":[{"globalIndex":3637727,"inclusionHeight":500001,
	"address":"mPdcmWTSJ6EDQsZVVnuFXwtfMPnhDTULmdyZwZMhXbgRLmSYtN4y1SvQUKJccRJvaRr8eVtunCSZTM3X",
	"spentTransactionId":null,"spendingProof":null,
	"boxId":"aa004703402c36a0c9704dc68d122f1c0f16361419d132329acd846cd1c9f2ec","value":67500000000,
	"ergoTree":"100204a00b08cd02339b416a576ed390679cd7372902f04a442177ef067ee223036d5864b98a26cbea02d192a39a8cc7a70173007301",
	"assets":[],"creationHeight":500001,"additionalRegisters":{},
	"transactionId":"82718c1bc19692c9cc24d5c2381944d84f6b715c8852f05db8b7fb284b93ec6f","index":1}],"size":344}],
	"height":500001,"size":381}`

// Every operation has an answer of the node, with whose keys and types the server answers.
func TestEveryOperationHasARealAnswer(t *testing.T) {
	w := newWorld(t, "testnet")
	rng := testseed.Rand(t)
	c := ergogen.New(ergogen.Options{Seed: rng.Uint64(), TxsPerBlock: 8})
	w.Sync(t, 0, ergotest.Made(c, 25)...)
	w.model(w.Pend(t, c, 10))
	w.Node.Break(answerAsRecorded)
	operations := ergonode.Operations()
	for operation, o := range originals {
		if !slices.Contains(operations, operation) {
			t.Errorf("%s is no operation", operation)
		}
		if sources := slices.DeleteFunc([]string{o.recorded, o.tested, o.decided}, func(s string) bool { return s == "" }); len(sources) != 1 {
			t.Errorf("%s: expected a recording, a test of the node or a source that decides: %q", operation, sources)
		}
	}
	for _, operation := range operations {
		if _, ok := originals[operation]; !ok {
			t.Errorf("%s has no answer of the node", operation)
		}
	}
	open := []string{"additionalRegisters", "spendingProof.extension"}
	w.requests(rng, 4).Verify(t, w, path, operations, func(operation string, q Request, body string) {
		if answer := originals[operation].answer; answer != "" {
			answertest.SameShape(t, operation, levels(body), levels(answer), open...)
		}
	})
}

// levels makes objects of the pairs in a Merkle proof.
func levels(answer string) []byte {
	return []byte(pair.ReplaceAllString(answer, `{"hash":$1,"side":$2}`))
}

var pair = regexp.MustCompile(`\[("[0-9a-f]*"),([01])\]`)

// Values of an answer that do not depend on the chain are those of the node: the address and the tree of mockGetBoxById.
func TestRealAddresses(t *testing.T) {
	const address, key = "9g16ZMPo22b3qaRL7HezyQt2HSW2ZBF6YR3WW9cYQjgQwYKxxoT", "02c35a808c1c713fc1ae169e33da7492eee8f913a2045a7d56a3ca3103b5525ff3"
	w := newWorld(t, "mainnet")
	for target, want := range map[string]map[string]any{
		"/script/addressToTree/" + address:           {"tree": "0008cd" + key},
		"/script/addressToBytes/" + address:          {"bytes": "0e240008cd" + key},
		"/utils/addressToRaw/" + address:             {"raw": key},
		"/utils/rawToAddress/" + key:                 {"address": address},
		"/utils/ergoTreeToAddress/" + "0008cd" + key: {"address": address},
		"/utils/address/" + address:                  {"address": address, "isValid": true},
	} {
		Same(t, w, path+target, "", want)
	}
}

// Numbers of the node's /info that exceed 64 bits, or have an exponent, are passed on as the node writes them.
func TestInfoKeepsNumbersOfTheNode(t *testing.T) {
	w := newWorld(t, "testnet")
	w.Sync(t, 0, ergotest.Made(ergogen.New(ergogen.Options{Seed: 6, TxsPerBlock: 2}), 3)...)
	for node, want := range map[string]string{
		"1123102": `"headersHeight":1123102`, "1.1231e6": `"headersHeight":1.1231e6`, "2": `"headersHeight":3`, "2e0": `"headersHeight":3`,
		"null": `"headersHeight":3`, `"3"`: `"headersHeight":3`,
	} {
		w.Node.Break(func(r *http.Request, a *ergotest.Answer) {
			if r.URL.Path == "/info" {
				a.Body = []byte(strings.Replace(realInfo, `"headersHeight":1123102`, `"headersHeight":`+node, 1))
			}
		})
		body := Ask(t, w, path+"/info", "").Body
		for _, part := range []string{`"fullBlocksScore":2065969492859912527872`, `"headersScore":2.0659694928599125e21`, want, `"fullHeight":3`} {
			if !strings.Contains(body, part) {
				t.Errorf("with headersHeight %s the answer lacks %s: %s", node, part, body)
			}
		}
	}
}
