package electrum_test

import (
	"encoding/json"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/wire/v2"

	"birthmark/api/compat/answertest"
	"birthmark/api/compat/electrum"
	"birthmark/api/compat/wallet"
	"birthmark/api/served"
	"birthmark/internal/testnode/coretest"
	"birthmark/internal/testseed"
	"birthmark/model"
)

// Answers of the originals by method, with example values where a list is long. Those without another source are from
// docs/protocol-methods.rst of spesmilo/electrum-protocol; "Fulcrum" is protocol-methods.rst of
// cculianu/electrum-cash-protocol. A "shape" is no recorded answer: the documentation describes it without an example,
// or the recorded answer is of a node from before 2021.
var recorded = []struct{ method, params, answer string }{
	{"server.version", `["x","1.6"]`, `["ElectrumX 1.18.0","1.4"]`},
	{"server.banner", `[]`, `"Welcome to Electrum!"`},
	{"server.donation_address", `[]`, `"1BWwXJH3q6PRsizBkSGm2Uw4Sz1urZ5sCj"`},
	{"server.features", `[]`, `{"genesis_hash":"000000000933ea01ad0ee984209779baaec3ced90fa3f408719526f8d77f4943",
		"hosts":{"14.3.140.101":{"tcp_port":51001,"ssl_port":51002}},"protocol_max":"1.0","protocol_min":"1.0","pruning":null,
		"server_version":"ElectrumX 1.0.17","hash_function":"sha256","services":["tcp://:50001"]}`}, // services: shape
	{"server.ping", `[2]`, `{"data":""}`},          // shape of 1.6
	{"server.add_peer", `[{"hosts":{}}]`, `false`}, // shape
	{"server.peers.subscribe", `[]`, `[["107.150.45.210","e.anonyhost.org",["v1.0","p10000","t","s995"]]]`},

	{"blockchain.headers.subscribe", `[]`, recordedTip},
	{"blockchain.headers.get_tip", `[]`, recordedTip}, // Fulcrum
	{"blockchain.block.header", `[1]`, `"0100000085144a84488ea88d221c8bd6c059da090e88f8a2c99690ee55dbba4e00000000"`},
	{"blockchain.block.header", `[1,$AT]`, `{"branch":["000000004ebadb55ee9096c9a2f8880e09da59c0d68b1c228da88e48844a1485"],
		"header":"0100000085144a84488ea88d221c8bd6c059da090e88f8a2c99690ee55dbba4e00000000",
		"root":"e347b1c43fd9b5415bf0d92708db8284b78daf4d0e24f9c3405f45feb85e25db"}`},
	{"blockchain.block.headers", `[0,2]`, `{"count":2,"headers":["0100000000000000","010000006fe28c0a"],"max":2016}`},

	{"blockchain.estimatefee", `[6]`, `0.00101079`},
	{"blockchain.estimatefee", `[1]`, `-1`},
	{"blockchain.relayfee", `[]`, `1e-05`}, // docs/protocol-removed.rst
	{"mempool.get_info", `[]`, `{"mempoolminfee":0.00001000,"minrelaytxfee":0.00001000,"incrementalrelayfee":0.00001000}`},
	{"mempool.get_fee_histogram", `[]`, `[[12,128812],[4,92524],[2,6478638],[1,22890421]]`},

	{"blockchain.scripthash.get_balance", `["$OLD"]`, `{"confirmed":103873966,"unconfirmed":23684400}`},
	{"blockchain.scripthash.get_history", `["$OLD"]`,
		`[{"height":200004,"tx_hash":"acc3758bd2a26f869fcc67d48ff30b96464d476bca82c1cd6656e7d506816412"}]`},
	{"blockchain.scripthash.get_history", `["$NEW"]`, recordedPool},
	{"blockchain.scripthash.get_mempool", `["$NEW"]`, recordedPool},
	{"blockchain.scripthash.listunspent", `["$OLD"]`, recordedUnspent},
	{"blockchain.scripthash.listunspent", `["$NEW"]`, recordedUnspent},
	{"blockchain.scripthash.get_first_use", `["$OLD"]`, recordedFirst}, // Fulcrum
	{"blockchain.scripthash.get_first_use", `["$NEW"]`, recordedFirst},
	{"blockchain.scripthash.subscribe", `["$OLD"]`, recordedStatus},  // docs/protocol-basics.rst
	{"blockchain.scripthash.get_status", `["$OLD"]`, recordedStatus}, // Fulcrum, the example is as above
	{"blockchain.scripthash.unsubscribe", `["$OLD"]`, `true`},        // shape

	{"blockchain.transaction.get", `["$TX"]`, `"01000000015bb9142c960a838329694d3fe9ba08c2a6421c5158d8f7044cb7c48006c1b484"`},
	// Shape: the recorded answer with address and desc instead of addresses and reqSigs, and with vsize and weight, as Core has
	// them from version 23 on (TxToUniv in src/core_write.cpp of bitcoin/bitcoin).
	{"blockchain.transaction.get", `["$TX",true]`, `{"blockhash":"0000000000000000015a4f37ece911e5e3549f988e855548ce7494a0a08b2ad6",
		"blocktime":1520074861,"confirmations":679,"hash":"36a3692a41a8ac60b73f7f41ee23f5c917413e5b2fad9e44b34865bd0d601a3d",
		"hex":"01000000015bb9142c96","locktime":519777,"size":225,"vsize":225,"weight":900,"time":1520074861,
		"txid":"36a3692a41a8ac60b73f7f41ee23f5c917413e5b2fad9e44b34865bd0d601a3d","version":1,"vin":[{"scriptSig":{"asm":"3044",
		"hex":"4730"},"sequence":4294967294,"txid":"84b4c10680c4b74c04f7d858511c42a6c208bae93f4d692983830a962c14b95b","vout":0}],
		"vout":[{"n":0,"scriptPubKey":{"address":"12UxrUZ6tyTLoR1rT1N4nuCgS9DDURTJgP","asm":"OP_DUP OP_HASH160",
		"desc":"addr(12UxrUZ6tyTLoR1rT1N4nuCgS9DDURTJgP)",
		"hex":"76a9141041fb024bd7a1338ef1959026bbba860064fe5f88ac",
		"type":"pubkeyhash"},"value":0.0856647}]}`},
	{"blockchain.transaction.get_merkle", `["$TX",$AT]`, `{"block_height":2473,
		"merkle":["9b977e4cc0b2eb44cb5ea2adb30bf6eae892c9a838111031cb49c97d8ad57309"],"pos":1}`}, // docs/protocol-basics.rst
	{"blockchain.transaction.id_from_pos", `[$AT,1]`, `"fc12dfcb4723715a456c6984e298e00c479706067da81be969e8085544b0ba08"`},
	{"blockchain.transaction.id_from_pos", `[$AT,1,true]`, `{
		"tx_hash":"fc12dfcb4723715a456c6984e298e00c479706067da81be969e8085544b0ba08",
		"merkle":["928c4275dfd6270349e76aa5a49b355eefeb9e31ffbe95dd75fed81d219a23f8"]}`},
	{"blockchain.transaction.get_height", `["$TX"]`, `816182`}, // shape of Fulcrum
	{"blockchain.transaction.get_confirmed_blockhash", `["$TX"]`,
		`{"block_hash":"0000000000000000000058ae65224f518d755d99afd512536c81dee2359dbcdb","block_height":816182}`}, // Fulcrum
	{"blockchain.transaction.get_confirmed_blockhash", `["$TX",true]`, `{
		"block_hash":"00000000000000000001522da9f02d2707dd91139f32a89d515e537384ecf2b1",
		"block_header":"00400020780506d9aeaf379e","block_height":816153}`}, // Fulcrum
	{"blockchain.transaction.broadcast", `["$RAW"]`, `"a76242fce5753b4212f903ff33ac6fe66f2780f34bdb4b33b175a7815a11a98e"`},
	{"blockchain.transaction.broadcast_package", `[["$RAW"]]`, `{"success":true}`},

	{"blockchain.utxo.get_info", `["$TX",0]`, `{"confirmed_height":602123,
		"scripthash":"1c1e184c97abc87626c497b95f755df1025f48b9c27d037ea335677c57f38e5c","value":45318048}`}, // Fulcrum
	{"blockchain.outpoint.get_status", `["$SPENT",$N]`, recordedPoint},
	{"blockchain.outpoint.subscribe", `["$SPENT",$N]`, recordedPoint},
	{"blockchain.outpoint.unsubscribe", `["$SPENT",$N]`, `true`}, // shape
}

const (
	recordedTip    = `{"height":520481,"hex":"00000020890208a0ae3a3892aa047c5468725846577cfcd9b512b5000000000000000000"}`
	recordedPool   = `[{"fee":20000,"height":0,"tx_hash":"9fbed79a1e970343fcd39f4a2d830a6bde6de0754ed2da70f489d0303ed558ec"}]`
	recordedStatus = `"78e96c6562cafa71c115503b9411fdfdc595a45031e2ab76ff75162fe1b0590d"`

	recordedUnspent = `[{"tx_pos":0,"value":45318048,"height":437146,
		"tx_hash":"9f2c45a12db0144909b5db269415f7319179105982ac70ed80d76ea79d923ebf"}]`
	recordedFirst = `{"block_hash":"000000000000032e1219acd8cdda073f5cbb42a216fede788ad4b555e7969a26","height":200004,
		"tx_hash":"acc3758bd2a26f869fcc67d48ff30b96464d476bca82c1cd6656e7d506816412"}`
	// Shape: version 1.7 (pull request 2 of spesmilo/electrum-protocol) describes the members without an example.
	recordedPoint = `{"funder_height":102,"spender_height":0,
		"spender_txhash":"9fbed79a1e970343fcd39f4a2d830a6bde6de0754ed2da70f489d0303ed558ec"}`
)

// Every method has an answer with the keys and types of the original.
func TestAnswersHaveTheShapeOfTheOriginals(t *testing.T) {
	w := newNodeWorld(t, testseed.Rand(t), limits())
	w.node.SetEstimates(map[int]float64{6: 0.0003})
	coins := w.node.Coins(t, 3)
	older, newer := newScripts(w.rng, 1)[0], newScripts(w.rng, 1)[0]
	pay := func(c coretest.Coin, script []byte) *wire.MsgTx {
		return coretest.Pay([]coretest.Coin{c}, wire.NewTxOut(c.Value-1000, script))
	}
	confirmed, unconfirmed, sent := pay(coins[0], older), pay(coins[1], newer), pay(coins[2], newer)
	w.node.Send(t, confirmed)
	w.node.Mine(t)
	w.node.Send(t, unconfirmed)
	w.scripts = append(w.scripts, older, newer)
	if err := newStrict(t, w.addr, w.scripts, w.rng).settled(w.truth()); err != nil {
		t.Fatal(err)
	}
	fill := strings.NewReplacer(
		"$OLD", scriptHash(older), "$NEW", scriptHash(newer), "$TX", confirmed.TxHash().String(), "$RAW", hexOf(sent),
		"$AT", string(text(t, len(w.node.Blocks())-1)), "$SPENT", coins[1].At.Hash.String(), "$N", string(text(t, coins[1].At.Index)),
	)
	conn := connect(t, w.addr)
	var result json.RawMessage
	if code := conn.call(&result, "server.version", "x", "1.6"); code != 0 {
		t.Fatalf("server.version: error %d", code)
	}
	var known []string
	for _, r := range recorded {
		known = append(known, r.method)
		c := conn
		if r.method == "server.version" || r.method == "blockchain.relayfee" {
			c = connect(t, w.addr)
		}
		var params []any
		if err := json.Unmarshal([]byte(fill.Replace(r.params)), &params); err != nil {
			t.Fatalf("%s %s: %v", r.method, r.params, err)
		}
		result = nil
		if code := c.call(&result, r.method, params...); code != 0 {
			t.Errorf("%s %s: error %d", r.method, r.params, code)
			continue
		}
		// This server knows no peers.
		if bare := string(result); bare == "null" || bare == "{}" || bare == "[]" && r.method != "server.peers.subscribe" {
			t.Errorf("%s %s: %s has no shape", r.method, r.params, bare)
		}
		answertest.SameShape(t, r.method, result, []byte(r.answer), "hosts")
	}
	for _, name := range electrum.Methods() {
		if !slices.Contains(known, name) {
			t.Errorf("%s has no answer of an original", name)
		}
	}
}

func text(t testing.TB, v any) []byte {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// Headers of mainnet with their proofs, as in the examples of docs/protocol-methods.rst of spesmilo/electrum-protocol. The
// root of block 8 does not depend on how many blocks follow.
func TestHeadersAndProofsOfMainnet(t *testing.T) {
	out, err := exec.Command("go", "-C", filepath.Join("..", "..", "..", "tools"), "list", "-m", "-f", "{{.Dir}}", "github.com/btcsuite/btcd").Output()
	if err != nil || len(out) == 0 {
		t.Skip("real blocks are missing: run make blocks")
	}
	db, chain, _ := openDatabaseOf(t, "mainnet")
	to := model.HeightPk(40)
	syncFile(t, db, filepath.Join(strings.TrimSpace(string(out)), "blockchain", "testdata", "blk_0_to_14131.dat"), &to)
	answers := wallet.New(&served.Chain{
		Name: "bitcoin", Model: chain, View: db.View, Moved: db.Moved, State: func() served.State { return served.State{} },
	})
	server := electrum.New(answers, limits())
	t.Cleanup(server.Close)
	addr := listen(t, server, nil)
	const (
		first = "0100000000000000000000000000000000000000000000000000000000000000000000003ba3edfd7a7b12b27ac72c3e67768f617fc81bc3888a51323a9fb8aa4b1e5e4a29ab5f49ffff001d1dac2b7c"
		next  = "010000006fe28c0ab6f1b372c1a6a246ae63f74f931e8365e15a089c68d6190000000000982051fd1e4ba744bbbe680e1fee14677ba1a3c3540bf7b1cdb606e857233e0e61bc6649ffff001d01e36299"
		fifth = "0100000085144a84488ea88d221c8bd6c059da090e88f8a2c99690ee55dbba4e00000000e11c48fecdd9e72510ca84f023370c9a38bf91ac5cae88019bee94d24528526344c36649ffff001d1d03e477"
		proof = `"branch":["000000004ebadb55ee9096c9a2f8880e09da59c0d68b1c228da88e48844a1485",
			"96cbbc84783888e4cc971ae8acf86dd3c1a419370336bb3c634c97695a8c5ac9",
			"965ac94082cebbcffe458075651e9cc33ce703ab0115c72d9e8b1a9906b2b636",
			"89e5daa6950b895190716dd26054432b564ccdc2868188ba1da76de8e1dc7591"],
			"root":"e347b1c43fd9b5415bf0d92708db8284b78daf4d0e24f9c3405f45feb85e25db"`
	)
	same := answertest.Shape{Values: true}
	for version, headers := range map[string]string{"1.6": `"headers":["` + first + `","` + next + `"]`, "1.4.2": `"hex":"` + first + next + `"`} {
		c := connect(t, addr)
		var result json.RawMessage
		if code := c.call(&result, "server.version", "x", version); code != 0 {
			t.Fatalf("server.version %s: error %d", version, code)
		}
		for _, r := range []struct {
			method string
			params []any
			answer string
		}{
			{"blockchain.block.header", []any{5}, `"` + fifth + `"`},
			{"blockchain.block.header", []any{5, 0}, `"` + fifth + `"`},
			{"blockchain.block.header", []any{5, 8}, `{"header":"` + fifth + `",` + proof + `}`},
			{"blockchain.block.headers", []any{0, 2}, `{"count":2,"max":2016,` + headers + `}`},
		} {
			if code := c.call(&result, r.method, r.params...); code != 0 {
				t.Errorf("%s %v: error %d", r.method, r.params, code)
				continue
			}
			same.Compare(t, r.method, result, []byte(r.answer))
		}
		// The proof is that of the last header.
		var proved struct {
			Branch []string
			Root   string
		}
		if code := c.call(&proved, "blockchain.block.headers", 3, 3, 8); code != 0 {
			t.Errorf("blockchain.block.headers: error %d", code)
		}
		same.Compare(t, "blockchain.block.headers", text(t, map[string]any{"branch": proved.Branch, "root": proved.Root}), []byte("{"+proof+"}"))
	}
}
