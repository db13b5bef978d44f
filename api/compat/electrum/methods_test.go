package electrum_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/wire/v2"

	"birthmark/api/compat/electrum"
	"birthmark/internal/testnode/bitcointest"
	"birthmark/internal/testseed"
)

// limits are those of a server without limits of time.
func limits() electrum.Options { return electrum.Options{Limits: electrum.Defaults()} }

func hexOf(tx *wire.MsgTx) string {
	var b bytes.Buffer
	if err := tx.Serialize(&b); err != nil {
		panic(err)
	}
	return hex.EncodeToString(b.Bytes())
}

func headerHex(b *wire.MsgBlock) string {
	var out bytes.Buffer
	if err := b.Header.Serialize(&out); err != nil {
		panic(err)
	}
	return hex.EncodeToString(out.Bytes())
}

// Every method, its parameters by position and by name, and its errors, with the exact answers.
func TestAnswers(t *testing.T) {
	w := newWorld(t, testseed.Rand(t), limits())
	m := w.miner
	a, b, unused := m.scripts[0], m.scripts[1], m.scripts[2]
	m.chain.Mine()
	first := m.chain.Tip().Transactions[0]
	spend := bitcointest.Spend(first, 0, wire.NewTxOut(30e8, b), wire.NewTxOut(20e8-7, a))
	m.chain.Mine(spend)
	m.chain.Mine()
	w.sync()
	blocks := m.chain.Blocks()
	second, third := blocks[2].Transactions[0], blocks[3].Transactions[0]
	id := spend.TxHash().String()
	values := map[string]string{
		"A": scriptHash(a), "B": scriptHash(b), "U": scriptHash(unused), "TX": id, "RAW": hexOf(spend),
		"FIRST": first.TxHash().String(), "SECOND": second.TxHash().String(), "THIRD": third.TxHash().String(),
		"H0": headerHex(blocks[0]), "H1": headerHex(blocks[1]), "H2": headerHex(blocks[2]), "H3": headerHex(blocks[3]),
		"B0": blocks[0].BlockHash().String(), "B1": blocks[1].BlockHash().String(), "B2": blocks[2].BlockHash().String(),
		"B3": blocks[3].BlockHash().String(), "NONE": strings.Repeat("0", 64),
		"STATUS": statusOf(m.history(a)), "STATUSB": statusOf(m.history(b)),
		"N01": pairOf(blocks[0].BlockHash().String(), blocks[1].BlockHash().String()),
		"N23": pairOf(blocks[2].BlockHash().String(), blocks[3].BlockHash().String()),
	}
	values["ROOT"] = pairOf(values["N01"], values["N23"])
	fill := func(text string) string {
		keys := []string{}
		for k, v := range values {
			keys = append(keys, "$"+k+";", v)
		}
		return strings.NewReplacer(keys...).Replace(text)
	}
	const bad = `{"code":1,"message":`
	for _, c := range []struct{ method, params, want string }{
		{"server.ping", `[]`, `null`},
		{"server.ping", `{"pong_len":4}`, `{"data":"0000"}`},
		{"server.banner", `[]`, `"Welcome to Birthmark."`},
		{"server.donation_address", `[]`, `""`},
		{"server.add_peer", `[{"hosts":{}}]`, `false`},
		{"server.peers.subscribe", `[]`, `[]`},
		{"server.features", `[]`, `{"hosts":{},"genesis_hash":"$B0;","hash_function":"sha256",` +
			`"server_version":"Birthmark 1.2.3 (ElectrumX)","protocol_min":"1.4","protocol_max":"1.6","pruning":null,"services":[]}`},
		{"nothing", `[]`, `{"code":-32601,"message":"unknown method \"nothing\""}`},
		{"server.ping", `[1,2,3]`, `{"code":-32602,"message":"server.ping has 2 parameters, the request has 3"}`},

		{"blockchain.headers.get_tip", `[]`, `{"hex":"$H3;","height":3}`},
		{"blockchain.block.header", `[2]`, `"$H2;"`},
		{"blockchain.block.header", `{"height":2}`, `"$H2;"`},
		{"blockchain.block.header", `["2"]`, `"$H2;"`},
		{"blockchain.block.header", `[2,0]`, `"$H2;"`},
		{"blockchain.block.header", `[4]`, bad + `"height 4 out of range"}`},
		{"blockchain.block.header", `[-1]`, bad + `"-1 should be a non-negative integer"}`},
		{"blockchain.block.header", `["x"]`, bad + `"x should be a non-negative integer"}`},
		{"blockchain.block.header", `[]`, `{"code":-32602,"message":"blockchain.block.header needs the parameter height"}`},
		{"blockchain.block.header", `{"depth":1}`, `{"code":-32602,"message":"blockchain.block.header has no parameter \"depth\""}`},
		{"blockchain.block.header", `[2,3]`, `{"header":"$H2;","branch":["$B3;","$N01;"],"root":"$ROOT;"}`},
		{"blockchain.block.header", `[0,1]`, `{"header":"$H0;","branch":["$B1;"],"root":"$N01;"}`},
		{"blockchain.block.header", `[2,4]`, bad + `"header height 2 must be \u003c= cp_height 4 which must be \u003c= chain height 3"}`},
		{"blockchain.block.header", `[2,1]`, bad + `"header height 2 must be \u003c= cp_height 1 which must be \u003c= chain height 3"}`},
		{"blockchain.block.headers", `[1,2]`, `{"hex":"$H1;$H2;","count":2,"max":2016}`},
		{"blockchain.block.headers", `[2,10]`, `{"hex":"$H2;$H3;","count":2,"max":2016}`},
		{"blockchain.block.headers", `[4,1]`, `{"hex":"","count":0,"max":2016}`},
		{"blockchain.block.headers", `[9,9,3]`, `{"hex":"","count":0,"max":2016}`},
		{"blockchain.block.headers", `[1,0,3]`, `{"hex":"","count":0,"max":2016}`},
		{"blockchain.block.headers", `[1,2,3]`, `{"hex":"$H1;$H2;","count":2,"max":2016,"branch":["$B3;","$N01;"],"root":"$ROOT;"}`},
		{"blockchain.block.headers", `[1]`, `{"code":-32602,"message":"blockchain.block.headers needs the parameter count"}`},

		{"blockchain.scripthash.get_balance", `["$A;"]`, `{"confirmed":11999999993,"unconfirmed":0}`},
		{"blockchain.scripthash.get_balance", `{"scripthash":"$B;"}`, `{"confirmed":3000000000,"unconfirmed":0}`},
		{"blockchain.scripthash.get_balance", `["$U;"]`, `{"confirmed":0,"unconfirmed":0}`},
		{"blockchain.scripthash.get_balance", `["12"]`, bad + `"12 should be a script hash"}`},
		{"blockchain.scripthash.get_balance", `[12]`, bad + `"12 should be a script hash"}`},
		{"blockchain.scripthash.get_balance", `[]`, `{"code":-32602,"message":"blockchain.scripthash.get_balance needs the parameter scripthash"}`},
		{"blockchain.scripthash.get_history", `["$A;"]`, `[{"tx_hash":"$FIRST;","height":1},{"tx_hash":"$SECOND;","height":2},` +
			`{"tx_hash":"$TX;","height":2},{"tx_hash":"$THIRD;","height":3}]`},
		{"blockchain.scripthash.get_history", `["$A;",2,3]`, `[{"tx_hash":"$SECOND;","height":2},{"tx_hash":"$TX;","height":2}]`},
		{"blockchain.scripthash.get_history", `["$A;",3,-1]`, `[{"tx_hash":"$THIRD;","height":3}]`},
		{"blockchain.scripthash.get_history", `["$U;"]`, `[]`},
		{"blockchain.scripthash.get_mempool", `["$A;"]`, `[]`},
		{"blockchain.scripthash.listunspent", `["$A;"]`, `[{"tx_hash":"$SECOND;","tx_pos":0,"height":2,"value":5000000000},` +
			`{"tx_hash":"$TX;","tx_pos":1,"height":2,"value":1999999993},{"tx_hash":"$THIRD;","tx_pos":0,"height":3,"value":5000000000}]`},
		{"blockchain.scripthash.listunspent", `["$U;"]`, `[]`},
		{"blockchain.scripthash.get_first_use", `["$B;"]`, `{"block_hash":"$B2;","height":2,"tx_hash":"$TX;"}`},
		{"blockchain.scripthash.get_first_use", `["$U;"]`, `null`},
		{"blockchain.scripthash.get_status", `["$A;"]`, `$STATUS;`},
		{"blockchain.scripthash.unsubscribe", `["$A;"]`, `false`},
		{"blockchain.scripthash.subscribe", `["$A;"]`, `$STATUS;`},
		{"blockchain.scripthash.subscribe", `["$A;"]`, `$STATUS;`},
		{"blockchain.scripthash.subscribe", `["$U;"]`, `null`},
		{"blockchain.scripthash.unsubscribe", `["$A;"]`, `true`},
		{"blockchain.scripthash.unsubscribe", `["$A;"]`, `false`},

		{"blockchain.transaction.get", `["$TX;"]`, `"$RAW;"`},
		{"blockchain.transaction.get", `["$TX;",false]`, `"$RAW;"`},
		{"blockchain.transaction.get", `["$TX;","yes"]`, bad + `"\"yes\" should be a boolean"}`},
		{"blockchain.transaction.get", `["$NONE;"]`, bad + `"No such mempool or blockchain transaction: $NONE;"}`},
		{"blockchain.transaction.get", `["xx"]`, bad + `"xx should be a transaction hash"}`},
		{"blockchain.transaction.get_merkle", `["$TX;",2]`, `{"block_height":2,"merkle":["$SECOND;"],"pos":1}`},
		{"blockchain.transaction.get_merkle", `["$SECOND;",2]`, `{"block_height":2,"merkle":["$TX;"],"pos":0}`},
		{"blockchain.transaction.get_merkle", `["$FIRST;"]`, `{"block_height":1,"merkle":[],"pos":0}`},
		{"blockchain.transaction.get_merkle", `["$TX;",1]`, bad + `"tx $TX; not in block at height 1"}`},
		{"blockchain.transaction.get_merkle", `["$NONE;",1]`, bad + `"No such mempool or blockchain transaction: $NONE;"}`},
		{"blockchain.transaction.id_from_pos", `[2,1]`, `"$TX;"`},
		{"blockchain.transaction.id_from_pos", `[2,1,true]`, `{"tx_hash":"$TX;","merkle":["$SECOND;"]}`},
		{"blockchain.transaction.id_from_pos", `[2,2]`, bad + `"no tx at position 2 in block at height 2"}`},
		{"blockchain.transaction.id_from_pos", `[9,0]`, bad + `"height 9 out of range"}`},
		{"blockchain.transaction.get_height", `["$TX;"]`, `2`},
		{"blockchain.transaction.get_height", `["$NONE;"]`, `null`},
		{"blockchain.transaction.get_confirmed_blockhash", `["$TX;"]`, `{"block_hash":"$B2;","block_height":2}`},
		{"blockchain.transaction.get_confirmed_blockhash", `["$TX;",true]`, `{"block_hash":"$B2;","block_height":2,"block_header":"$H2;"}`},
		{"blockchain.transaction.broadcast", `["zz"]`, bad + `"raw_tx should be a hex string"}`},
		{"blockchain.transaction.broadcast_package", `[[]]`, bad + `"raw_txs should be an array of 1 to 25 hex strings"}`},

		{"blockchain.utxo.get_info", `["$TX;",1]`, `{"confirmed_height":2,"scripthash":"$A;","value":1999999993}`},
		{"blockchain.utxo.get_info", `["$FIRST;",0]`, `null`},
		{"blockchain.utxo.get_info", `["$NONE;",0]`, `null`},
		{"blockchain.outpoint.get_status", `["$FIRST;",0]`, `{"funder_height":1,"spender_txhash":"$TX;","spender_height":2}`},
		{"blockchain.outpoint.get_status", `["$TX;",0]`, `{"funder_height":2}`},
		{"blockchain.outpoint.get_status", `["$TX;",7]`, `{}`},
		{"blockchain.outpoint.subscribe", `["$NONE;",0]`, `{}`},
		{"blockchain.outpoint.unsubscribe", `["$NONE;",0]`, `true`},
		{"blockchain.outpoint.unsubscribe", `["$NONE;",0]`, `false`},
		{"mempool.get_fee_histogram", `[]`, `[]`},
		{"blockchain.estimatefee", `[0]`, bad + `"number should be from 1 to 1008"}`},
	} {
		one := connect(t, w.addr)
		conn := one
		if strings.Contains(c.method, "subscribe") { // with the state of the requests before
			conn = w.shared(&w.sub)
		}
		conn.send(`{"jsonrpc":"2.0","id":"x","method":"%s","params":%s}`, c.method, fill(c.params))
		want := `{"jsonrpc":"2.0","id":"x","result":` + fill(c.want) + `}`
		if strings.HasPrefix(c.want, `{"code"`) {
			want = `{"jsonrpc":"2.0","id":"x","error":` + fill(c.want) + `}`
		}
		if got := conn.line(); got != want {
			t.Errorf("%s %s\n got %s\nwant %s", c.method, fill(c.params), got, want)
		}
		one.Close()
	}
}

// pairOf is the parent of two nodes of a Merkle tree, as they are displayed.
func pairOf(left, right string) string {
	bytesOf := func(s string) []byte {
		b, _ := hex.DecodeString(s)
		slices.Reverse(b)
		return b
	}
	once := sha256.Sum256(append(bytesOf(left), bytesOf(right)...))
	twice := sha256.Sum256(once[:])
	slices.Reverse(twice[:])
	return hex.EncodeToString(twice[:])
}

// shared returns a connection that stays open for the whole test.
func (w *world) shared(c **client) *client {
	if *c == nil {
		*c = connect(w.t, w.addr)
	}
	return *c
}

func TestVersions(t *testing.T) {
	w := newWorld(t, testseed.Rand(t), limits())
	w.miner.chain.Mine()
	w.sync()
	const headers = `{"id":2,"method":"blockchain.block.headers","params":[1,1]}`
	tip := headerHex(w.miner.chain.Tip())
	old := `{"jsonrpc":"2.0","id":2,"result":{"hex":"` + tip + `","count":1,"max":2016}}`
	now := `{"jsonrpc":"2.0","id":2,"result":{"headers":["` + tip + `"],"count":1,"max":2016}}`
	for _, c := range []struct{ params, version, headers string }{
		{`["a","1.4"]`, "1.4", old},
		{`["a"]`, "1.4", old},
		{`[]`, "1.4", old},
		{`["a",["1.4","1.4.2"]]`, "1.4.2", old},
		{`{"client_name":"Sparrow","protocol_version":["1.3","1.4.2"]}`, "1.4.2", old},
		{`["a","1.5"]`, "1.5", old},
		{`["a",["1.4","1.6"]]`, "1.6", now},
		{`["a",["1.6","1.9"],"a free string",4]`, "1.6", now},
	} {
		conn := connect(t, w.addr)
		conn.send(`{"id":0,"method":"server.version","params":%s}`, c.params)
		want := `{"jsonrpc":"2.0","id":0,"result":["Birthmark 1.2.3 (ElectrumX)","` + c.version + `"]}`
		if got := conn.line(); got != want {
			t.Errorf("%s: %s, expected %s", c.params, got, want)
		}
		conn.send(headers)
		if got := conn.line(); got != c.headers {
			t.Errorf("%s: %s, expected %s", c.params, got, c.headers)
		}
		conn.send(`{"id":3,"method":"server.version","params":["a","1.4"]}`)
		if got := conn.line(); got != `{"jsonrpc":"2.0","id":3,"error":{"code":1,"message":"server.version already sent"}}` {
			t.Errorf("a second server.version: %s", got)
		}
		conn.Close()
	}
	for _, params := range []string{`["a","1.2"]`, `["a",["2.0","3.0"]]`, `["a","x"]`, `["a",[]]`} {
		conn := connect(t, w.addr)
		conn.send(`{"id":0,"method":"server.version","params":%s}`, params)
		if got := conn.line(); !strings.Contains(got, `"error":{"code":1,"message":"unsupported protocol version: `) {
			t.Errorf("%s: %s", params, got)
		}
		conn.ended()
	}
}

func TestMethodsThatAVersionRemoved(t *testing.T) {
	w := newWorld(t, testseed.Rand(t), limits())
	conn := connect(t, w.addr)
	conn.send(`{"id":0,"method":"server.version","params":["a",["1.4","1.6"]]}`)
	conn.line()
	conn.send(`{"id":1,"method":"blockchain.relayfee"}`)
	if got := conn.line(); got != `{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"blockchain.relayfee is not part of protocol 1.6"}}` {
		t.Error(got)
	}
}

func TestBatchesAndNotificationsOfClients(t *testing.T) {
	w := newWorld(t, testseed.Rand(t), limits())
	conn := connect(t, w.addr)
	for text, want := range map[string]string{
		`[{"id":1,"method":"server.ping"},{"method":"server.ping"},7,{"id":2,"method":"x"}]`: `[{"jsonrpc":"2.0","id":1,"result":null},` +
			`{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"a request must be a JSON object"}},` +
			`{"jsonrpc":"2.0","id":2,"error":{"code":-32601,"message":"unknown method \"x\""}}]`,
		`[]`: `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"the batch is empty"}}`,
		`{]`: `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"invalid JSON: expected one JSON-RPC request, or an array of them, per line"}}`,
		`{}`: `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"the request has no method"}}`,
		"\n\r\n" + `{"method":"server.ping"}` + "\n" + `{"id":"é\n","method":"server.ping"}`: `{"jsonrpc":"2.0","id":"é\n","result":null}`,
	} {
		conn.send("%s", text)
		if got := conn.line(); got != want {
			t.Errorf("%q\n got %s\nwant %s", text, got, want)
		}
	}
	// Requests that are sent together are answered in order.
	var all strings.Builder
	for i := range 500 {
		fmt.Fprintf(&all, `{"id":%d,"method":"server.ping"}`+"\n", i)
	}
	go fmt.Fprint(conn, all.String())
	for i := range 500 {
		if want, got := fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":null}`, i), conn.line(); got != want {
			t.Fatalf("%s, expected %s", got, want)
		}
	}
	// A batch of 1,000 is accepted.
	parts := make([]string, 1000)
	for i := range parts {
		parts[i] = fmt.Sprintf(`{"id":%d,"method":"blockchain.scripthash.get_balance","params":[%q]}`, i, scriptHash(w.miner.scripts[0]))
	}
	conn.send("[%s]", strings.Join(parts, ","))
	var answers []struct{ ID int }
	if line := conn.line(); json.Unmarshal([]byte(line), &answers) != nil || len(answers) != len(parts) || answers[999].ID != 999 {
		t.Errorf("%d answers: %.200s", len(answers), line)
	}
}

// The answers that clients parse further agree with the chain.
func TestVerboseTransaction(t *testing.T) {
	w := newWorld(t, testseed.Rand(t), limits())
	w.miner.mine(5, 3)
	w.sync()
	conn := connect(t, w.addr)
	for h, b := range w.miner.chain.Blocks() {
		for _, tx := range b.Transactions {
			var got struct {
				Txid, Hash, Hex, Blockhash string
				Confirmations              int
				Time, Blocktime            int64
				Vout                       []struct {
					Value        float64
					ScriptPubKey struct{ Hex, Type, Address string }
				}
			}
			if code := conn.call(&got, "blockchain.transaction.get", tx.TxHash().String(), true); code != 0 {
				t.Fatalf("error %d", code)
			}
			if got.Txid != tx.TxHash().String() || got.Hex != hexOf(tx) || got.Blockhash != b.BlockHash().String() ||
				got.Confirmations != w.miner.chain.Height()-h+1 || got.Time != b.Header.Timestamp.Unix() || got.Time != got.Blocktime {
				t.Errorf("%+v", got)
			}
			for i, o := range tx.TxOut {
				s := got.Vout[i].ScriptPubKey
				if int64(got.Vout[i].Value*1e8+0.5) != o.Value || s.Hex != hex.EncodeToString(o.PkScript) || s.Type == "witness_v0_keyhash" != strings.HasPrefix(s.Address, "bcrt1q") {
					t.Errorf("output %d: %+v", i, got.Vout[i])
				}
			}
		}
	}
}
