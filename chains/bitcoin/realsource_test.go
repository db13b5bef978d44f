package bitcoin

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/wire/v2"

	"birthmark/chains/bitcoin/block"
	"birthmark/chains/bitcoin/params"
	"birthmark/model"
)

// totals counts the content of a chain.
type totals struct{ blocks, txs, inputs, outputs int }

func count(blocks []*model.Block) (n totals) {
	n.blocks = len(blocks)
	for _, b := range blocks {
		n.txs += len(b.Txs)
		for _, tx := range b.Txs {
			n.inputs += len(tx.Inputs)
			n.outputs += len(tx.Outputs)
		}
	}
	return n
}

// framed returns serialized blocks as a block file of a network.
func framed(n *params.Network, blocks ...[]byte) []byte {
	var out []byte
	for _, raw := range blocks {
		out = append(append(out, n.Magic[:]...), byte(len(raw)), byte(len(raw)>>8), byte(len(raw)>>16), byte(len(raw)>>24))
		out = append(out, raw...)
	}
	return out
}

func TestRealChains(t *testing.T) {
	for name, c := range map[string]struct {
		network string
		input   []byte
		tip     string
		want    totals
	}{
		"mainnet":  {"mainnet", readData(t, "jeffchan", "blk00000.dat"), "", totals{4313, 4371, 247, 4397}},
		"signet":   {"signet", readData(t, "converted", "floresta_signet_0_120.blk.dat"), "", totals{121, 121, 0, 241}},
		"utreexod": {"regtest", readData(t, "utreexod", "blocks.txt"), "", totals{151, 151, 0, 151}},
		"core":     {"regtest", readData(t, "converted", "core_regtest_getblockstats.blk.dat"), "53e416e2538bc783c42a7aea566e884321afed893e9e58cf356d6429759dfa46", totals{104, 108, 4, 215}},
	} {
		n, err := networks.Get(Name, c.network)
		if err != nil {
			t.Fatal(err)
		}
		raws := rawBlocks(t, n, c.input)
		dir := write(t, map[string][]byte{"blk00000.dat": framed(n, raws...)})
		s := mustOpen(t, c.network, dir)
		want := make([]*wire.MsgBlock, len(raws))
		for i, raw := range raws {
			want[i] = new(wire.MsgBlock)
			if err := want[i].Deserialize(bytes.NewReader(raw)); err != nil {
				t.Fatal(err)
			}
		}
		yields(t, n, s, want)
		blocks, _, _ := collect(t, s)
		if got := count(blocks); got != c.want {
			t.Errorf("%s: %+v, expected %+v", name, got, c.want)
		}
		if tip := block.FormatHash(blocks[len(blocks)-1].Hash); c.tip != "" && tip != c.tip {
			t.Errorf("%s: tip %s, expected %s", name, tip, c.tip)
		}
	}
}

// TestFirst14132MainnetBlocks reads the file that btcd's own tests use: the first 14,132 blocks of mainnet.
func TestFirst14132MainnetBlocks(t *testing.T) {
	list := exec.Command("go", "list", "-m", "-modfile=tools/go.mod", "-f", "{{.Dir}}", "github.com/btcsuite/btcd")
	list.Dir = repositoryTop
	out, err := list.Output()
	path := filepath.Join(strings.TrimSpace(string(out)), "blockchain", "testdata", "blk_0_to_14131.dat")
	if _, statErr := os.Stat(path); err != nil || statErr != nil {
		t.Skipf("the btcd module is not in the module cache: %v %v", err, statErr)
	}
	s := mustOpen(t, "mainnet", path)
	blocks, rollbacks, err := collect(t, s)
	if err != nil || len(rollbacks) != 0 {
		t.Fatal(err, rollbacks)
	}
	if got, want := count(blocks), (totals{14_132, 14_247, 865, 14_282}); got != want {
		t.Errorf("%+v, expected %+v", got, want)
	}
	tip := blocks[len(blocks)-1]
	if tip.Height != 14_131 || block.FormatHash(tip.Hash) != "00000000b3e750f37fdb42e1018799a9f44b546d393b130b369590a072430a1c" {
		t.Errorf("tip %d %s", tip.Height, block.FormatHash(tip.Hash))
	}
	// In these blocks every subsidy was claimed in full and no fee was paid, so the sum of unspent outputs is exact.
	unspent := map[string]uint64{}
	for _, b := range blocks {
		for _, tx := range b.Txs {
			for _, in := range tx.Inputs {
				key := fmt.Sprint(in.Tx, in.Index)
				if _, ok := unspent[key]; !ok {
					t.Fatalf("block %d: %s spends an unknown output", b.Height, block.FormatHash(tx.Hash))
				}
				delete(unspent, key)
			}
			for i, o := range tx.Outputs {
				unspent[fmt.Sprint(tx.Hash, uint32(i))] = o.Value
			}
		}
	}
	sum := uint64(0)
	for _, v := range unspent {
		sum += v
	}
	if supply := networks[0].Supply(tip.Height); len(unspent) != 13_417 || sum != supply || sum != 70_660_000_000_000 {
		t.Errorf("%d unspent outputs hold %d, the subsidies are %d", len(unspent), sum, supply)
	}
}

// TestGetBlockStats compares with Core's getblockstats of three blocks of Core's own regtest chain.
func TestGetBlockStats(t *testing.T) {
	var file struct {
		Blocks []string `json:"blocks"`
		Stats  []struct {
			Hash     string `json:"blockhash"`
			Height   int    `json:"height"`
			Time     int64  `json:"time"`
			Ins      int    `json:"ins"`
			Outs     int    `json:"outs"`
			Txs      int    `json:"txs"`
			TotalOut uint64 `json:"total_out"`
			Size     int    `json:"total_size"`
			Fee      uint64 `json:"totalfee"`
			Subsidy  uint64 `json:"subsidy"`
			Increase int    `json:"utxo_increase"`
		} `json:"stats"`
	}
	readJSON(t, &file, "bitcoin-core", "rpc_getblockstats.json")
	blocks := decodeAll(t, "regtest", []byte(strings.Join(file.Blocks, "\n")), nil)
	values := map[string]uint64{}
	fees := make([]uint64, len(blocks))
	for h, b := range blocks {
		if int(b.Height) != h {
			t.Errorf("block %d has height %d", h, b.Height)
		}
		for i, tx := range b.Txs {
			for _, in := range tx.Inputs {
				fees[h] += values[fmt.Sprint(in.Tx, in.Index)]
			}
			for j, o := range tx.Outputs {
				values[fmt.Sprint(tx.Hash, uint32(j))] = o.Value
				if i > 0 {
					fees[h] -= o.Value
				}
			}
		}
	}
	n := networks[4]
	for _, want := range file.Stats {
		b := blocks[want.Height]
		got := want
		got.Hash, got.Time, got.Txs, got.Fee = block.FormatHash(b.Hash), b.Time, len(b.Txs), fees[want.Height]
		got.Subsidy = n.Supply(b.Height) - n.Supply(b.Height-1)
		got.Ins, got.Outs, got.TotalOut = 0, 0, 0
		for i, tx := range b.Txs {
			got.Ins += len(tx.Inputs)
			got.Outs += len(tx.Outputs)
			for _, o := range tx.Outputs {
				if i > 0 {
					got.TotalOut += o.Value
				}
			}
		}
		got.Increase = got.Outs - got.Ins
		var m wire.MsgBlock
		if err := m.Deserialize(bytes.NewReader(unhex(t, file.Blocks[want.Height]))); err != nil {
			t.Fatal(err)
		}
		got.Size = b.Size - block.HeaderSize - 1 - m.Transactions[0].SerializeSize()
		if got != want {
			t.Errorf("%+v, expected from Core %+v", got, want)
		}
	}
}

// TestForksOfBtcd adds the branches of btcd's reorganization test one at a time.
func TestForksOfBtcd(t *testing.T) {
	base := readData(t, "btcd", "blk_0_to_4.dat.bz2")
	parts := [][]byte{base, readData(t, "btcd", "blk_3A.dat.bz2"), readData(t, "btcd", "blk_4A.dat.bz2"), readData(t, "btcd", "blk_5A.dat.bz2")}
	hash := func(part []byte, i int) model.Hash { return block.Header(rawBlocks(t, networks[0], part)[i]).Hash() }
	for many, want := range []struct {
		tip    model.Hash
		height model.HeightPk
	}{
		{hash(base, 4), 4}, // no branch
		{hash(base, 4), 4}, // a branch with less work
		{hash(base, 4), 4}, // a later branch with the same work
		{hash(parts[3], 0), 5},
	} {
		s := mustOpen(t, "mainnet", write(t, map[string][]byte{"blk00000.dat": bytes.Join(parts[:many+1], nil)}))
		blocks, _, err := collect(t, s)
		if err != nil {
			t.Fatal(err)
		}
		if tip := blocks[len(blocks)-1]; tip.Hash != want.tip || tip.Height != want.height {
			t.Errorf("with %d branch blocks the tip is %d %s, expected %d %s", many, tip.Height, block.FormatHash(tip.Hash), want.height, block.FormatHash(want.tip))
		}
	}
	// An older version of the same tree, as commented text.
	text := string(readData(t, "btcd", "reorgtest.hex"))
	lines := regexp.MustCompile(`(?m)^\s+[0-9a-f ]+$`).FindAllString(text, -1)
	dump := unhex(t, strings.NewReplacer(" ", "", "\n", "").Replace(strings.Join(lines, "")))
	raws := rawBlocks(t, networks[0], dump)
	if len(raws) != 8 {
		t.Fatalf("%d blocks in reorgtest.hex", len(raws))
	}
	s := mustOpen(t, "mainnet", write(t, map[string][]byte{"blk00000.dat": dump}))
	if tip, _ := s.Tip(t.Context()); tip.Height != 5 || tip.Hash != block.Header(raws[7]).Hash() {
		t.Errorf("reorgtest.hex: tip %d %s", tip.Height, block.FormatHash(tip.Hash))
	}
}

func TestForksOfFloresta(t *testing.T) {
	var branches [][]string
	readJSON(t, &branches, "floresta", "test_reorg.json")
	n := networks[4]
	genesis := rawBlocks(t, n, readData(t, "utreexod", "blocks.txt"))[0]
	var raws [][][]byte
	for _, b := range branches {
		var raw [][]byte
		for _, text := range b {
			raw = append(raw, unhex(t, text))
		}
		raws = append(raws, raw)
	}
	longer := raws[1]
	if len(raws) != 2 || len(raws[0]) != 10 || len(longer) != 11 {
		t.Fatalf("branches of %d and %d blocks", len(raws[0]), len(longer))
	}
	for _, order := range [][][]byte{
		slices.Concat([][]byte{genesis}, raws[0], raws[1]), slices.Concat(raws[1], raws[0], [][]byte{genesis}),
	} {
		s := mustOpen(t, "regtest", write(t, map[string][]byte{"blk00000.dat": framed(n, order...)}))
		blocks, _, err := collect(t, s)
		if err != nil {
			t.Fatal(err)
		}
		last := blocks[len(blocks)-1]
		if last.Hash != block.Header(longer[len(longer)-1]).Hash() {
			t.Errorf("tip %d %s", last.Height, block.FormatHash(last.Hash))
		}
	}
}
