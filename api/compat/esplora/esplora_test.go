package esplora_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/chainhash/v2"
	"github.com/btcsuite/btcd/wire/v2"

	"birthmark/api/compat/wallet"
	"birthmark/core"
	"birthmark/internal/testnode/bitcointest"
	"birthmark/internal/testrun"
	"birthmark/model"
)

const (
	jsonType = "application/json"
	textType = "text/plain"
	rawType  = "application/octet-stream"
	forever  = "157784630"
)

// All answers about the confirmed chain equal those of a naive model, byte for byte, on random chains with
// reorganizations.
func TestAnswersEqualTheNaiveModel(t *testing.T) {
	w := newWorld(t, "regtest", nil)
	w.serve(t)
	w.sync(t)
	compare(t, w) // the genesis block alone
	w.miner.mine(12, 4)
	for range testrun.Amount(6, 2) {
		if w.miner.rng.IntN(2) == 0 && w.miner.chain.Height() > 15 {
			w.miner.fork(1 + w.miner.rng.IntN(14))
		} else {
			w.miner.mine(1+w.miner.rng.IntN(3), 40)
		}
		w.sync(t)
		compare(t, w)
	}
}

func compare(t *testing.T, w *world) {
	t.Helper()
	n := newNaive(w.miner.chain)
	c := wallet.New(w.served)
	tip := n.blocks[n.tip()].BlockHash().String()
	w.expect(t, "/blocks/tip/hash", tip, textType, "10")
	w.expect(t, "/blocks/tip/height", strconv.Itoa(n.tip()), textType, "10")
	for h := range n.blocks {
		compareBlock(t, w, n, h, c.Address)
	}
	for _, tx := range n.order {
		compareTx(t, w, n, tx, c.Address)
	}
	for _, s := range w.miner.scripts {
		compareScript(t, w, n, s, c.Address)
	}
	compareMerged(t, w, n, c.Address)
}

func compareBlock(t *testing.T, w *world, n *naive, h int, addressOf func([]byte) string) {
	t.Helper()
	b := n.blocks[h]
	hash := b.BlockHash().String()
	w.expect(t, fmt.Sprintf("/block-height/%d", h), hash, textType, n.lifetime(h))
	w.expect(t, "/block/"+hash, text(n.block(h)), jsonType, forever)
	list := []blockJSON{}
	for at := h; at >= max(0, h-9); at-- {
		list = append(list, n.block(at))
	}
	w.expect(t, fmt.Sprintf("/blocks/%d", h), text(list), jsonType, "10")
	next := "null"
	if h < n.tip() {
		next = text(n.blocks[h+1].BlockHash().String())
	} else {
		w.expect(t, "/blocks", text(list), jsonType, "10")
		w.expect(t, "/blocks/latest", text(list), jsonType, "10")
	}
	status := fmt.Sprintf(`{"in_best_chain":true,"height":%d,"next_best":%s}`, h, next)
	w.expect(t, "/block/"+hash+"/status", status, jsonType, n.lifetime(h))
	ids := []string{}
	for i, tx := range b.Transactions {
		ids = append(ids, tx.TxHash().String())
		w.expect(t, fmt.Sprintf("/block/%s/txid/%d", hash, i), ids[i], textType, forever)
	}
	w.expect(t, "/block/"+hash+"/txids", text(ids), jsonType, forever)
	for start := 0; start < len(ids); start += 25 {
		page := b.Transactions[start:min(start+25, len(ids))]
		w.expect(t, fmt.Sprintf("/block/%s/txs/%d", hash, start), text(n.list(page, addressOf)), jsonType, n.lifetime(h))
		if start == 0 {
			w.expect(t, "/block/"+hash+"/txs", text(n.list(page, addressOf)), jsonType, n.lifetime(h))
			w.expect(t, "/block/"+hash+"/txs/x", text(n.list(page, addressOf)), jsonType, n.lifetime(h))
		}
	}
	whole := bitcointest.Bytes(b)
	w.expect(t, "/block/"+hash+"/header", hex.EncodeToString(whole[:80]), textType, forever)
	w.expect(t, "/block/"+hash+"/raw", string(whole), rawType, forever)
}

func compareTx(t *testing.T, w *world, n *naive, tx *wire.MsgTx, addressOf func([]byte) string) {
	t.Helper()
	id := tx.TxHash()
	h := n.at[id]
	at, lifetime := "/tx/"+id.String(), n.lifetime(h)
	w.expect(t, at, text(n.tx(tx, addressOf)), jsonType, lifetime)
	w.expect(t, at+"/status", text(n.status(id)), jsonType, lifetime)
	w.expect(t, at+"/hex", hex.EncodeToString(raw(tx)), textType, lifetime)
	w.expect(t, at+"/raw", string(raw(tx)), rawType, lifetime)
	var spends []spendJSON
	for i := range tx.TxOut {
		s := n.spend(id, i)
		spends = append(spends, s)
		lifetime := "10"
		if s.Spent {
			lifetime = n.lifetime(*s.Status.Height)
		}
		w.expect(t, fmt.Sprintf("%s/outspend/%d", at, i), text(s), jsonType, lifetime)
	}
	w.expect(t, at+"/outspends", text(spends), jsonType, "10")
	w.expect(t, fmt.Sprintf("%s/outspend/%d", at, len(tx.TxOut)), `{"spent":false}`, jsonType, "10")
	w.expect(t, "/txs/outspends?txids="+id.String()+",x,"+strings.Repeat("0", 64), "["+text(spends)+",[],[]]", jsonType, "10")

	position := slices.Index(n.blocks[h].Transactions, tx)
	var proof struct {
		Height int      `json:"block_height"`
		Merkle []string `json:"merkle"`
		Pos    int      `json:"pos"`
	}
	body := w.get(t, at+"/merkle-proof")
	if err := json.Unmarshal([]byte(body), &proof); err != nil || proof.Height != h || proof.Pos != position || text(proof) != body {
		t.Fatalf("%s/merkle-proof: %s", at, body)
	}
	root := id
	for i, sibling := range proof.Merkle {
		s, err := chainhash.NewHashFromStr(sibling)
		if err != nil {
			t.Fatal(err)
		}
		if proof.Pos>>i&1 == 0 {
			root = chainhash.DoubleHashH(append(root[:], s[:]...))
		} else {
			root = chainhash.DoubleHashH(append(s[:], root[:]...))
		}
	}
	if root != n.blocks[h].Header.MerkleRoot {
		t.Fatalf("%s/merkle-proof leads to the root %s: %s", at, root, body)
	}
	compareMerkleBlock(t, w, n, at, h, id)
}

// compareMerkleBlock decodes a Merkle block. Package script tests its tree.
func compareMerkleBlock(t *testing.T, w *world, n *naive, at string, h int, id chainhash.Hash) {
	t.Helper()
	proof, err := hex.DecodeString(w.get(t, at+"/merkleblock-proof"))
	if err != nil {
		t.Fatal(err)
	}
	var m wire.MsgMerkleBlock
	if err := m.BtcDecode(bytes.NewReader(proof), wire.ProtocolVersion, wire.BaseEncoding); err != nil {
		t.Fatal(err)
	}
	has := slices.ContainsFunc(m.Hashes, func(leaf *chainhash.Hash) bool { return *leaf == id })
	if m.Header.BlockHash() != n.blocks[h].BlockHash() || int(m.Transactions) != len(n.blocks[h].Transactions) || !has {
		t.Fatalf("%s/merkleblock-proof: %+v", at, m)
	}
}

func compareScript(t *testing.T, w *world, n *naive, pkScript []byte, addressOf func([]byte) string) {
	t.Helper()
	txs, stats, changes, utxos := n.history(pkScript)
	zeros := text(statsJSON{})
	key := keyOf(pkScript)
	ways := map[string]string{
		"/scripthash/" + key: fmt.Sprintf(`{"chain_stats":%s,"mempool_stats":%s,"scripthash":"%s"}`, text(stats), zeros, key),
	}
	if a := addressOf(pkScript); a != "" {
		ways["/address/"+a] = fmt.Sprintf(`{"address":"%s","chain_stats":%s,"mempool_stats":%s}`, a, text(stats), zeros)
	}
	for at, totals := range ways {
		w.expect(t, at, totals, jsonType, "10")
		first := text(n.list(txs[:min(25, len(txs))], addressOf))
		w.expect(t, at+"/txs", first, jsonType, "10")
		w.expect(t, at+"/txs/chain", first, jsonType, "10")
		w.expect(t, at+"/txs/chain/nonsense", first, jsonType, "10")
		w.expect(t, at+"/txs/mempool", "[]", jsonType, "10")
		for i := 24; i < len(txs); i += 25 {
			rest := txs[i+1:]
			page := text(n.list(rest[:min(25, len(rest))], addressOf))
			w.expect(t, at+"/txs/chain/"+txs[i].TxHash().String(), page, jsonType, "10")
			w.expect(t, at+"/txs?after_txid="+txs[i].TxHash().String(), page, jsonType, "10")
		}
		if len(txs) > 1 {
			i := w.miner.rng.IntN(len(txs) - 1)
			id := txs[i].TxHash().String()
			two := text(n.list(txs[i+1:min(i+3, len(txs))], addressOf))
			w.expect(t, at+"/txs?max_txs=2&after_txid="+id, two, jsonType, "10")
			w.expect(t, at+"/txs/summary/"+id, text(changes[i+1:]), jsonType, "10")
			w.expect(t, at+"/txs/summary?max_txs=1", text(changes[:1]), jsonType, "10")
		}
		for _, tx := range n.order {
			if !slices.Contains(txs, tx) {
				w.expect(t, at+"/txs/chain/"+tx.TxHash().String(), "[]", jsonType, "10")
				break
			}
		}
		w.expect(t, at+"/txs/chain/"+strings.Repeat("ab", 32), "[]", jsonType, "10")
		w.expect(t, at+"/txs/summary", text(changes), jsonType, "10")
		w.expect(t, at+"/utxo", text(utxos), jsonType, "10")
	}
}

// compareMerged pages through the transactions of several scripts.
func compareMerged(t *testing.T, w *world, n *naive, addressOf func([]byte) string) {
	t.Helper()
	scripts := [][]byte{w.miner.script(), w.miner.script(), w.miner.script()}
	keys := []string{"nonsense"}
	var addresses []string
	var withAddress [][]byte
	all := map[*wire.MsgTx]bool{}
	paid := map[*wire.MsgTx]bool{}
	for _, s := range scripts {
		keys = append(keys, keyOf(s))
		txs, _, _, _ := n.history(s)
		a := addressOf(s)
		if a != "" {
			addresses, withAddress = append(addresses, a), append(withAddress, s)
		}
		for _, tx := range txs {
			all[tx] = true
			paid[tx] = paid[tx] || a != ""
		}
	}
	for endpoint, body := range map[string][]string{"/scripthashes/txs": keys, "/addresses/txs": append([]string{"x"}, addresses...)} {
		wanted := all
		if endpoint == "/addresses/txs" {
			wanted = paid
		}
		list := slices.DeleteFunc(slices.Clone(n.order), func(tx *wire.MsgTx) bool { return !wanted[tx] })
		slices.Reverse(list)
		query := ""
		for {
			page := list[:min(7, len(list))]
			a := w.post(t, endpoint+"?max_txs=7"+query, text(body))
			if want := text(n.list(page, addressOf)); a.status != 200 || a.body != want {
				t.Fatalf("%s%s %v:\n got %d %s\nwant %s", endpoint, query, body, a.status, a.body, want)
			}
			if len(page) == 0 {
				break
			}
			query = "&after_txid=" + page[len(page)-1].TxHash().String()
			list = list[len(page):]
		}
		of := scripts
		if endpoint == "/addresses/txs" {
			of = withAddress
		}
		_, _, changes, _ := n.history(of...)
		last := ""
		for more := true; more; {
			page := changes[:min(7, len(changes))]
			a := w.post(t, endpoint+"/summary"+last+"?max_txs=7", text(body))
			if a.status != 200 || a.body != text(page) {
				t.Fatalf("%s/summary%s %v:\n got %d %s\nwant %s", endpoint, last, body, a.status, a.body, text(page))
			}
			if more = len(page) > 0; more {
				last = "/" + page[len(page)-1].TxID
				changes = changes[len(page):]
			}
		}
	}
}

// A database without the option prefix, and one whose addresses begin with the same characters.
func TestAddressPrefix(t *testing.T) {
	w := newWorld(t, "regtest", nil)
	w.serve(t)
	w.miner.mine(20, 10)
	w.sync(t)
	var found []string
	if err := json.Unmarshal([]byte(w.get(t, "/address-prefix/bcrt1")), &found); err != nil {
		t.Fatal(err)
	}
	if len(found) == 0 || len(found) > 10 || slices.ContainsFunc(found, func(a string) bool { return !strings.HasPrefix(a, "bcrt1") }) {
		t.Errorf("addresses %q", found)
	}
	w.expect(t, "/address-prefix/zzzz", "[]", jsonType, "10")

	w = newWorld(t, "regtest", func(o *core.Options) { o.Keep["address"] = model.IndexOptions{} })
	w.serve(t)
	w.sync(t)
	if a := w.ask(t, "/address-prefix/bcrt1", nil); a.status != 400 || a.body != "address search disabled" {
		t.Errorf("without the option: %+v", a)
	}
}

// A reorganization confirms the same transactions at other heights, and a block that left the chain is not in it.
func TestReorganization(t *testing.T) {
	w := newWorld(t, "regtest", nil)
	w.serve(t)
	c := w.miner.chain
	c.MineEmpty(5)
	tx := bitcointest.Spend(c.Blocks()[1].Transactions[0], 0, wire.NewTxOut(1000, w.miner.scripts[0]))
	lost := c.Mine(tx)
	w.sync(t)
	at := "/tx/" + tx.TxHash().String()
	if got := w.get(t, at+"/status"); !strings.Contains(got, `"block_height":6,`) {
		t.Fatalf("status %s", got)
	}
	fork := c.Fork(4)
	fork.MineEmpty(3)
	w.miner.chain = fork
	w.sync(t)
	w.expect(t, at+"/status", `{"confirmed":false}`, jsonType, "10")
	w.expect(t, "/block/"+lost.BlockHash().String()+"/status", `{"in_best_chain":false,"height":null,"next_best":null}`, jsonType, "10")
	if a := w.ask(t, at, nil); a.status != 404 || a.body != "Transaction not found" {
		t.Errorf("a transaction that left the chain: %+v", a)
	}
	spent := "/tx/" + c.Blocks()[1].Transactions[0].TxHash().String() + "/outspend/0"
	w.expect(t, spent, `{"spent":false}`, jsonType, "10")
	fork.Mine(tx)
	w.sync(t)
	if got := w.get(t, at+"/status"); !strings.Contains(got, `"block_height":8,`) {
		t.Errorf("status after the reorganization: %s", got)
	}
	if got := w.get(t, spent); !strings.Contains(got, tx.TxHash().String()) {
		t.Errorf("the output is spent again: %s", got)
	}
}
