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

	"github.com/btcsuite/btcd/wire/v2"

	"birthmark/chains/adapter"
	"birthmark/chains/bitcoin/block"
	"birthmark/chains/bitcoin/params"
	"birthmark/internal/testblocks"
	"birthmark/model"
)

const repositoryTop = "../.."

// The names of the indexes.
// networks are the networks of Bitcoin.
var (
	networks = adapter.Networks[*params.Network](params.Networks)
	mainnet  = newChain(networks[0])
)

const (
	indexAddress    = "address"
	indexScriptHash = "script_hash"
	indexScriptType = "script_type"
	indexOpReturn   = "op_return"
)

// newEmitter returns an emitter of built-in indexes.
func newEmitter(t testing.TB, n *params.Network, names []string) *emitter {
	t.Helper()
	c := newChain(n)
	selected, err := c.Select(names)
	if err != nil {
		t.Fatal(err)
	}
	return c.emitter(names, selected)
}

// newDecoder returns a decoder for a network without custom indexes.
func newDecoder(n *params.Network, names []string) (*block.Decoder, error) {
	make, err := newChain(n).decoders(names, false, nil)
	if err != nil {
		return nil, err
	}
	return make(), nil
}

// allIndexes lists every index, in the order in which the tests expect keys.
var allIndexes = []string{indexAddress, indexScriptHash, indexScriptType, indexOpReturn}

// readData returns the uncompressed content of a file of real data.
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

// single is one line of single-blocks.dev.ndjson: another program's counts for a file with one block.
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

// decodeAll decodes an input in any supported format with the given indexes.
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

// shownKeys returns the formatted keys of an output by index name.
func shownKeys(n *params.Network, o *model.Output) map[string]string {
	all := indexes(n)
	keys := map[string]string{}
	for _, k := range o.Keys {
		keys[all[k.Index].Name] = all[k.Index].Format(k.Value)
	}
	return keys
}

// realFiles calls each with the uncompressed content and the network of every file of real blocks.
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

// rawBlocks splits an input into serialized blocks independently of the code under test.
func rawBlocks(t testing.TB, n *params.Network, input []byte) [][]byte {
	t.Helper()
	var blocks [][]byte
	f := inputDecoder{net: n}
	err := f.each(newBuffered(input), func(raw []byte, _ *claimedMeta) error {
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

// write writes files into a new folder and returns its path.
func write(t testing.TB, files map[string][]byte) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// open opens a source with all indexes.
func open(t testing.TB, networkName, path string, change ...func(*model.SourceOptions)) (model.Source, error) {
	t.Helper()
	c, err := New(networkName)
	if err != nil {
		t.Fatal(err)
	}
	o := model.SourceOptions{URI: "file://" + path, Indexes: allIndexes, Workers: 3}
	for _, f := range change {
		f(&o)
	}
	s, err := c.Open(t.Context(), o)
	if err != nil {
		return nil, err
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s, nil
}

func mustOpen(t testing.TB, networkName, path string, change ...func(*model.SourceOptions)) model.Source {
	t.Helper()
	s, err := open(t, networkName, path, change...)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// collect follows a source to its end. It checks that every block is the child of the block before it or of the
// rollback's target.
func collect(t testing.TB, s model.Source, known ...model.Point) (blocks []*model.Block, rollbacks []model.Point, err error) {
	t.Helper()
	at := model.Point{}
	if len(known) > 0 {
		at = known[0]
	}
	for e, err := range s.Follow(t.Context(), known) {
		switch {
		case err != nil:
			return blocks, rollbacks, err
		case e.Rollback != nil:
			at = *e.Rollback
			rollbacks = append(rollbacks, at)
		default:
			want := at.Height + 1
			if at.IsOrigin() {
				want = 0
			}
			if e.Block.Height != want || e.Block.Parent != at.Hash {
				t.Fatalf("block %d (parent %s) follows %d (%s)", e.Block.Height, block.FormatHash(e.Block.Parent), at.Height, block.FormatHash(at.Hash))
			}
			at = e.Block.Point()
			blocks = append(blocks, e.Block)
		}
	}
	return blocks, rollbacks, nil
}

// yields checks that a source yields exactly the blocks in want.
func yields(t testing.TB, n *params.Network, s model.Source, want []*wire.MsgBlock) {
	t.Helper()
	blocks, rollbacks, err := collect(t, s)
	if err != nil {
		t.Fatal(err)
	}
	if len(blocks) != len(want) || len(rollbacks) != 0 {
		t.Fatalf("%d blocks and %d rollbacks, expected %d and none", len(blocks), len(rollbacks), len(want))
	}
	for i, b := range blocks {
		if err := agreesWithWire(n, b, want[i]); err != nil {
			t.Fatalf("block %d: %v", i, err)
		}
	}
	tip, err := s.Tip(t.Context())
	if last := blocks[len(blocks)-1].Point(); err != nil || tip != last {
		t.Errorf("the tip is %v, %v; the last block is %v", tip, err, last)
	}
}

// fails checks the code of an error and that its message contains names.
func fails(t testing.TB, err error, code string, names ...string) {
	t.Helper()
	if err == nil {
		t.Fatalf("no error, expected %s", code)
	}
	kind, got := model.KindOf(err)
	if kind != model.BadSource || got != code || !contains(err.Error(), names...) {
		t.Fatalf("kind %d, code %s: %v; expected code %s and %q", kind, got, err, code, names)
	}
	if strings.Contains(err.Error(), "\n") {
		t.Errorf("more than one line: %q", err)
	}
}
