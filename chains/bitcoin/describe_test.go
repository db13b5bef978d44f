package bitcoin

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"birthmark/chains/bitcoin/params"
	"birthmark/internal/testblocks"
	"birthmark/internal/testrun"
)

// coreTx is a transaction in Core's getblock with verbosity 2. Older versions write fewer fields, and versions as
// signed numbers.
type coreTx struct {
	Version  int64  `json:"version"`
	Locktime uint32 `json:"locktime"`
	Size     int    `json:"size"`
	VSize    int    `json:"vsize"`
	Weight   int    `json:"weight"`
	Vin      []struct {
		Coinbase  *string `json:"coinbase"`
		ScriptSig struct {
			Hex string `json:"hex"`
		} `json:"scriptSig"`
		Sequence uint32   `json:"sequence"`
		Witness  []string `json:"txinwitness"`
	} `json:"vin"`
	Vout []struct {
		ScriptPubKey struct {
			Hex  string `json:"hex"`
			Type string `json:"type"`
		} `json:"scriptPubKey"`
	} `json:"vout"`
}

// coreTypes are Core's names of the types in answers.
var coreTypes = map[string]string{
	"pubkey": "p2pk", "pubkeyhash": "p2pkh", "scripthash": "p2sh", "multisig": "multisig", "nulldata": "op_return",
	"witness_v0_keyhash": "p2wpkh", "witness_v0_scripthash": "p2wsh", "witness_v1_taproot": "p2tr", "nonstandard": "nonstandard",
	"anchor": "nonstandard", "witness_unknown": "nonstandard",
}

func TestDetailsEqualCoresJSON(t *testing.T) {
	testrun.Slow(t)
	n, err := networks.Get(Name, "mainnet")
	if err != nil {
		t.Fatal(err)
	}
	txs, witnesses, types := 0, 0, map[string]int{}
	for _, folder := range []string{"rvagg-js-bitcoin-block", "ipld-js-bitcoin"} {
		files, err := filepath.Glob(filepath.Join(testblocks.Path(t, "bitcoin", folder), "*.json"))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %d files, %v", folder, len(files), err)
		}
		for _, file := range files {
			name := strings.TrimSuffix(filepath.Base(file), ".json")
			var want struct{ Tx []json.RawMessage }
			readJSON(t, &want, folder, name+".json")
			for _, raw := range rawBlocks(t, n, readData(t, folder, name+".hex")) {
				for i, got := range detailsOf(t, n, raw) {
					var core coreTx
					if err := json.Unmarshal(want.Tx[i], &core); err != nil {
						t.Fatalf("%s, transaction %d: %v", name, i, err)
					}
					if expected := expectedDetails(t, &core, types); got != expected {
						t.Fatalf("%s, transaction %d:\n got %s\nwant %s", name, i, got, expected)
					}
					if txs++; strings.Contains(string(want.Tx[i]), "txinwitness") {
						witnesses++
					}
				}
			}
		}
	}
	t.Logf("%d transactions, %d with a witness, outputs by type %v", txs, witnesses, types)
	if txs < 5000 || witnesses < 150 || len(types) < 7 {
		t.Error("too few")
	}
}

// detailsOf returns the details of the transactions of a block as text.
func detailsOf(t *testing.T, n *params.Network, raw []byte) (texts []string) {
	t.Helper()
	d, err := newDecoder(n, nil)
	if err != nil {
		t.Fatal(err)
	}
	d.KeepRaw = true
	b, err := d.Block(raw, 0)
	if err != nil {
		t.Fatal(err)
	}
	for i := range b.Txs {
		tx := &b.Txs[i]
		got, err := newChain(n).DescribeTx(tx.Raw, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		text := fmt.Sprintln(*got.Version, *got.Locktime, len(tx.Raw), got.VSize, got.Weight)
		for _, in := range got.Inputs {
			text += fmt.Sprintln("in", *in.Sequence, *in.ScriptSig, in.Witness)
		}
		for _, out := range got.Outputs {
			text += fmt.Sprintln("out", *out.Script, out.Type)
		}
		texts = append(texts, text)
	}
	return texts
}

// expectedDetails returns what detailsOf returns for Core's JSON of a transaction.
func expectedDetails(t *testing.T, core *coreTx, types map[string]int) string {
	t.Helper()
	weight := core.Weight
	if weight == 0 { // before Core 0.17, vsize is exact for transactions without a witness
		weight = 3*core.Size + core.Size
		for _, in := range core.Vin {
			if len(in.Witness) > 0 {
				t.Fatal("a transaction with a witness and without a weight")
			}
		}
	}
	text := fmt.Sprintln(uint32(core.Version), core.Locktime, core.Size, core.VSize, weight)
	for _, in := range core.Vin {
		if in.Coinbase == nil {
			text += fmt.Sprintln("in", in.Sequence, in.ScriptSig.Hex, in.Witness)
		}
	}
	for _, out := range core.Vout {
		kind, known := coreTypes[out.ScriptPubKey.Type]
		if !known {
			t.Fatalf("type %q", out.ScriptPubKey.Type)
		}
		types[kind]++
		text += fmt.Sprintln("out", out.ScriptPubKey.Hex, kind)
	}
	return text
}

func TestCoinbaseTextIsReadable(t *testing.T) {
	for script, want := range map[string]string{
		"04ffff001d0104455468652054696d65732030332f4a616e2f32303039204368616e63656c6c6f72206f6e206272696e6b206f66207365636f6e64206261696c6f757420666f722062616e6b73": "The Times 03/Jan/2009 Chancellor on brink of second bailout for banks",
		"04ffff001d0104": "",
		"":               "",
		"03a1b2c3" + hex.EncodeToString([]byte("\x00/Mined by AntPool/\xff\xfe")) + "ff":         "/Mined by AntPool/",
		"03a1b2c3" + "07" + hex.EncodeToString([]byte("né à b")[:7]):                             "né à",
		"03a1b2c3" + "03" + hex.EncodeToString([]byte("abc")):                                    "",
		"06" + hex.EncodeToString([]byte("/one/ ")) + "05" + hex.EncodeToString([]byte("/two/")): "/one/ /two/",
	} {
		raw, err := hex.DecodeString(script)
		if err != nil {
			t.Fatal(err)
		}
		if got := readableText(raw); got != want {
			t.Errorf("%s: %q, expected %q", script, got, want)
		}
	}
}
