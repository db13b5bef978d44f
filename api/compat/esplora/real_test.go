package esplora_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/wire/v2"

	"birthmark/api/compat/esplora"
	"birthmark/api/compat/wallet"
	"birthmark/internal/testblocks"
	"birthmark/model"
)

// nodeBlock is a block as getblock of Bitcoin Core returns it with verbosity 2.
type nodeBlock struct {
	Hash, MerkleRoot, PreviousBlockHash, Bits   string
	Height, Size, Weight, NTx, Time, MedianTime int
	Version, Nonce                              uint32
	Difficulty                                  float64
	Tx                                          []struct {
		TxID           string
		Version        uint32
		LockTime       uint32
		Size, Weight   int
		Vin            []nodeInput
		Vout           []nodeOutput
		Hex, BlockHash string
	}
}

type nodeInput struct {
	TxID, Coinbase string
	Vout           uint32
	Sequence       uint32
	ScriptSig      struct{ Hex string }
	TxInWitness    []string
}

type nodeOutput struct {
	Value        json.Number
	ScriptPubKey struct {
		Hex, Type, Address string
		Addresses          []string
	}
}

// esploraTypes are the names of Core's types in Esplora.
var esploraTypes = map[string]string{
	"pubkey": "p2pk", "pubkeyhash": "p2pkh", "scripthash": "p2sh", "witness_v0_keyhash": "v0_p2wpkh",
	"witness_v0_scripthash": "v0_p2wsh", "witness_v1_taproot": "v1_p2tr", "nulldata": "op_return", "multisig": "unknown",
}

// Objects of blocks and transactions have the values that Bitcoin Core reports for the real blocks. The outputs that
// these blocks spend are missing.
func TestObjectsEqualTheNodesOnRealBlocks(t *testing.T) {
	w := newWorld(t, "mainnet", nil)
	c := wallet.New(w.served)
	blocks, txs := 0, 0
	for _, folder := range []string{"rvagg-js-bitcoin-block", "ipld-js-bitcoin"} {
		files, err := filepath.Glob(filepath.Join(testblocks.Path(t, "bitcoin", folder), "*.json"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			var b nodeBlock
			if doc := readFile(t, file); json.Unmarshal(doc, &b) != nil || b.Hash == "" || b.MedianTime == 0 || len(b.Tx) == 0 {
				continue
			}
			whole, err := os.ReadFile(strings.TrimSuffix(file, ".json") + ".hex")
			if err != nil {
				continue
			}
			raw, err := hex.DecodeString(strings.TrimSpace(string(whole)))
			if err != nil {
				t.Fatalf("%s: %v", file, err)
			}
			var m wire.MsgBlock
			if err := m.Deserialize(bytes.NewReader(raw)); err != nil {
				t.Fatalf("%s: %v", file, err)
			}
			compareRealBlock(t, &b, &m, raw[:80])
			for i := range b.Tx {
				compareRealTx(t, c, &b, i, m.Transactions[i])
				txs++
			}
			blocks++
		}
	}
	if blocks < 5 || txs < 4500 {
		t.Errorf("only %d blocks with %d transactions were compared", blocks, txs)
	}
	t.Logf("%d blocks, %d transactions", blocks, txs)
}

func readFile(t testing.TB, file string) []byte {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return bytes.TrimPrefix(b, []byte("\ufeff"))
}

func compareRealBlock(t *testing.T, b *nodeBlock, m *wire.MsgBlock, header []byte) {
	t.Helper()
	got := esplora.BlockObject(&wallet.Block{
		Point:  model.Point{Height: model.HeightPk(b.Height), Hash: model.Hash(m.BlockHash())},
		Header: header, Size: m.SerializeSize(), Weight: 3*m.SerializeSizeStripped() + m.SerializeSize(),
		TxCount: len(m.Transactions), MedianTime: int64(b.MedianTime),
	})
	var j blockJSON
	if err := json.Unmarshal([]byte(got), &j); err != nil {
		t.Fatal(err)
	}
	bits, err := strconv.ParseUint(b.Bits, 16, 32)
	if err != nil {
		t.Fatal(err)
	}
	difficulty, err := j.Difficulty.Float64()
	if err != nil || difficulty/b.Difficulty < 1-1e-12 || difficulty/b.Difficulty > 1+1e-12 || !strings.ContainsAny(j.Difficulty.String(), ".e") {
		t.Errorf("block %d: difficulty %s, expected %v", b.Height, j.Difficulty, b.Difficulty)
	}
	want := blockJSON{
		ID: b.Hash, Height: b.Height, Version: b.Version, Timestamp: int64(b.Time), TxCount: b.NTx, Size: b.Size, Weight: b.Weight,
		MerkleRoot: b.MerkleRoot, MedianTime: int64(b.MedianTime), Nonce: b.Nonce, Bits: uint32(bits), Difficulty: j.Difficulty,
	}
	if b.PreviousBlockHash != "" {
		want.Previous = &b.PreviousBlockHash
	}
	if text(j) != text(want) {
		t.Errorf("block %d:\n got %s\nwant %s", b.Height, got, text(want))
	}
}

func compareRealTx(t *testing.T, c *wallet.Chain, b *nodeBlock, i int, m *wire.MsgTx) {
	t.Helper()
	n := &b.Tx[i]
	tx := &wallet.Tx{ID: model.Hash(m.TxHash()), Raw: raw(m), Msg: m, Weight: 3*m.SerializeSizeStripped() + m.SerializeSize()}
	var j txJSON
	if err := json.Unmarshal([]byte(esplora.TxObject(c, tx)), &j); err != nil {
		t.Fatal(err)
	}
	at := b.Hash + " " + n.TxID
	if j.TxID != n.TxID || j.Version != n.Version || j.LockTime != n.LockTime || j.Size != n.Size || j.Weight != n.Weight ||
		len(j.Vin) != len(n.Vin) || len(j.Vout) != len(n.Vout) {
		t.Fatalf("%s: %+v", at, j)
	}
	for k, in := range n.Vin {
		got := j.Vin[k]
		want := inputJSON{
			TxID: in.TxID, Vout: in.Vout, ScriptSig: in.ScriptSig.Hex, Asm: got.Asm, Witness: in.TxInWitness, Sequence: in.Sequence,
		}
		if in.Coinbase != "" {
			want.TxID, want.Vout, want.ScriptSig, want.Coinbase = strings.Repeat("0", 64), 4294967295, in.Coinbase, true
			want.Witness = got.Witness // releases of Core differ
		}
		if text(got) != text(want) {
			t.Fatalf("%s, input %d:\n got %s\nwant %s", at, k, text(got), text(want))
		}
	}
	for k, out := range n.Vout {
		compareRealOutput(t, at+", output "+strconv.Itoa(k), j.Vout[k], out)
	}
}

func compareRealOutput(t *testing.T, at string, got outputJSON, out nodeOutput) {
	t.Helper()
	s := out.ScriptPubKey
	value, err := strconv.ParseFloat(out.Value.String(), 64)
	if err != nil {
		t.Fatal(err)
	}
	if got.Script != s.Hex || got.Value != int64(value*1e8+0.5) {
		t.Fatalf("%s: %s, expected %+v", at, text(got), out)
	}
	if want, ok := esploraTypes[s.Type]; ok && got.Type != want {
		t.Fatalf("%s: type %s, expected %s", at, got.Type, want)
	}
	address := s.Address
	if address == "" && len(s.Addresses) == 1 {
		address = s.Addresses[0]
	}
	if s.Type == "pubkey" || s.Type == "multisig" { // older releases of Core list the addresses of keys
		address = ""
	}
	if got.Address != address {
		t.Fatalf("%s: address %q, expected %q", at, got.Address, address)
	}
}

// realBlocks is the file of Bitcoin's first 14,132 blocks that comes with a Go module.
func realBlocks(t testing.TB) string {
	t.Helper()
	out, err := exec.Command("go", "-C", filepath.Join("..", "..", "..", "tools"), "list", "-m", "-f", "{{.Dir}}",
		"github.com/btcsuite/btcd").Output()
	if dir := strings.TrimSpace(string(out)); err == nil && dir != "" {
		return filepath.Join(dir, "blockchain", "testdata", "blk_0_to_14131.dat")
	}
	t.Skip("real blocks are missing: run make blocks")
	return ""
}

// Answers about the first blocks of mainnet.
func TestKnownAnswersOfMainnet(t *testing.T) {
	w := newWorld(t, "mainnet", nil)
	w.serve(t)
	to := model.HeightPk(200)
	w.syncFrom(t, realBlocks(t), &to)
	w.expect(t, "/block-height/0", "000000000019d6689c085ae165831e934ff763ae46a2a6c172b3f1b60a8ce26f", textType, forever)
	w.expect(t, "/block/000000000019d6689c085ae165831e934ff763ae46a2a6c172b3f1b60a8ce26f",
		`{"id":"000000000019d6689c085ae165831e934ff763ae46a2a6c172b3f1b60a8ce26f","height":0,"version":1,"timestamp":1231006505,`+
			`"tx_count":1,"size":285,"weight":1140,"merkle_root":"4a5e1e4baab89f3a32518a88c31bc87f618f76673e2cc77ab2127b7afdeda33b",`+
			`"previousblockhash":null,"mediantime":1231006505,"nonce":2083236893,"bits":486604799,"difficulty":1.0}`, jsonType, forever)
	const payment = "f4184fc596403b9d638783cf57adfe4c75c605f6356fbc91338530e9831e9e16"
	w.expect(t, "/tx/"+payment, strings.Join([]string{`{"txid":"` + payment + `","version":1,"locktime":0,"vin":[{`,
		`"txid":"0437cd7f8525ceed2324359c2d0ba26006d92d856a9c20fa0241106ee5a597c9","vout":0,"prevout":{`,
		`"scriptpubkey":"410411db93e1dcdb8a016b49840f8c53bc1eb68a382e97b1482ecad7b148a6909a5cb2e0eaddfb84ccf9744464f82e160bfa9b8b64f9d4c03f999b8643f656b412a3ac",`,
		`"scriptpubkey_asm":"OP_PUSHBYTES_65 0411db93e1dcdb8a016b49840f8c53bc1eb68a382e97b1482ecad7b148a6909a5cb2e0eaddfb84ccf9744464f82e160bfa9b8b64f9d4c03f999b8643f656b412a3 OP_CHECKSIG",`,
		`"scriptpubkey_type":"p2pk","value":5000000000},`,
		`"scriptsig":"47304402204e45e16932b8af514961a1d3a1a25fdf3f4f7732e9d624c6c61548ab5fb8cd410220181522ec8eca07de4860a4acdd12909d831cc56cbbac4622082221a8768d1d0901",`,
		`"scriptsig_asm":"OP_PUSHBYTES_71 304402204e45e16932b8af514961a1d3a1a25fdf3f4f7732e9d624c6c61548ab5fb8cd410220181522ec8eca07de4860a4acdd12909d831cc56cbbac4622082221a8768d1d0901",`,
		`"is_coinbase":false,"sequence":4294967295}],"vout":[{`,
		`"scriptpubkey":"4104ae1a62fe09c5f51b13905f07f06b99a2f7159b2225f374cd378d71302fa28414e7aab37397f554a7df5f142c21c1b7303b8a0626f1baded5c72a704f7e6cd84cac",`,
		`"scriptpubkey_asm":"OP_PUSHBYTES_65 04ae1a62fe09c5f51b13905f07f06b99a2f7159b2225f374cd378d71302fa28414e7aab37397f554a7df5f142c21c1b7303b8a0626f1baded5c72a704f7e6cd84c OP_CHECKSIG",`,
		`"scriptpubkey_type":"p2pk","value":1000000000},{`,
		`"scriptpubkey":"410411db93e1dcdb8a016b49840f8c53bc1eb68a382e97b1482ecad7b148a6909a5cb2e0eaddfb84ccf9744464f82e160bfa9b8b64f9d4c03f999b8643f656b412a3ac",`,
		`"scriptpubkey_asm":"OP_PUSHBYTES_65 0411db93e1dcdb8a016b49840f8c53bc1eb68a382e97b1482ecad7b148a6909a5cb2e0eaddfb84ccf9744464f82e160bfa9b8b64f9d4c03f999b8643f656b412a3 OP_CHECKSIG",`,
		`"scriptpubkey_type":"p2pk","value":4000000000}],"size":275,"weight":1100,"fee":0,`,
		`"status":{"confirmed":true,"block_height":170,"block_hash":"00000000d1145790a8694403d4063f323d499e655c83426834d4ce2f8dd4a2ee","block_time":1231731025}}`,
	}, ""), jsonType, forever)
	// The output pays to a key. The address of that key has another script, which nothing pays to.
	w.expect(t, "/address/12cbQLTFMXRnSzktFkuoG3eHoMeFtpTu3S/txs", "[]", jsonType, "10")
	// The first coinbase output belongs to no script.
	w.expect(t, "/tx/4a5e1e4baab89f3a32518a88c31bc87f618f76673e2cc77ab2127b7afdeda33b/outspends", `[{"spent":false}]`, jsonType, "10")
}
