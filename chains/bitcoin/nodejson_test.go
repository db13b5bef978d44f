package bitcoin

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"birthmark/chains/bitcoin/block"
	"birthmark/chains/bitcoin/params"
	"birthmark/internal/testblocks"
	"birthmark/internal/testrun"
	"birthmark/model"
)

// coreBlock has the fields of Core's getblock with verbosity 2.
type coreBlock struct {
	Hash         string  `json:"hash"`
	Height       uint32  `json:"height"`
	Size         int     `json:"size"`
	Version      int32   `json:"version"`
	MerkleRoot   string  `json:"merkleroot"`
	Time         int64   `json:"time"`
	Nonce        uint32  `json:"nonce"`
	Bits         string  `json:"bits"`
	Difficulty   float64 `json:"difficulty"`
	PreviousHash string  `json:"previousblockhash"`
	Tx           []struct {
		ID  string `json:"txid"`
		Vin []struct {
			Coinbase string `json:"coinbase"`
			ID       string `json:"txid"`
			Out      uint32 `json:"vout"`
		} `json:"vin"`
		Vout []struct {
			Value        json.Number `json:"value"`
			ScriptPubKey struct {
				Hex       string   `json:"hex"`
				Type      string   `json:"type"`
				Addresses []string `json:"addresses"`
			} `json:"scriptPubKey"`
		} `json:"vout"`
	} `json:"tx"`
}

// satoshis converts an amount from coins, as Core writes it, to satoshis.
func satoshis(t *testing.T, n json.Number) uint64 {
	t.Helper()
	s := n.String()
	exponent := 0
	if mantissa, e, ok := strings.Cut(s, "e"); ok {
		s = mantissa
		var err error
		if exponent, err = strconv.Atoi(e); err != nil {
			t.Fatal(err)
		}
	}
	whole, part, _ := strings.Cut(s, ".")
	places := 8 + exponent
	for len(part) < places {
		part += "0"
	}
	if places < 0 || strings.Trim(part[places:], "0") != "" {
		t.Fatalf("amount %s", n)
	}
	v, err := strconv.ParseUint(whole+part[:places], 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestDecodingAgreesWithCoresJSON(t *testing.T) {
	testrun.Slow(t)
	outputs := 0
	for _, folder := range []string{"rvagg-js-bitcoin-block", "ipld-js-bitcoin"} {
		files, err := filepath.Glob(filepath.Join(testblocks.Path(t, "bitcoin", folder), "*.json"))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %d files, %v", folder, len(files), err)
		}
		for _, file := range files {
			name := strings.TrimSuffix(filepath.Base(file), ".json")
			var want coreBlock
			readJSON(t, &want, folder, name+".json")
			blocks := decodeAll(t, "mainnet", readData(t, folder, name+".hex"), allIndexes)
			if len(blocks) != 1 {
				t.Fatalf("%s: %d blocks", name, len(blocks))
			}
			outputs += agreesWithCore(t, name, blocks[0], &want)

			// The JSON decodes to the same block at its stated height.
			again := decodeAll(t, "mainnet", readData(t, folder, name+".json"), allIndexes)
			if len(again) != 1 || again[0].Height != model.HeightPk(want.Height) {
				t.Errorf("%s: the JSON decodes to %d blocks", name, len(again))
			}
			again[0].Height = blocks[0].Height
			if a, b := fmt.Sprint(*again[0]), fmt.Sprint(*blocks[0]); a != b {
				t.Errorf("%s: decoded from JSON it differs", name)
			}
		}
	}
	t.Logf("%d outputs", outputs)
}

func agreesWithCore(t *testing.T, name string, b *model.Block, want *coreBlock) (outputs int) {
	t.Helper()
	h, err := newChain(networks[0]).parseHeader(b.Header)
	if err != nil {
		t.Fatal(err)
	}
	parent := block.FormatHash(b.Parent)
	if b.Parent == (model.Hash{}) {
		parent = ""
	}
	got := fmt.Sprint(block.FormatHash(b.Hash), b.Size, b.Time, parent, len(b.Txs), *h)
	expected := fmt.Sprint(want.Hash, want.Size, want.Time, want.PreviousHash, len(want.Tx),
		Header{want.Version, want.MerkleRoot, want.Bits, want.Nonce, want.Difficulty})
	// Core wrote difficulties with up to 16 digits, which a float64 can exceed.
	if close := h.Difficulty/want.Difficulty - 1; close > -1e-14 && close < 1e-14 {
		h.Difficulty = want.Difficulty
		got = fmt.Sprint(block.FormatHash(b.Hash), b.Size, b.Time, parent, len(b.Txs), *h)
	}
	if got != expected {
		t.Errorf("%s:\n%s, expected from Core\n%s", name, got, expected)
		return
	}
	// The height is known from the coinbase since version 2, and for the genesis block from its hash.
	if known := h.Version >= 2 || want.Height == 0; known && b.Height != model.HeightPk(want.Height) {
		t.Errorf("%s: height %d, expected %d", name, b.Height, want.Height)
	}
	for i, tx := range want.Tx {
		ours := b.Txs[i]
		spends := tx.Vin
		if i == 0 {
			spends = nil
		}
		if block.FormatHash(ours.Hash) != tx.ID || len(ours.Inputs) != len(spends) || len(ours.Outputs) != len(tx.Vout) {
			t.Errorf("%s: transaction %d: %s with %d inputs and %d outputs, Core has %s, %d, %d",
				name, i, block.FormatHash(ours.Hash), len(ours.Inputs), len(ours.Outputs), tx.ID, len(spends), len(tx.Vout))
			continue
		}
		for j, in := range spends {
			if o := ours.Inputs[j]; block.FormatHash(o.Tx) != in.ID || o.Index != in.Out {
				t.Errorf("%s: transaction %d: input %d spends %s:%d, Core has %s:%d", name, i, j, block.FormatHash(o.Tx), o.Index, in.ID, in.Out)
			}
		}
		for j, out := range tx.Vout {
			keys := shownKeys(networks[0], &ours.Outputs[j])
			addresses := out.ScriptPubKey.Addresses
			switch out.ScriptPubKey.Type {
			case "multisig":
				addresses = nil // Core listed the addresses of all keys of a bare multisig; the index has none
			case "pubkey":
				addresses = nil // Core lists none; the index has the address of the key, which another test compares with btcd
				delete(keys, indexAddress)
			}
			var own []string
			if a, ok := keys[indexAddress]; ok {
				own = []string{a}
			}
			if v := satoshis(t, out.Value); ours.Outputs[j].Value != v || keys[indexScriptType] != out.ScriptPubKey.Type || !slices.Equal(own, addresses) {
				t.Errorf("%s: transaction %d: output %d: %d to %v, Core has %d, %s, %v", name, i, j, ours.Outputs[j].Value, keys, v, out.ScriptPubKey.Type, addresses)
			}
			outputs++
		}
	}
	return outputs
}

// TestCountsOfRealBlocks compares with another program's counts for every file with one block.
func TestCountsOfRealBlocks(t *testing.T) {
	names := map[string]string{
		"p2pk": "pubkey", "p2pkh": "pubkeyhash", "p2sh": "scripthash", "p2wpkh": "witness_v0_keyhash", "p2wsh": "witness_v0_scripthash",
		"p2tr": "witness_v1_taproot", "witness_other": "witness_unknown", "multisig": "multisig", "nonstandard": "nonstandard",
		"op_return": "nulldata", "op_return_runes": "nulldata",
	}
	all := singles(t)
	for _, s := range all {
		blocks := decodeAll(t, s.Net, readData(t, s.File), []string{indexScriptType, indexScriptHash})
		if len(blocks) != 1 {
			t.Fatalf("%s: %d blocks", s.File, len(blocks))
		}
		b := blocks[0]
		got := single{File: s.File, Net: s.Net, Height: s.Height, SameBlockSpends: s.SameBlockSpends,
			Hash: block.FormatHash(b.Hash), Txs: len(b.Txs), Bytes: b.Size, Kinds: map[string]int{}}
		distinct := map[string]bool{}
		made := map[model.Hash]bool{}
		got.SameBlockSpends = 0
		for _, tx := range b.Txs {
			got.Ins += len(tx.Inputs)
			got.MaxIns = max(got.MaxIns, len(tx.Inputs), 1) // a coinbase has one input, which spends nothing
			got.Outs += len(tx.Outputs)
			got.MaxOuts = max(got.MaxOuts, len(tx.Outputs))
			for _, in := range tx.Inputs {
				if made[in.Tx] {
					got.SameBlockSpends++
				}
			}
			made[tx.Hash] = true
			for _, o := range tx.Outputs {
				kind := string(o.Keys[0].Value)
				got.Kinds[kind]++
				if kind != "nulldata" {
					got.ScriptOuts++
					distinct[string(o.Keys[1].Value)] = true
				}
			}
		}
		got.DistinctScripts = len(distinct)
		want := s
		want.Kinds = map[string]int{}
		for kind, n := range s.Kinds {
			want.Kinds[names[kind]] += n
		}
		// The other program recognized bare multisig keys by length alone. Core and this package also check the first
		// byte, because Counterparty hid data in such keys. Core's JSON of two of these blocks has nonstandard.
		hidden := got.Kinds["nonstandard"] - want.Kinds["nonstandard"]
		if hidden > 0 && got.Kinds["multisig"]+hidden == want.Kinds["multisig"] {
			t.Logf("%s: %d outputs in the form of a multisig with an invalid key", s.File, hidden)
			want.Kinds["nonstandard"], want.Kinds["multisig"] = got.Kinds["nonstandard"], got.Kinds["multisig"]
			for kind, n := range want.Kinds {
				if n == 0 {
					delete(want.Kinds, kind)
				}
			}
		}
		if a, b := fmt.Sprintf("%+v", got), fmt.Sprintf("%+v", want); a != b {
			t.Errorf("%s:\n%s, expected\n%s", s.File, a, b)
		}
	}
	t.Logf("%d blocks", len(all))
}

// rustBlock is a block in rust-bitcoin's serde format.
type rustBlock struct {
	TxData []struct {
		Input []struct {
			Previous string `json:"previous_output"`
		} `json:"input"`
		Output []struct {
			Value  uint64 `json:"value"`
			Script string `json:"script_pubkey"`
		} `json:"output"`
	} `json:"txdata"`
}

func TestDecodingAgreesWithRustBitcoin(t *testing.T) {
	for name, file := range map[string]string{
		"small": "redbit_small_00000000000004b9e873c255437d6cc5cccb7cc18c06fafdaa5fdd48188a9a6c.raw",
		"huge":  "redbit_huge_000000000000000000017bb9edb21a7a1e3a0ddd7e317c06932e8567ee420357.raw",
	} {
		var want rustBlock
		readJSON(t, &want, "redbit", name+"_block.json")
		b := decodeAll(t, "mainnet", readData(t, "converted", file), allIndexes)[0]
		if len(b.Txs) != len(want.TxData) {
			t.Fatalf("%s: %d transactions, expected %d", name, len(b.Txs), len(want.TxData))
		}
		for i, tx := range want.TxData {
			for j, in := range tx.Input {
				if i == 0 {
					continue
				}
				if o := b.Txs[i].Inputs[j]; fmt.Sprintf("%s:%d", block.FormatHash(o.Tx), o.Index) != in.Previous {
					t.Errorf("%s: transaction %d: input %d spends %s:%d, expected %s", name, i, j, block.FormatHash(o.Tx), o.Index, in.Previous)
				}
			}
			for j, out := range tx.Output {
				compareOutput(t, name, networks[0], &b.Txs[i].Outputs[j], out.Value, unhex(t, out.Script))
			}
		}
	}
}

func compareOutput(t *testing.T, name string, n *params.Network, o *model.Output, value uint64, script []byte) {
	t.Helper()
	if got, want := fmt.Sprint(o.Value, shownKeys(n, o)), fmt.Sprint(value, expectedKeys(n, script)); got != want {
		t.Errorf("%s: output %s, expected %s", name, got, want)
	}
}

func TestElectrumxBlocks(t *testing.T) {
	for name, network := range map[string]string{"bitcoin_signet_31500": "signet", "bitcoin_testnet4_40000": "testnet4"} {
		var want struct {
			Hash   string   `json:"hash"`
			Height uint32   `json:"height"`
			Size   int      `json:"size"`
			Tx     []string `json:"tx"`
			Block  string   `json:"block"`
		}
		readJSON(t, &want, "electrumx", name+".json")
		b := decodeAll(t, network, []byte(want.Block), nil)[0]
		if block.FormatHash(b.Hash) != want.Hash || b.Size != want.Size || b.Height != model.HeightPk(want.Height) || len(b.Txs) != len(want.Tx) {
			t.Errorf("%s: %s, %d bytes, height %d, %d transactions", name, block.FormatHash(b.Hash), b.Size, b.Height, len(b.Txs))
		}
		for i, tx := range b.Txs {
			if block.FormatHash(tx.Hash) != want.Tx[i] {
				t.Errorf("%s: transaction %d is %s, expected %s", name, i, block.FormatHash(tx.Hash), want.Tx[i])
			}
		}
	}
}

func TestBitcoinjsBlocks(t *testing.T) {
	var file struct {
		Valid []struct {
			Description string `json:"description"`
			ID          string `json:"id"`
			Hex         string `json:"hex"`
			Size        int    `json:"size"`
		} `json:"valid"`
	}
	readJSON(t, &file, "bitcoinjs", "block.json")
	whole := 0
	for _, c := range file.Valid {
		blocks, err := tryDecode(t, "testnet3", []byte(c.Hex), nil)
		switch {
		case strings.HasPrefix(c.Description, "Headers only"):
			if err == nil || !contains(err.Error(), "count", "offset 80") {
				t.Errorf("%s: %v", c.Description, err)
			}
		case err != nil:
			t.Errorf("%s: %v", c.Description, err)
		default:
			whole++
			if block.FormatHash(blocks[0].Hash) != c.ID || c.Size != 0 && blocks[0].Size != c.Size {
				t.Errorf("%s: %s of %d bytes, expected %s of %d", c.Description, block.FormatHash(blocks[0].Hash), blocks[0].Size, c.ID, c.Size)
			}
		}
	}
	if whole < 4 {
		t.Errorf("%d whole blocks", whole)
	}
}

func TestEveryInputFormatGivesTheSameBlock(t *testing.T) {
	hex := bytes.TrimSpace(readData(t, "ipld-js-bitcoin", "525343.hex"))
	raw := unhex(t, string(hex))
	record := slices.Concat(networks[0].Magic[:], []byte{byte(len(raw)), byte(len(raw) >> 8), byte(len(raw) >> 16), 0}, raw)
	var shown coreBlock
	json := readData(t, "ipld-js-bitcoin", "525343.json")
	readJSON(t, &shown, "ipld-js-bitcoin", "525343.json")

	want := fmt.Sprint(*decodeAll(t, "mainnet", raw, allIndexes)[0])
	for form, input := range map[string][]byte{
		"hex":                         hex,
		"hex with line ends":          slices.Concat([]byte("\r\n"), hex, []byte("\r\n\n")),
		"hex in capitals":             bytes.ToUpper(hex),
		"record":                      record,
		"record with padding":         slices.Concat(record, make([]byte, 100)),
		"JSON":                        json,
		"JSON with a byte order mark": append([]byte("\ufeff"), json...),
		"list":                        slices.Concat([]byte("["), json, []byte("]")),
		"reply":                       slices.Concat([]byte(`{"error":null,"id":1,"result":`), json, []byte("}")),
		"reply with hex":              slices.Concat([]byte(`{"result":"`), hex, []byte(`","error":null}`)),
		"btcd's rawtx instead of tx":  bytes.Replace(json, []byte(`"tx":[`), []byte(`"rawtx":[`), 1),
	} {
		blocks, err := tryDecode(t, "mainnet", input, allIndexes)
		if err != nil || len(blocks) != 1 || fmt.Sprint(*blocks[0]) != want {
			t.Errorf("%s: %d blocks, or a different block: %v", form, len(blocks), err)
		}
	}
	for form, input := range map[string][]byte{
		"hex":     slices.Concat(hex, []byte("\n"), hex, []byte("\n")),
		"records": slices.Concat(record, make([]byte, 3), record),
		"JSON":    slices.Concat(json, []byte("\n"), json),
	} {
		if blocks := decodeAll(t, "mainnet", input, nil); len(blocks) != 2 {
			t.Errorf("%s: %d blocks of 2", form, len(blocks))
		}
	}
}
