package ergo

import (
	"context"
	"os"
	"slices"
	"strings"
	"testing"

	"birthmark/internal/testblocks"
	"birthmark/model"
)

// The files of real blocks and their numbers of blocks.
var realFiles = []struct {
	path   []string
	blocks int
}{
	{[]string{"ergo", "ergo-uexplorer", "blocks_first.gz"}, 2000},
	{[]string{"ergo", "ergo-uexplorer", "forks_shorter.txt"}, 7},
	{[]string{"ergo", "derived-node-json", "mainnet_1795968_1796063.ndjson.gz"}, 96},
	{[]string{"ergo", "derived-node-json", "mainnet_844665_844680.ndjson.gz"}, 16},
	{[]string{"ergo", "arkadianet-ergo", "mainnet", "scala_headerids", "blocks_700000_700004.json"}, 5},
	{[]string{"ergo", "redbit", "avg_block.json"}, 1},
	{[]string{"ergo", "redbit", "small_block.json"}, 1},
	{[]string{"ergo", "sigma-rust", "block_540000_1.json"}, 1},
}

func realBlocks(t testing.TB, indexes []string, path ...string) []*model.Block {
	t.Helper()
	c, err := New("")
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(testblocks.Path(t, path...))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var blocks []*model.Block
	for b, err := range c.Decode(context.Background(), f, indexes, 0) {
		if err != nil {
			t.Fatalf("%v after %d blocks: %v", path, len(blocks), err)
		}
		blocks = append(blocks, b)
	}
	return blocks
}

func TestIDsOfRealBlocksAreRecomputed(t *testing.T) {
	for _, f := range realFiles {
		t.Run(f.path[len(f.path)-1], func(t *testing.T) {
			if blocks := realBlocks(t, valueNames, f.path...); len(blocks) != f.blocks {
				t.Errorf("%d blocks, expected %d", len(blocks), f.blocks)
			}
		})
	}
}

func TestTokensOfRealBlocksAreComplete(t *testing.T) {
	entries, tokens := 0, map[string]bool{}
	for _, b := range realBlocks(t, nil, "ergo", "arkadianet-ergo", "mainnet", "scala_headerids", "blocks_700000_700004.json") {
		for i := range b.Txs {
			for _, o := range b.Txs[i].Outputs {
				entries += len(o.Assets)
				for _, a := range o.Assets {
					tokens[string(a.ID)] = true
				}
			}
		}
	}
	// The manifest has the number of distinct tokens; the number of entries was counted in the file.
	if len(tokens) != 358 || entries != 714 {
		t.Errorf("%d tokens in %d entries, expected 358 in 714", len(tokens), entries)
	}
}

// The value of all unspent boxes equals that of the genesis boxes after every block.
func TestUnspentValueEqualsTheGenesis(t *testing.T) {
	genesis, err := decoderOf(t, indexBoxID).genesis(networks[0].genesisBoxes())
	if err != nil {
		t.Fatal(err)
	}
	unspent, sum := map[string]uint64{}, uint64(0)
	follow := func(txs []model.Tx) {
		for i := range txs {
			for _, in := range txs[i].Inputs {
				value, ok := unspent[string(in.Value)]
				if !ok {
					t.Fatalf("transaction %s spends %x, which is not unspent", txs[i].Hash, in.Value)
				}
				sum -= value
				delete(unspent, string(in.Value))
			}
			for _, o := range txs[i].Outputs {
				unspent[string(o.Keys[0].Value)] = o.Value
				sum += o.Value
			}
		}
	}
	follow(genesis)
	var parent model.Hash
	for _, b := range realBlocks(t, []string{indexBoxID}, "ergo", "ergo-uexplorer", "blocks_first.gz") {
		if b.Parent != parent {
			t.Fatalf("block %d follows %s, expected %s", b.Height, b.Parent, parent)
		}
		parent = b.Hash
		follow(b.Txs)
		if sum != supply {
			t.Fatalf("the unspent boxes have %d after block %d, expected %d", sum, b.Height, uint64(supply))
		}
	}
}

// The real blocks have every version, use every register, and mint tokens.
func TestRealBlocksCoverTheFormats(t *testing.T) {
	versions, registers, mints, repeated := map[uint8]bool{}, map[byte]bool{}, 0, 0
	for _, f := range realFiles {
		for _, b := range realBlocks(t, []string{indexRegister}, f.path...) {
			h, err := parseHeader(networks[0], b.Header)
			if err != nil {
				t.Fatal(err)
			}
			versions[h.Version] = true
			for i := range b.Txs {
				mints += len(b.Txs[i].Mints)
				for _, o := range b.Txs[i].Outputs {
					for _, k := range o.Keys {
						registers[k.Value[0]] = true
					}
					for j := range o.Assets {
						if slices.ContainsFunc(o.Assets[:j], func(a model.Asset) bool { return string(a.ID) == string(o.Assets[j].ID) }) {
							repeated++
						}
					}
				}
			}
		}
	}
	t.Logf("versions %v, registers %v, %d mints, %d repeated tokens", versions, registers, mints, repeated)
	if len(versions) < 4 || len(registers) != 6 || mints == 0 {
		t.Errorf("versions %v, registers %v, %d mints", versions, registers, mints)
	}
}

// The trees of real boxes have a text that is whole.
func TestRealTreesAreText(t *testing.T) {
	c, err := New("")
	if err != nil {
		t.Fatal(err)
	}
	print := func(tree []byte) (string, bool) { return c.(model.ScriptPrinter).PrintScript("ErgoTree", tree, 1<<20) }
	seen := map[string]bool{}
	for _, f := range realFiles {
		for _, b := range realBlocks(t, []string{indexAddress}, f.path...) {
			for _, tx := range b.Txs {
				for _, o := range tx.Outputs {
					if len(o.Keys) == 0 || seen[string(o.Keys[0].Value)] {
						continue
					}
					seen[string(o.Keys[0].Value)] = true
					tree := AddressTree(o.Keys[0].Value)
					if text, whole := print(tree); !whole || strings.Count(text, "{") != strings.Count(text, "}") {
						t.Errorf("%x: %q", tree, text)
					}
				}
			}
		}
	}
	if len(seen) < 500 {
		t.Errorf("%d addresses", len(seen))
	}
	for _, file := range []string{"v3_xorof_tree_h247361.hex", "v6_unsigned_bigint_script_h210076.hex"} {
		digits, err := os.ReadFile(testblocks.Path(t, "ergo", "arkadianet-ergo", "testnet", file))
		if err != nil {
			t.Fatal(err)
		}
		if text, whole := print(unhexed(t, strings.TrimSpace(string(digits)))); !whole {
			t.Errorf("%s: %q", file, text)
		}
	}
	if text, _ := c.(model.ScriptPrinter).PrintScript("native", AddressTree([]byte{typeP2PK, 2: 0, 33: 0}), 1000); text != "" {
		t.Errorf("another language: %q", text)
	}
}
