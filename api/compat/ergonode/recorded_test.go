package ergonode_test

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"birthmark/api/compat/answertest"
	"birthmark/api/compat/boxes"
	. "birthmark/api/compat/boxes/boxestest"
	"birthmark/bench/generate/ergogen"
	"birthmark/internal/testblocks"
	"birthmark/internal/testnode/ergotest"
	"birthmark/internal/testseed"
)

// Answers of a node 6.0.2 about the first blocks of mainnet, recorded in arkadianet/ergo at
// e919d14ae237ac0cdb69a3de98df98e9ca48f061. EMISSION is the tree of the emission contract and ADDRESS its address. The
// scripts in test-vectors/scripts there have the requests.
const (
	// test-vectors/extra-index/heights_1_200.json, of which the reward is spent after the blocks of the test. The
	// recording has no numConfirmations.
	recordedTx = `{"id":"4f2d69416edcabf31a01a36f72a7b1c9333df3f2e2b5357af0a923e6a3a08c42",
		"blockId":"3ff49e2419f779390a9347e8c3ee6391dd3f9e543c12dabcb0f1ebc8168754f4","inclusionHeight":3,
		"timestamp":1561979000032,"index":0,"globalIndex":2,"inputs":[` + recordedBox + `],"dataInputs":[],"outputs":[
		{"globalIndex":4,"inclusionHeight":3,"address":"ADDRESS",
		"spentTransactionId":"d7b5bd08ab15dbe5bb651b8f3b29b17fc19d501de9b8ae473b9d0cff659036bc",
		"spendingProof":{"proofBytes":"","extension":{}},
		"boxId":"44efc324ccc69e914a331eceef0b97c6ee9ebab30eec13cc6d7ab0ba65a615c1","value":93408930000000000,
		"ergoTree":"EMISSION","assets":[],"creationHeight":3,"additionalRegisters":{},
		"transactionId":"4f2d69416edcabf31a01a36f72a7b1c9333df3f2e2b5357af0a923e6a3a08c42","index":0},
		{"globalIndex":5,"inclusionHeight":3,
		"address":"88dhgzEuTXaSaB7wgZxUXKbN1pfKQfUSKx8YvTo5fA46nEw2NXRBiRhvzjbu2nLAhGzbpTeTmooU1NRV",
		"spentTransactionId":null,"spendingProof":null,
		"boxId":"11b1524584ce58e0e1c3f3acca72ecde927381826f59d1274bd501cff86b6536","value":67500000000,
		"ergoTree":"100204a00b08cd02d3a9410ac758ad45dfc85af8626efdacf398439c73977b13064aa8e6c8f2ac88ea02d192a39a8cc7a70173007301",
		"assets":[],"creationHeight":3,"additionalRegisters":{},
		"transactionId":"4f2d69416edcabf31a01a36f72a7b1c9333df3f2e2b5357af0a923e6a3a08c42","index":1}],"size":341}`
	recordedBox = `{"globalIndex":2,"inclusionHeight":2,"address":"ADDRESS",
		"spentTransactionId":"4f2d69416edcabf31a01a36f72a7b1c9333df3f2e2b5357af0a923e6a3a08c42",
		"spendingProof":{"proofBytes":"","extension":{}},
		"boxId":"3294ce445f73066476748bdb2a5aeae3692dcf3a24a5b259f45f419b514c4a1f","value":93408997500000000,
		"ergoTree":"EMISSION","assets":[],"creationHeight":2,"additionalRegisters":{},
		"transactionId":"34a247d3657df7ff5318164747e338ddef9526ab8da430f4c81246f132a68b60","index":0}`
	// The first output of block 1. The node shows it as unspent, although block 2 spends it.
	recordedFirst = `{"globalIndex":0,"inclusionHeight":1,"address":"ADDRESS","spentTransactionId":null,"spendingProof":null,
		"boxId":"71bc9534d4a4fe8ff67698a5d0f29782836970635de8418da39fee1cd964fcbe","value":93409065000000000,
		"ergoTree":"EMISSION","assets":[],"creationHeight":1,"additionalRegisters":{},
		"transactionId":"4c6282be413c6e300a530618b37790be5f286ded758accc2aebd41554a1be308","index":0}`
	// test-vectors/mainnet/nipopow/popowHeaderByHeight_1000.json. The node counts the byte of the type of the section to
	// the size of a header that it reads from its store (parse in HeaderSerializer.scala of ergoplatform/ergo).
	recordedHeader = `{"extensionId":"b35f312fb9f45eef1954487ed902668b057488bd5b034efd606d0eee899bd99d",
		"difficulty":"1199990374400","votes":"000000","timestamp":1561985972236,"size":280,"unparsedBytes":"",
		"stateRoot":"736dead46883b961dacc8d3386dee59a579cf5abb42f881a37b08ebc2fb947240c","height":1000,
		"nBits":100734821,"version":1,"id":"80e4ce0c3337b62e7e1d98e0ee0131bbfb1b6472b543b1604caf9af331aa4e8d",
		"adProofsRoot":"af84b94cebbee3249edaafc666c6d3578b6fd62971ea0ca1ead2a899a9644f58",
		"transactionsRoot":"1a0108df773230d9b4076c65e28db86662fefaf223ca633b89befd19e9cfab5a",
		"extensionHash":"face3cc2af16d2353a943fea15a2560f7c9fc712b1ffcaac66bceb9796badd84",
		"powSolutions":{"pk":"021271cd7c80daab3c7252ce6a7eb8f8dcf61c1f30db76f6a82c897fcd4ba9fa98",
		"w":"0277fbba89a8821f016c4910fef00ad1fccc24c82704e005bd499ded069f62c69b","n":"00000bde0047ee4c",
		"d":10455113820087486888919763986474626113801219696964415747383430835},
		"adProofsId":"a2360ca45f3e391dcb6b57a64c4907adeceee7b5354b7541a43b73b7d4c11643",
		"transactionsId":"caf5c4f4ec082f0d964d85a3f42b54c00b36f7588128b32a065dcefc63fdc21a",
		"parentId":"4077fcf3359c15c3ad3797a78fff342166f09a7f1b22891a18030dcd8604b087"}`
	recordedPoPow = `{"header":` + recordedHeader + `,
		"interlinks":["b0244dfc267baca974a4caee06120321562784303a8a688976ae56170e4d175b"],"interlinksProof":{"indices":[
		{"index":0,"digest":"073745d6d541fe916fbc71aae2317dff6462b79a124f5cd30d34ed69064d9606"}],
		"proofs":[{"digest":"","side":1}]}}`
	// test-vectors/mainnet/proof_for_tx/h1_….json.
	recordedProof = `{"leafData":"4c6282be413c6e300a530618b37790be5f286ded758accc2aebd41554a1be308","levels":[["",0]]}`
)

// emission puts the tree and the address of the emission contract in the place of their names.
var emission = strings.NewReplacer(
	"EMISSION", "101004020e36100204a00b08cd0279be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798ea02d192"+
		"a39a8cc7a7017300730110010204020404040004c0fd4f05808c82f5f6030580b8c9e5ae040580f882ad16040204c0944004"+
		"c0f407040004000580f882ad16d19683030191a38cc7a7019683020193c2b2a57300007473017302830108cdeeac93a38cc7"+
		"b2a573030001978302019683040193b1a5730493c2a7c2b2a573050093958fa3730673079973089c73097e9a730a9d99a373"+
		"0b730c0599c1a7c1b2a5730d00938cc7b2a5730e0001a390c1a7730f",
	"ADDRESS", "2Z4YBkDsDvQj8BX7xiySFewjitqp2ge9c99jfes2whbtKitZTxdBYqbrVZUvZvKv6aqn9by4kp3LE1c26LCyosFnVnm6b6U1JYvW"+
		"pYmL2ZnixJbXLjWAWuBThV1D6dLpqZJYQHYDznJCk49g5TUiS4q8khpag2aNmHwREV7JSsypHdHLgJT7MGaw51aJfNubyzSKxZ4A"+
		"JXFS27EfXwyCLzW1K6GVqwkJtCoPvrcLqmqwacAWJPkmh78nke9H4oT88XmSbRt2n9aWZjosiZCafZ4osUDxmZcc5QVEeTWn8drS"+
		"raY3eFKe8Mu9MSCcVU",
)

// Answers about the first blocks of mainnet are those of the node, with all values.
func TestAnswersEqualTheRecordedOnes(t *testing.T) {
	const (
		block1    = "b0244dfc267baca974a4caee06120321562784303a8a688976ae56170e4d175b"
		reward1   = "4c6282be413c6e300a530618b37790be5f286ded758accc2aebd41554a1be308"
		first     = "71bc9534d4a4fe8ff67698a5d0f29782836970635de8418da39fee1cd964fcbe"
		box       = "3294ce445f73066476748bdb2a5aeae3692dcf3a24a5b259f45f419b514c4a1f"
		block3    = "3ff49e2419f779390a9347e8c3ee6391dd3f9e543c12dabcb0f1ebc8168754f4"
		tx        = "4f2d69416edcabf31a01a36f72a7b1c9333df3f2e2b5357af0a923e6a3a08c42"
		block1000 = "80e4ce0c3337b62e7e1d98e0ee0131bbfb1b6472b543b1604caf9af331aa4e8d"
	)
	w := realWorld(t, 1001, 1)
	for request, real := range map[string]string{
		"/blockchain/transaction/byId/" + tx:                   recordedTx,
		"/blockchain/transaction/byIndex/2":                    recordedTx,
		"/blockchain/box/byId/" + box:                          recordedBox,
		"/blockchain/box/byIndex/2":                            recordedBox,
		"/blockchain/box/byId/" + first:                        recordedFirst,
		"/blocks/at/3":                                         `["` + block3 + `"]`,
		"/blocks/at/0":                                         "[]", // ergo-api/tests/fixtures/scala/blocks_at/0.json
		"/blocks/at/99999999":                                  "[]", // and 99999999.json
		"/blocks/" + block1000 + "/header":                     recordedHeader,
		"/blocks/chainSlice?fromHeight=999&toHeight=1000":      listed(recordedHeader),
		"/blocks/" + block1 + "/proofFor/" + reward1:           recordedProof,
		"/script/addressToTree/" + emission.Replace("ADDRESS"): `{"tree":"EMISSION"}`,
	} {
		shape := answertest.Shape{Values: true, Optional: []string{"numConfirmations"}}
		if strings.Contains(real, recordedHeader) {
			shape.Differ = []string{"size"}
		}
		real = emission.Replace(real)
		shape.Compare(t, request, levels(Ask(t, w, path+emission.Replace(request), "").Body), levels(real))
	}
	// "get last blocks" in BlocksApiRouteSpec.scala of ergoplatform/ergo: without parameters, the first 50.
	if ids := strings.Count(Ask(t, w, path+"/blocks", "").Body, `"`) / 2; ids != 50 {
		t.Errorf("/blocks has %d ids, expected 50", ids)
	}
	genesis, err := os.ReadFile(testblocks.Path(t, "ergo", "arkadianet-ergo", "mainnet", "genesis_boxes.json"))
	if err != nil {
		t.Fatal(err)
	}
	answertest.Shape{Values: true}.Compare(t, "/utxo/genesis", []byte(Ask(t, w, path+"/utxo/genesis", "").Body), genesis)
}

// The first step of a Merkle proof with a sibling is the one of the node, for the second of three transactions:
// test-vectors/mainnet/proof_for_tx/h700000_cba7….json of arkadianet/ergo.
func TestAStepOfAProofIsTheRecordedOne(t *testing.T) {
	leaf := func(text string) []byte {
		raw, err := hex.DecodeString(text)
		if err != nil {
			t.Fatal(err)
		}
		return raw
	}
	steps := boxes.Proof([][]byte{
		leaf("e4cea1c9b4d3c52cf71e9b66363452e7bb5591f6f262ae27a3c90570dbb5e83a"),
		leaf("cba71e328904bfc47b02b4b573fa654ad53db2df19e24a76edbbf3c929336c06"),
	}, 1)
	want := leaf("9dbba0db09d20895c4b8019910f43dd1c21e7f58e9c1632a52aaae64f8dc16ae")
	if !steps[0].Right || !bytes.Equal(steps[0].Sibling, want) {
		t.Errorf("the first step is %x, right %t", steps[0].Sibling, steps[0].Right)
	}
}

// The node's own tests make these requests: the specifications of routes in src/test/scala/org/ergoplatform/http/routes of
// ergoplatform/ergo. They expect these statuses, ids and lists.
func TestAnswersAreThoseOfTheNodesOwnTests(t *testing.T) {
	w := newWorld(t, "testnet")
	c := ergogen.New(ergogen.Options{Seed: testseed.Rand(t).Uint64(), TxsPerBlock: 8})
	w.Sync(t, 0, ergotest.Made(c, 25)...)
	w.model(w.Pend(t, c, 25))
	zero := strings.Repeat("00", 32)
	fresh := w.e.Fresh[slices.IndexFunc(w.e.Fresh, func(b *Box) bool {
		registers := b.JSON["additionalRegisters"].(map[string]any)
		return registers["R5"] != nil && registers["R9"] == nil
	})]
	registers := fresh.JSON["additionalRegisters"].(map[string]any)
	r4, r5 := registers["R4"].(string), registers["R5"].(string)
	at := func(height int) string { return fmt.Sprintf(`"height":%d,`, height) }
	const byRegisters = "POST /transactions/unconfirmed/outputs/byRegisters"
	for _, c := range []struct {
		request, body string
		status        int
		has, lacks    string
	}{
		// TransactionApiRouteSpec.scala: "by exact same registers", "by subset", "when one missing", "with only key match",
		// "by empty registers".
		{byRegisters, `{"R4":"` + r4 + `","R5":"` + r5 + `"}`, 200, fresh.ID, ""},
		{byRegisters, `{"R4":"` + r4 + `"}`, 200, fresh.ID, ""},
		{byRegisters, `{"R4":"` + r4 + `","R9":"0e03666f6f"}`, 200, "", fresh.ID},
		{byRegisters, `{"R4":"0e0666f6f6f6f6f6"}`, 200, "[]", ""},
		{byRegisters, `{}`, 400, `"bad.request"`, ""},
		// "by absent ergoTree", "by absent id", "if unconfirmed tx is present", "absent tx".
		{"POST /transactions/unconfirmed/byErgoTree", zero, 200, "[]", ""},
		{"GET /transactions/unconfirmed/byTransactionId/" + zero, "", 404, `"not-found"`, ""},
		{"HEAD /transactions/unconfirmed/" + fresh.Tx.ID, "", 200, "", ""},
		{"HEAD /transactions/unconfirmed/" + zero, "", 404, "", ""},
		// "reject box and token ids with invalid byte length".
		{"GET /transactions/unconfirmed/inputs/byBoxId/00", "", 400, `"bad.request"`, ""},
		{"GET /transactions/unconfirmed/outputs/byBoxId/00", "", 400, `"bad.request"`, ""},
		{"GET /transactions/unconfirmed/outputs/byTokenId/00", "", 400, `"bad.request"`, ""},
		{"GET /transactions/unconfirmed/inputs/byBoxId/" + fresh.Tx.Inputs[0].ID, "", 200, fresh.Tx.Inputs[0].ID, ""},
		// UtxoApiRouteSpec.scala: "get mempool box with withPool/byId", "get pool box with /withPool/byIdBinary".
		{"GET /utxo/byId/" + fresh.ID, "", 404, `"not-found"`, ""},
		{"GET /utxo/byIdBinary/" + fresh.ID, "", 404, `"not-found"`, ""},
		{"GET /utxo/withPool/byId/" + fresh.ID, "", 200, fresh.ID, ""},
		{"GET /utxo/withPool/byIdBinary/" + fresh.ID, "", 200, fresh.Tree, ""},
		// BlocksApiRouteSpec.scala: "get chain slice", which begins above fromHeight, "reject chain slice ranges above the
		// maximum headers limit"; and getChainSliceR in BlocksApiRoute.scala.
		{"GET /blocks/chainSlice?fromHeight=0", "", 200, at(1), ""},
		{"GET /blocks/chainSlice?fromHeight=2&toHeight=4", "", 200, at(3), at(2)},
		{"GET /blocks/chainSlice?fromHeight=2&toHeight=4", "", 200, at(4), at(5)},
		{"GET /blocks/chainSlice?fromHeight=4&toHeight=4", "", 200, at(4), at(3)},
		{"GET /blocks/chainSlice", "", 200, at(25), at(1)},
		{"GET /blocks/chainSlice?fromHeight=24&toHeight=99", "", 200, at(25), at(24)},
		{"GET /blocks/chainSlice?fromHeight=-5&toHeight=-1", "", 200, at(1), ""},
		{"GET /blocks/chainSlice?fromHeight=4&toHeight=3", "", 400, "toHeight < fromHeight", ""},
		{"GET /blocks/chainSlice?fromHeight=x", "", 400, `"bad.request"`, ""},
		{"GET /blocks/chainSlice?fromHeight=0&toHeight=16384", "", 200, at(25), ""},
		{"GET /blocks/chainSlice?fromHeight=0&toHeight=16385", "", 400, `"bad.request"`, ""},
		// ScriptApiRouteSpec.scala: the addresses of the tree that is true, and of a key.
		{"GET /script/addressToTree/Ms7smJwLGbUAjuWQ", "", 200, `{"tree":"10010101d17300"}`, ""},
		{"GET /utils/ergoTreeToAddress/10010101d17300", "", 200, `{"address":"Ms7smJwLGbUAjuWQ"}`, ""},
		{"GET /script/addressToTree/rbcrmKEYduUvADj9Ts3dSVSG27h54pgrq5fPuwB", "", 200, `{"tree":"00`, ""},
		{"GET /utils/address/3WvsT2Gm4EpsM9Pg18PdY6XyhNNMqXDsvJTbbf6ihLvAmSb7u5RN", "", 200, `"isValid":true`, "error"},
		// UtilsApiRouteSpec.scala: "validate incorrect address (p2pk)".
		{"GET /utils/address/3WvsT2Gm4EpsM9Pg18PdY6XyhNNMqXDsvJTbbf6ihLvAmSb7u5RNaa", "", 200, `"isValid":false,"error":"`, ""},
	} {
		method, target, _ := strings.Cut(c.request, " ")
		a := Send(t, w, method, path+target, c.body)
		if a.Status != c.status || !strings.Contains(a.Body, c.has) || c.lacks != "" && strings.Contains(a.Body, c.lacks) {
			t.Errorf("%s %s: %d %.300s, expected %d with %q and without %q",
				c.request, c.body, a.Status, a.Body, c.status, c.has, c.lacks)
		}
	}
}
