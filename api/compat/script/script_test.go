package script_test

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/txscript/v2"
	"github.com/btcsuite/btcd/wire/v2"

	"birthmark/api/compat/script"
	"birthmark/api/jsonappend"
	"birthmark/chains/bitcoin/block"
	"birthmark/internal/testblocks"
	"birthmark/internal/testseed"
	"birthmark/model"
)

func unhex(t testing.TB, text string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.ReplaceAll(text, " ", ""))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestDisassembly(t *testing.T) {
	key := strings.Repeat("02", 33)
	for _, c := range []struct{ script, rust, core string }{
		{"", "", ""},
		{"00", "OP_0", "0"},
		{"76a914" + strings.Repeat("11", 20) + "88ac",
			"OP_DUP OP_HASH160 OP_PUSHBYTES_20 " + strings.Repeat("11", 20) + " OP_EQUALVERIFY OP_CHECKSIG",
			"OP_DUP OP_HASH160 " + strings.Repeat("11", 20) + " OP_EQUALVERIFY OP_CHECKSIG"},
		{"0014" + strings.Repeat("ab", 20), "OP_0 OP_PUSHBYTES_20 " + strings.Repeat("ab", 20), "0 " + strings.Repeat("ab", 20)},
		{"5121" + key + "51ae", "OP_PUSHNUM_1 OP_PUSHBYTES_33 " + key + " OP_PUSHNUM_1 OP_CHECKMULTISIG", "1 " + key + " 1 OP_CHECKMULTISIG"},
		{"4f50 60", "OP_PUSHNUM_NEG1 OP_RESERVED OP_PUSHNUM_16", "-1 OP_RESERVED 16"},
		{"b1b2b3", "OP_CLTV OP_CSV OP_NOP4", "OP_CHECKLOCKTIMEVERIFY OP_CHECKSEQUENCEVERIFY OP_NOP4"},
		{"b0b9babbfeff", "OP_NOP1 OP_NOP10 OP_CHECKSIGADD OP_RETURN_187 OP_RETURN_254 OP_INVALIDOPCODE",
			"OP_NOP1 OP_NOP10 OP_CHECKSIGADD OP_UNKNOWN OP_UNKNOWN OP_INVALIDOPCODE"},
		{"4c00 4c02abcd", "OP_PUSHDATA1 OP_PUSHDATA1 abcd", "0 -19883"},
		{"4d0100ff", "OP_PUSHDATA2 ff", "-127"},
		{"4e01000000 80", "OP_PUSHDATA4 80", "0"},
		{"04ffff001d 0104", "OP_PUSHBYTES_4 ffff001d OP_PUSHBYTES_1 04", "486604799 4"},
		{"0181 020001", "OP_PUSHBYTES_1 81 OP_PUSHBYTES_2 0001", "-1 256"},
		{"6a 05ab", "OP_RETURN OP_PUSHBYTES_5 <push past end>", "OP_RETURN [error]"},
		{"ac 4c", "OP_CHECKSIG<unexpected end>", "OP_CHECKSIG [error]"},
		{"4d01", "<unexpected end>", "[error]"},
		{"4c05ab", "OP_PUSHDATA1 <push past end>", "[error]"},
	} {
		in := unhex(t, c.script)
		if got := string(script.AppendAsm([]byte("x"), in)); got != "x"+c.rust {
			t.Errorf("%s: %q, expected %q", c.script, got[1:], c.rust)
		}
		if got := string(script.AppendCoreAsm(nil, in, false)); got != c.core {
			t.Errorf("%s in Core's form: %q, expected %q", c.script, got, c.core)
		}
	}
}

// Names of opcodes equal the names of btcd, except for opcodes that Bitcoin Core and btcd name differently.
func TestOpcodeNamesMatchBtcd(t *testing.T) {
	for op := 0x61; op <= 0xb9; op++ {
		got := string(script.AppendCoreAsm(nil, []byte{byte(op)}, false))
		want, err := txscript.DisasmString([]byte{byte(op)})
		if err != nil {
			t.Fatal(err)
		}
		if got != want {
			t.Errorf("opcode %#x: %q, btcd has %q", op, got, want)
		}
	}
}

func TestTypes(t *testing.T) {
	a20, a32, key := strings.Repeat("aa", 20), strings.Repeat("aa", 32), "02"+strings.Repeat("aa", 32)
	for _, c := range []struct{ script, esplora, core string }{
		{"", "empty", "nonstandard"},
		{"6a", "op_return", "nulldata"},
		{"6a04aabb", "op_return", "nonstandard"},
		{"21" + key + "ac", "p2pk", "pubkey"},
		{"2105" + a32 + "ac", "p2pk", "nonstandard"},
		{"4104" + a32 + a32 + "ac", "p2pk", "pubkey"},
		{"76a914" + a20 + "88ac", "p2pkh", "pubkeyhash"},
		{"a914" + a20 + "87", "p2sh", "scripthash"},
		{"0014" + a20, "v0_p2wpkh", "witness_v0_keyhash"},
		{"0020" + a32, "v0_p2wsh", "witness_v0_scripthash"},
		{"5120" + a32, "v1_p2tr", "witness_v1_taproot"},
		{"51024e73", "unknown", "anchor"},
		{"5214" + a20, "unknown", "witness_unknown"},
		{"0010" + a20[:32], "unknown", "nonstandard"},
		{"5121" + key + "51ae", "unknown", "multisig"},
		{"50", "provably_unspendable", "nonstandard"},
		{"7e51", "provably_unspendable", "nonstandard"},
		{"ba", "provably_unspendable", "nonstandard"},
		{"ff", "provably_unspendable", "nonstandard"},
		{"82", "unknown", "nonstandard"},
		{"b1", "unknown", "nonstandard"},
	} {
		in := unhex(t, c.script)
		if got := script.EsploraType(in); got != c.esplora {
			t.Errorf("%s: type %s, expected %s", c.script, got, c.esplora)
		}
		if got := script.CoreType(in); got != c.core {
			t.Errorf("%s: type %s in Core, expected %s", c.script, got, c.core)
		}
	}
	if !script.Unspendable(make([]byte, 10_001)) || script.Unspendable(make([]byte, 10_000)) || script.Unspendable(nil) {
		t.Error("a script is unspendable if it has more than 10,000 bytes")
	}
}

func TestInnerScripts(t *testing.T) {
	p2sh := unhex(t, "a914"+strings.Repeat("aa", 20)+"87")
	p2wsh := unhex(t, "0020"+strings.Repeat("bb", 32))
	p2tr := unhex(t, "5120"+strings.Repeat("cc", 32))
	inner := []byte{0x51, 0xac}
	annex, control := []byte{0x50, 1}, make([]byte, 33)
	nested := append([]byte{0x22}, p2wsh...)
	for _, c := range []struct {
		name             string
		spent, scriptSig []byte
		witness          [][]byte
		redeem, script   []byte
	}{
		{"P2PKH", unhex(t, "76a914"+strings.Repeat("11", 20)+"88ac"), []byte{1, 2, 1, 3}, nil, nil, nil},
		{"P2SH", p2sh, []byte{0, 2, 0x51, 0xac}, nil, inner, nil},
		{"P2SH whose script ends with another opcode", p2sh, []byte{1, 1, 0xac}, nil, nil, nil},
		{"P2SH whose script is cut off", p2sh, []byte{1, 1, 5, 1}, nil, nil, nil},
		{"P2SH of an empty script", p2sh, []byte{0}, nil, []byte{}, nil},
		{"P2WSH", p2wsh, nil, [][]byte{{1}, inner}, nil, inner},
		{"P2WSH in P2SH", p2sh, nested, [][]byte{{1}, inner}, p2wsh, inner},
		{"P2TR with a key", p2tr, nil, [][]byte{make([]byte, 64)}, nil, nil},
		{"P2TR with a key and an annex", p2tr, nil, [][]byte{make([]byte, 64), annex}, nil, nil},
		{"P2TR with a script", p2tr, nil, [][]byte{{1}, inner, control}, nil, inner},
		{"P2TR with a script and an annex", p2tr, nil, [][]byte{inner, control, annex}, nil, inner},
		{"P2TR in P2SH", p2sh, append([]byte{0x22}, p2tr...), [][]byte{inner, control}, p2tr, nil},
	} {
		redeem, witnessScript := script.Inner(c.spent, c.scriptSig, c.witness)
		if !bytes.Equal(redeem, c.redeem) || (redeem == nil) != (c.redeem == nil) || !bytes.Equal(witnessScript, c.script) {
			t.Errorf("%s: %x, %x, expected %x, %x", c.name, redeem, witnessScript, c.redeem, c.script)
		}
	}
}

func TestAmounts(t *testing.T) {
	for satoshi, want := range map[int64]string{
		0: "0.00000000", 1: "0.00000001", 5000000000: "50.00000000", 2099999997690000: "20999999.97690000", -150000000: "-1.50000000",
	} {
		if got := string(script.AppendBTC(nil, satoshi)); got != want {
			t.Errorf("%d: %s, expected %s", satoshi, got, want)
		}
	}
}

// Every transaction of every position in a tree of any size is proved by its Merkle block.
func TestMerkleBlocksProveTheirTransaction(t *testing.T) {
	r := testseed.Rand(t)
	for n := 1; n <= 70; n++ {
		ids := make([]model.Hash, n)
		for i := range ids {
			binary.LittleEndian.PutUint64(ids[i][:], r.Uint64())
		}
		root, _ := block.MerkleRoot(append([]model.Hash{}, ids...))
		header := make([]byte, block.HeaderSize)
		copy(header[36:], root[:])
		for position := range ids {
			proof, err := script.AppendMerkleBlock(nil, header, ids, position)
			if err != nil {
				t.Fatal(err)
			}
			var m wire.MsgMerkleBlock
			if err := m.BtcDecode(bytes.NewReader(proof), wire.ProtocolVersion, wire.BaseEncoding); err != nil {
				t.Fatalf("%d of %d: %v", position, n, err)
			}
			found := proved(t, &m)
			if len(found) != 1 || found[position] != ids[position] {
				t.Fatalf("%d of %d: proves %v", position, n, found)
			}
		}
		if _, err := script.AppendMerkleBlock(nil, header, ids, n); err == nil {
			t.Errorf("position %d of %d is accepted", n, n)
		}
	}
}

// proved follows the algorithm of BIP 37 and returns the matched leaves by position.
func proved(t testing.TB, m *wire.MsgMerkleBlock) map[int]model.Hash {
	t.Helper()
	width := func(height int) int { return (int(m.Transactions) + 1<<height - 1) >> height }
	height := 0
	for width(height) > 1 {
		height++
	}
	found, bits, hashes := map[int]model.Hash{}, 0, m.Hashes
	var walk func(height, at int) model.Hash
	walk = func(height, at int) model.Hash {
		set := m.Flags[bits/8]>>(bits%8)&1 == 1
		bits++
		if height == 0 || !set {
			h := model.Hash(*hashes[0])
			hashes = hashes[1:]
			if set {
				found[at] = h
			}
			return h
		}
		left := walk(height-1, 2*at)
		right := left
		if 2*at+1 < width(height-1) {
			right = walk(height-1, 2*at+1)
		}
		return block.DoubleHash(append(left[:], right[:]...))
	}
	if root := walk(height, 0); root != model.Hash(m.Header.MerkleRoot) {
		t.Fatalf("root %s, expected %s", root, m.Header.MerkleRoot)
	}
	if len(hashes) > 0 || (bits+7)/8 != len(m.Flags) {
		t.Fatalf("%d hashes and %d bits of %d bytes are used", len(hashes), bits, len(m.Flags))
	}
	return found
}

// nodeBlock is a block as getblock of Bitcoin Core returns it with verbosity 2.
type nodeBlock struct {
	Hash string
	Tx   []json.RawMessage
}

// TestVerboseTransactionsEqualTheNodes compares the transactions of all real blocks with Core's own JSON. Releases
// differ in keys that were added (desc, fee, in_active_chain) or removed (addresses, reqSigs): keys of both are
// compared.
func TestVerboseTransactionsEqualTheNodes(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(testblocks.Path(t, "bitcoin", "rvagg-js-bitcoin-block"), "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no blocks of a node: %v", err)
	}
	compared := 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var b nodeBlock
		if json.Unmarshal(text, &b) != nil || b.Hash == "" {
			continue
		}
		for _, doc := range b.Tx {
			var want map[string]any
			if json.Unmarshal(doc, &want) != nil || want["hex"] == nil {
				continue
			}
			raw := unhex(t, want["hex"].(string))
			tx, err := script.VerboseTxOf(raw, func([]byte) string { return "" }, nil)
			if err != nil {
				t.Fatal(err)
			}
			text := jsonappend.Append(nil, tx)
			var got map[string]any
			if err := json.Unmarshal(text, &got); err != nil {
				t.Fatalf("%s: %v", text, err)
			}
			if v := want["version"].(float64); v < 0 { // older releases print it with a sign
				want["version"] = v + 1<<32
			}
			sameWhereBoth(t, filepath.Base(file)+": "+want["txid"].(string), got, want)
			compared++
		}
	}
	if compared < 1000 {
		t.Errorf("only %d transactions were compared", compared)
	}
	t.Logf("%d transactions", compared)
}

// sameWhereBoth compares two JSON values, of objects the keys that both have.
func sameWhereBoth(t testing.TB, at string, got, want any) {
	t.Helper()
	switch want := want.(type) {
	case map[string]any:
		for key, value := range want {
			if g, ok := got.(map[string]any)[key]; ok {
				sameWhereBoth(t, at+"."+key, g, value)
			}
		}
	case []any:
		list, _ := got.([]any)
		if len(list) != len(want) {
			t.Fatalf("%s: %d entries, expected %d", at, len(list), len(want))
		}
		for i := range want {
			sameWhereBoth(t, at, list[i], want[i])
		}
	default:
		if got != want {
			t.Fatalf("%s: %v, expected %v", at, got, want)
		}
	}
}
