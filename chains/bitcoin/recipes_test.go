package bitcoin

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"slices"
	"testing"

	"github.com/btcsuite/btcd/txscript/v2"
	"github.com/btcsuite/btcd/wire/v2"

	"birthmark/chains/bitcoin/block"
	"birthmark/chains/indexexpr/recipes"
	"birthmark/internal/testnode/bitcointest"
)

// recipe is the expected result of a recipe in docs/indexes.md: the number of values, and one value at a known output.
type recipe struct {
	values    int
	value, at string
}

// check decodes inputs with the recipes of the page and compares the results.
func checkRecipes(t *testing.T, network string, inputs [][]byte, want map[string]recipe) {
	t.Helper()
	own, _ := recipes.Of(t, "Bitcoin")
	c := define(t, network, own...)
	names := make([]string, len(own))
	for i, d := range own {
		names[i] = d.Name
	}
	got, known := map[string]int{}, map[string]bool{}
	for _, input := range inputs {
		for _, b := range decodeWith(t, c, input, names...) {
			for i := range b.Txs {
				for j := range b.Txs[i].Outputs {
					at := fmt.Sprintf("%s:%d", block.FormatHash(b.Txs[i].Hash), j)
					for name, values := range shownValues(c, names, &b.Txs[i].Outputs[j]) {
						got[name] += len(values)
						if want[name].at == at && slices.Contains(values, want[name].value) {
							known[name] = true
						}
					}
				}
			}
		}
	}
	for name, w := range want {
		if w.values != got[name] || !known[name] && w.value != "" {
			t.Errorf("%s finds %d values, expected %d; %s at %s: %t", name, got[name], w.values, w.value, w.at, known[name])
		}
	}
}

// Every recipe of docs/indexes.md is tested with real or generated blocks.
func TestEveryRecipeIsTested(t *testing.T) {
	own, offered := recipes.Of(t, "Bitcoin")
	if len(offered) > 0 {
		t.Errorf("bitcoin offers %v by default", offered)
	}
	first, _ := recipes.Of(t, "Defining an index")
	if !slices.Contains(own, first[0]) {
		t.Errorf("the first example is not one of the recipes: %+v", first[0])
	}
	for _, d := range own {
		_, real := realRecipes[d.Name]
		_, made := madeRecipes[d.Name]
		if real == made {
			t.Errorf("the recipe %s is tested on real blocks: %t, on generated ones: %t", d.Name, real, made)
		}
	}
}

// From block 908244, and from block 575000 for Omni.
var realRecipes = map[string]recipe{
	"revealed_key":      {11_235, "02f1e71cf2ac854d3d8e2d4a9c05c2d37c862a9271a63ac1ba37ce40ac1008a5f7", "7e1b3abf1b4d913cb30275142377028900b6de19b8da8f8bd665e55b603ee2ff:0"},
	"content_type":      {137, "text/plain;charset=utf-8", "69c149cea3a9aa8e3e67408943f7c636d737be2f760ae31bfebc62d107c4bde1:0"},
	"inscription":       {137, "69c149cea3a9aa8e3e67408943f7c636d737be2f760ae31bfebc62d107c4bde1i0", "69c149cea3a9aa8e3e67408943f7c636d737be2f760ae31bfebc62d107c4bde1:0"},
	"inscription_child": {12, "050393f8bfd384260b48167fdc7fb913826c589fcb400dfd0f6e0aa0a62cd4cfi0", "3db8b5d249658081d0d64831b322c40d6dc4f850ccf00b63eacbef608f9f09be:0"},
	"brc20":             {133, "zeusz", "3db8b5d249658081d0d64831b322c40d6dc4f850ccf00b63eacbef608f9f09be:0"},
	"runestone":         {65, "160200c4cf3354fc0801", "3f929158f8588f5dc992f0e73a07abb5ca3f4c2ec08abfc294fbf0966114b578:0"},
	"runes":             {65, "message", "7aee021e89f04453dc3e30fb93139e3759c93ae79ef3f779df439c9a4947e2cf:1"},
	"memo_protocol":     {552, "434f5245", "6a122bf6eaefcd5522ab9fad8461da678b5fc3b33160aaaec7a2e161ed911c27:3"},
	"omni_property":     {368, "31", "429c3d71f09cba5ff67616158d84e9dcfe66cf695826ebd1900693c8abce85c8:2"},
	"merge_mining":      {4, "52534b424c4f434b3a", "6a122bf6eaefcd5522ab9fad8461da678b5fc3b33160aaaec7a2e161ed911c27:6"},
	"multisig_key":      {42, "020202020202020202020202020202020202020202020202020202020202020202", "b3dd0caf910e353f4e59330dd88d83c2ece5a04642a489ea7faa877a367cf78c:1"},
}

func TestRecipesOnRealBlocks(t *testing.T) {
	inputs := [][]byte{exampleBlock(t), readData(t, "rvagg-js-bitcoin-block", "00000000000000000007df59824a0c86d1cc21b90eb25259dd2dba5170cea5f5.hex")}
	checkRecipes(t, "mainnet", inputs, realRecipes)
}

var madeRecipes = map[string]recipe{
	"id": {}, "sym": {}, "own": {}, "list": {}, "color": {}, "brc20_deploy": {},
}

// No available real block has these values, so the blocks are generated.
func TestRecipesOnConstructedBlocks(t *testing.T) {
	script := func(parts ...[]byte) []byte { return bytes.Join(parts, nil) }
	push := func(b []byte) []byte {
		s, err := txscript.NewScriptBuilder().AddData(b).Script()
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	owner := bytes.Repeat([]byte{7}, block.Hash160Size)
	pay := script([]byte{txscript.OP_DUP, txscript.OP_HASH160}, push(owner), []byte{txscript.OP_EQUALVERIFY, txscript.OP_CHECKSIG})
	inscribed := func(kind, body string) []byte {
		return script([]byte{txscript.OP_0, txscript.OP_IF}, push([]byte("ord")), []byte{txscript.OP_1}, push([]byte(kind)), []byte{txscript.OP_0}, push([]byte(body)), []byte{txscript.OP_ENDIF})
	}
	const token = "00000000000000000000000000000000000000000000000000000000000000aa_0"
	market, err := hex.DecodeString("2097dfd76851bf465e8f715593b217714858bbe9570ff3bd5e33840a34e20ff026")
	if err != nil {
		t.Fatal(err)
	}
	color := bytes.Repeat([]byte{0xc1}, 33)
	outputs := [][]byte{
		script(pay, inscribed("application/bsv-20", `{"p":"bsv-20","op":"deploy+mint","sym":"GOLD","amt":"21000000"}`)),
		script(inscribed("application/bsv-20", `{"p":"bsv-20","op":"transfer","id":"`+token+`","amt":"5"}`), pay),
		script(inscribed("application/bsv-20", `{"p":"bsv-20","op":"transfer","id":"`+token+`","amt":"5"}`), market, pay),
		script(inscribed("text/plain", `{"p":"bsv-20","op":"transfer","id":"`+token+`","amt":"5"}`), pay),
		script(inscribed("application/bsv-20", `no json`)),
		script(push(color), []byte{0xbc}, pay),
		script(push(color), pay),
		pay,
	}
	chain := bitcointest.NewChain()
	var made []*wire.TxOut
	for _, s := range outputs {
		made = append(made, wire.NewTxOut(1, s))
	}
	tx := bitcointest.Spend(chain.Tip().Transactions[0], 0, made...)
	reveal := bitcointest.Spend(tx, 0, wire.NewTxOut(1, pay))
	reveal.TxIn[0].Witness = wire.TxWitness{
		make([]byte, 64),
		script(inscribed("text/plain", `{"p":"brc-20","op":"mint","tick":"ordi","amt":"1"}`), inscribed("text/plain", `{"p":"brc-20","op":"deploy","tick":"ORDI","max":"21000000"}`)),
		append([]byte{0xc0}, make([]byte, 32)...),
	}
	chain.Mine(tx, reveal)
	hash := tx.TxHash().String()
	for name, r := range map[string]recipe{
		"id":           {3, hash + "_0", hash + ":0"},
		"sym":          {1, "GOLD", hash + ":0"},
		"own":          {4, hex.EncodeToString(owner), hash + ":1"},
		"list":         {1, token, hash + ":2"},
		"brc20_deploy": {1, "ordi", reveal.TxHash().String() + ":0"},
		"color":        {1, hex.EncodeToString(color), hash + ":5"},
	} {
		madeRecipes[name] = r
	}
	checkRecipes(t, "regtest", [][]byte{bitcointest.BlockFile(wire.TestNet, chain.Blocks()...)}, madeRecipes)
}
