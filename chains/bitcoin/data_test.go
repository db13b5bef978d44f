package bitcoin

import (
	"bytes"
	"compress/bzip2"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"birthmark/internal/testblocks"
	"birthmark/model"
)

const repositoryTop = "../.."

// allIndexes is every index, in the order the tests expect keys in.
var allIndexes = []string{indexAddress, indexScriptHash, indexScriptType, indexOpReturn}

// readData is a file of real data, uncompressed.
func readData(t testing.TB, path ...string) []byte {
	t.Helper()
	full := testblocks.Path(t, append([]string{"bitcoin"}, path...)...)
	b, err := os.ReadFile(full)
	if err != nil {
		t.Fatal(err)
	}
	switch filepath.Ext(full) {
	case ".bz2":
		if b, err = io.ReadAll(bzip2.NewReader(bytes.NewReader(b))); err != nil {
			t.Fatalf("%s: %v", full, err)
		}
	case ".zst":
		unzstd, err := exec.LookPath("zstd")
		if err != nil {
			t.Skipf("%s is compressed and there is no zstd", full)
		}
		if b, err = exec.Command(unzstd, "-dc", full).Output(); err != nil {
			t.Fatalf("%s: %v", full, err)
		}
	}
	return b
}

func readJSON(t testing.TB, into any, path ...string) {
	t.Helper()
	b := bytes.TrimPrefix(readData(t, path...), []byte("\ufeff"))
	if err := json.Unmarshal(b, into); err != nil {
		t.Fatalf("%s: %v", filepath.Join(path...), err)
	}
}

// single is one line of single-blocks.dev.ndjson: what others counted in a file of one block.
type single struct {
	File, Hash, Net                  string
	Height, Txs, Ins, Outs, Bytes    int
	SameBlockSpends, ScriptOuts      int
	MaxIns, MaxOuts, DistinctScripts int
	Kinds                            map[string]int
}

func singles(t testing.TB) []single {
	t.Helper()
	var all []single
	in := json.NewDecoder(bytes.NewReader(readData(t, "single-blocks.dev.ndjson")))
	for in.More() {
		var s single
		if err := in.Decode(&s); err != nil {
			t.Fatal(err)
		}
		all = append(all, s)
	}
	return all
}

// decodeAll decodes an input in any form with the given indexes.
func decodeAll(t testing.TB, networkName string, input []byte, indexes []string) []*model.Block {
	t.Helper()
	blocks, err := tryDecode(t, networkName, input, indexes)
	if err != nil {
		t.Fatal(err)
	}
	return blocks
}

func tryDecode(t testing.TB, networkName string, input []byte, indexes []string) ([]*model.Block, error) {
	t.Helper()
	c, err := New(networkName)
	if err != nil {
		t.Fatal(err)
	}
	var blocks []*model.Block
	for b, err := range c.Decode(t.Context(), bytes.NewReader(input), indexes, 0) {
		if err != nil {
			return blocks, err
		}
		blocks = append(blocks, b)
	}
	return blocks, nil
}

// shownKeys are the keys of an output by index name, as people see them.
func shownKeys(n *network, o *model.Output) map[string]string {
	all := n.indexes()
	keys := map[string]string{}
	for _, k := range o.Keys {
		keys[all[k.Index].Name] = all[k.Index].Format(k.Value)
	}
	return keys
}

// realFiles are all files of blocks there are, uncompressed, with their network.
func realFiles(t testing.TB, each func(name, network string, input []byte)) {
	t.Helper()
	for _, s := range singles(t) {
		each(s.File, s.Net, readData(t, s.File))
	}
	for name, network := range map[string]string{
		"jeffchan/blk00000.dat":                          "mainnet",
		"btcd/blocks1-256.bz2":                           "mainnet",
		"converted/floresta_signet_0_120.blk.dat":        "signet",
		"converted/core_regtest_getblockstats.blk.dat":   "regtest",
		"converted/core_testnet3_blockfilters.blk.dat":   "testnet3",
		"utreexod/blocks.txt":                            "regtest",
		"converted/electrumx_bitcoin_signet_31500.raw":   "signet",
		"converted/electrumx_bitcoin_testnet4_40000.raw": "testnet4",
		"bitcoin-core/block413567.raw":                   "mainnet",
		"bitcore/block-357238.json":                      "mainnet",
		"btcd/blk_0_to_4.dat.bz2":                        "mainnet",
		"btcd/blk_3A.dat.bz2":                            "mainnet",
		"btcd/blk_4A.dat.bz2":                            "mainnet",
		"btcd/blk_5A.dat.bz2":                            "mainnet",
		"rvagg-js-bitcoin-block/genesis.hex":             "mainnet",
	} {
		each(name, network, readData(t, filepath.FromSlash(name)))
	}
}

// rawBlocks takes an input apart into serialized blocks by means of its own, for oracles.
func rawBlocks(t testing.TB, n *network, input []byte) [][]byte {
	t.Helper()
	var blocks [][]byte
	f := forms{net: n}
	err := f.each(newBuffered(input), func(raw []byte, _ *statement) error {
		blocks = append(blocks, bytes.Clone(raw))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return blocks
}

func contains(s string, all ...string) bool {
	for _, part := range all {
		if !strings.Contains(s, part) {
			return false
		}
	}
	return true
}
