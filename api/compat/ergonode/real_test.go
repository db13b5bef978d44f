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
	realID = `"18b11ee7adbb1e2b837052d7f28df3c50ffb257c31447b051eac21b74780d842"` // mockPostTxSuccess

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
	realBlockTxs = `{"headerId":"96911575efdceb082b974aa3042263be07632de48031aa2204d77d8d5a8240b8","transactions":[` + realPlainTx + `],
		"blockVersion":2,"size":381}`
)

// Nodes since 6.0.1 add the spent boxes to the inputs of unconfirmed transactions.
var (
	realSpent     = realInput + "," + realOutput[strings.Index(realOutput, `"value"`):]
	realPendingTx = strings.Replace(realPlainTx, realInput+"}", realSpent, 1)
)

// passedOn are answers of a node to requests that this server passes on, by operation.
var passedOn = map[string]string{
	"GET blocks/*":                      `{"header":` + realHeader + `,"blockTransactions":` + realBlockTxs + `,"adProofs":null,"size":601}`,
	"GET blocks/modifier/*":             realHeader,
	"POST blocks/headerIds":             `[{"header":` + realHeader + `}]`,
	"GET transactions/poolHistogram":    `[{"nTxns":1,"totalFee":1000000}]`,
	"GET transactions/getFee":           "1000000",
	"GET transactions/waitTime":         "120000",
	"POST transactions":                 realID,
	"POST transactions/bytes":           realID,
	"POST transactions/check":           realID,
	"POST transactions/checkBytes":      realID,
	"GET emission/at/*":                 `{"height":1,"minerReward":67500000000,"totalCoinsIssued":75000000000,"totalRemainCoins":97739850000000000,"reemitted":0}`,
	"GET emission/scripts":              `{"emission":"2Z4Y","reemission":"22Wk","pay2Reemission":"6KxU"}`,
	"GET nipopow/popowHeaderById/*":     `{"header":` + realHeader + `,"interlinks":[],"interlinksProof":{"indices":[],"proofs":[]}}`,
	"GET nipopow/popowHeaderByHeight/*": `{"header":` + realHeader + `,"interlinks":[],"interlinksProof":{"indices":[],"proofs":[]}}`,
	"GET nipopow/proof/*/*":             `{"m":1,"k":1,"prefix":[],"suffixHead":{},"suffixTail":[],"continuous":true}`,
	"GET utils/seed":                    `"83375fd213cfd7dfd984ce1901d62c302a1db53160b416674c8da1a393a6cfa1"`,
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

// original is an answer of the original program to an operation: a recorded one, or one whose form is decided by the
// source if none is known.
type original struct {
	answer            string
	recorded, decided string // the recording of this operation; or the source of its form
}

const (
	fleet   = "fleet-sdk/fleet, packages/_test-vectors/nodeMocks.ts: "
	appkit  = "ergoplatform/ergo-appkit, appkit/src/test/resources/mockwebserver/node_responses: "
	rosen   = "rosen-bridge/guard-service, packages/networks/ergo-node/tests/testData.ts: "
	rust    = "ergoplatform/sigma-rust, "
	extra   = "ergoplatform/ergo 6.0.4, ApiExtraCodecs.scala: "
	routes  = "ergoplatform/ergo 6.0.4, src/main/scala/org/ergoplatform/http/api/"
	openAPI = "ergoplatform/ergo 6.0.4, src/main/resources/api/openapi.yaml: "
)

func listed(item string) string { return "[" + item + "]" }

func counted(item string) string { return `{"items":[` + item + `],"total":3737}` }

// originals are the answers by operation.
var originals = map[string]original{
	"GET blockchain/indexedHeight":                      {realIndexedHeight, fleet + "mockIndexedHeight", ""},
	"GET blockchain/block/byHeaderId/*":                 {realIndexedBlock, "", extra + "indexedBlockEncoder"},
	"POST blockchain/block/byHeaderIds":                 {listed(realIndexedBlock), "", extra + "indexedBlockEncoder"},
	"GET blockchain/transaction/byId/*":                 {realTx, fleet + "mockTransactionList", ""},
	"GET blockchain/transaction/byIndex/*":              {realTx, "", extra + "indexedTxEncoder"},
	"GET blockchain/transaction/byAddress/*":            {counted(realTx), "", extra + "indexedTxSeqEncoder"},
	"POST blockchain/transaction/byAddress":             {counted(realTx), fleet + "mockTransactionList", ""},
	"GET blockchain/transaction/range":                  {listed(realID), "", openAPI + "getTxRange"},
	"GET blockchain/box/byId/*":                         {realBox, fleet + "mockGetBoxById", ""},
	"GET blockchain/box/byIndex/*":                      {realBox, "", extra + "indexedBoxEncoder"},
	"GET blockchain/box/range":                          {listed(realID), "", openAPI + "getBoxRange"},
	"GET blockchain/box/byAddress/*":                    {counted(realBox), "", extra + "indexedBoxSeqEncoder"},
	"POST blockchain/box/byAddress":                     {counted(realBox), "", extra + "indexedBoxSeqEncoder"},
	"POST blockchain/box/byErgoTree":                    {counted(realBox), "", extra + "indexedBoxSeqEncoder"},
	"GET blockchain/box/unspent/byAddress/*":            {listed(realBox), "", extra + "indexedBoxEncoder"},
	"POST blockchain/box/unspent/byAddress":             {listed(realBox), fleet + "mockUTXOByAddress; " + rosen + "testAddressBoxes", ""},
	"POST blockchain/box/unspent/byErgoTree":            {listed(realBox), "", extra + "indexedBoxEncoder"},
	"GET blockchain/box/byTemplateHash/*":               {counted(realBox), "", extra + "indexedBoxSeqEncoder"},
	"GET blockchain/box/unspent/byTemplateHash/*":       {listed(realBox), "", extra + "indexedBoxEncoder"},
	"GET blockchain/box/byTokenId/*":                    {counted(realBox), "", extra + "indexedBoxSeqEncoder"},
	"GET blockchain/box/unspent/byTokenId/*":            {listed(realBox), "", extra + "indexedBoxEncoder"},
	"GET blockchain/token/byId/*":                       {realToken, fleet + "mockTokenInfo; " + rosen + "tokenApiResponse", ""},
	"POST blockchain/tokens":                            {listed(realToken), "", extra + "IndexedTokenEncoder"},
	"POST blockchain/balance":                           {`{"confirmed":` + realBalances + `,"unconfirmed":` + realBalances + `}`, fleet + "mockGetBalance", ""},
	"GET blockchain/balanceForAddress/*":                {`{"confirmed":` + realBalances + `,"unconfirmed":` + realBalances + `}`, "", extra + "BalanceInfoEncoder"},
	"GET blocks":                                        {listed(realID), "", routes + "BlocksApiRoute.scala: getBlocksR"},
	"GET blocks/at/*":                                   {listed(realID), "", routes + "BlocksApiRoute.scala: getBlocksAtHeightR"},
	"GET blocks/*/header":                               {realHeader, rust + "ergo-lib/src/chain/block.rs: the header", ""},
	"GET blocks/*/transactions":                         {realBlockTxs, rust + "ergo-lib/src/chain/block.rs: blockTransactions", ""},
	"GET blocks/*/proofFor/*":                           {realProof, rust + "bindings/ergo-lib-ios/Tests/ErgoLibTests/MerkleProofTests.swift: testBlockProof", ""},
	"GET blocks/lastHeaders/*":                          {listed(realHeader), fleet + "mockLastHeaders; " + appkit + "response_LastHeaders.json", ""},
	"GET blocks/chainSlice":                             {listed(realHeader), "", routes + "BlocksApiRoute.scala: getChainSliceR"},
	"GET utxo/byId/*":                                   {realOutput, appkit + "response_Box1.json", ""},
	"GET utxo/byIdBinary/*":                             {`{"boxId":` + realID + `,"bytes":"80"}`, "", routes + "UtxoApiRoute.scala: byIdBinary"},
	"GET utxo/withPool/byId/*":                          {realOutput, "", routes + "UtxoApiRoute.scala: withPoolById"},
	"GET utxo/withPool/byIdBinary/*":                    {`{"boxId":` + realID + `,"bytes":"80"}`, "", routes + "UtxoApiRoute.scala: withPoolByIdBinary"},
	"POST utxo/withPool/byIds":                          {listed(realOutput), "", routes + "UtxoApiRoute.scala: withPoolByIds"},
	"GET utxo/genesis":                                  {listed(realOutput), "", routes + "UtxoApiRoute.scala: genesis"},
	"GET transactions/unconfirmed":                      {listed(realPendingTx), appkit + "response_mempool.json", ""},
	"GET transactions/unconfirmed/transactionIds":       {listed(realID), "", openAPI + "getUnconfirmedTransactionIds"},
	"GET transactions/unconfirmed/byTransactionId/*":    {realPendingTx, "", routes + "TransactionsApiRoute.scala: createTransactionWithResolvedInputs"},
	"POST transactions/unconfirmed/byTransactionIds":    {listed(realID), "", routes + "TransactionsApiRoute.scala: getUnconfirmedTxsByIdsR"},
	"POST transactions/unconfirmed/byErgoTree":          {listed(realPendingTx), "", routes + "TransactionsApiRoute.scala: getUnconfirmedTxsByErgoTreeR"},
	"GET transactions/unconfirmed/inputs/byBoxId/*":     {realSpent, "", routes + "TransactionsApiRoute.scala: getUnconfirmedInputByBoxIdR"},
	"GET transactions/unconfirmed/outputs/byBoxId/*":    {realOutput, "", routes + "TransactionsApiRoute.scala: getUnconfirmedOutputByBoxIdR"},
	"POST transactions/unconfirmed/outputs/byErgoTree":  {listed(realOutput), "", routes + "TransactionsApiRoute.scala: getUnconfirmedOutputsByErgoTreeR"},
	"GET transactions/unconfirmed/outputs/byTokenId/*":  {listed(realOutput), "", routes + "TransactionsApiRoute.scala: getUnconfirmedOutputsByTokenIdR"},
	"POST transactions/unconfirmed/outputs/byRegisters": {listed(realOutput), "", routes + "TransactionsApiRoute.scala: getUnconfirmedTxsByRegistersR"},
	"HEAD transactions/unconfirmed/*":                   {"", "", routes + "TransactionsApiRoute.scala: unconfirmedContainsR"},
	"GET info":                                          {realInfo, fleet + "mockNodeInfo; " + appkit + "response_NodeInfo.json", ""},
	"GET blocks/*":                                      {passedOn["GET blocks/*"], rust + "ergo-lib/src/chain/block.rs", ""},
	"GET blocks/modifier/*":                             {passedOn["GET blocks/modifier/*"], "", routes + "BlocksApiRoute.scala: getModifierByIdR"},
	"POST blocks/headerIds":                             {passedOn["POST blocks/headerIds"], "", routes + "BlocksApiRoute.scala: getFullBlockByHeaderIdsR"},
	"GET transactions/poolHistogram":                    {passedOn["GET transactions/poolHistogram"], "", openAPI + "FeeHistogramBin"},
	"GET transactions/getFee":                           {passedOn["GET transactions/getFee"], "", openAPI + "getRecommendedFee"},
	"GET transactions/waitTime":                         {passedOn["GET transactions/waitTime"], "", openAPI + "getExpectedWaitTime"},
	"POST transactions":                                 {realID, fleet + "mockPostTxSuccess", ""},
	"POST transactions/bytes":                           {realID, "", openAPI + "sendTransactionAsBytes"},
	"POST transactions/check":                           {realID, "", openAPI + "checkTransaction"},
	"POST transactions/checkBytes":                      {realID, "", openAPI + "checkTransactionAsBytes"},
	"GET emission/at/*":                                 {passedOn["GET emission/at/*"], "", routes + "EmissionApiRoute.scala: EmissionInfo"},
	"GET emission/scripts":                              {passedOn["GET emission/scripts"], "", routes + "EmissionApiRoute.scala: scripts"},
	"GET nipopow/popowHeaderById/*":                     {passedOn["GET nipopow/popowHeaderById/*"], "", openAPI + "PopowHeader"},
	"GET nipopow/popowHeaderByHeight/*":                 {passedOn["GET nipopow/popowHeaderByHeight/*"], "", openAPI + "PopowHeader"},
	"GET nipopow/proof/*/*":                             {passedOn["GET nipopow/proof/*/*"], "", openAPI + "NipopowProof"},
	"GET utils/seed":                                    {passedOn["GET utils/seed"], "", openAPI + "getRandomSeed"},
	"GET script/addressToTree/*":                        {`{"tree":"0008cd"}`, "", routes + "ScriptApiRoute.scala: addressToTreeR"},
	"GET script/addressToBytes/*":                       {`{"bytes":"0e24"}`, "", routes + "ScriptApiRoute.scala: addressToBytesR"},
	"GET utils/address/*":                               {`{"address":"9g","isValid":true}`, "", routes + "ErgoUtilsApiRoute.scala: AddressValidationRequest"},
	"POST utils/address":                                {`{"address":"9g","isValid":true}`, "", routes + "ErgoUtilsApiRoute.scala: AddressValidationRequest"},
	"GET utils/addressToRaw/*":                          {`{"raw":"02"}`, "", routes + "ErgoUtilsApiRoute.scala: addressToRawR"},
	"GET utils/rawToAddress/*":                          {`{"address":"9g"}`, "", routes + "ErgoUtilsApiRoute.scala: rawToAddressR"},
	"GET utils/ergoTreeToAddress/*":                     {`{"address":"9g"}`, "", routes + "ErgoUtilsApiRoute.scala: ergoTreeToAddressR"},
	"POST utils/ergoTreeToAddress":                      {`{"address":"9g"}`, "", routes + "ErgoUtilsApiRoute.scala: ergoTreeToAddressR"},
	"POST utils/hash/blake2b":                           {realID, "", openAPI + "hashBlake2b"},
}

const realIndexedBlock = `{"header":` + realHeader + `,"transactions":[` + realTx + `],"height":1123070,"size":8486}`

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
		if (o.recorded == "") == (o.decided == "") {
			t.Errorf("%s: expected a recording or a source that decides", operation)
		}
	}
	for _, operation := range operations {
		if _, ok := originals[operation]; !ok {
			t.Errorf("%s has no answer of the node", operation)
		}
	}
	open := []string{"additionalRegisters", "extension"}
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
