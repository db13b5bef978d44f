package bench

import (
	"bytes"
	"context"
	"fmt"
	"reflect"
	"testing"

	"birthmark/internal/testrun"
	"birthmark/internal/testseed"
	"birthmark/model"
)

var bothIndexes = []string{"address", "script_hash"}

func blocksOf(t testing.TB, c Chain) []*model.Block {
	t.Helper()
	var blocks []*model.Block
	for b, err := range NewGenerator(c).Blocks(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		blocks = append(blocks, b)
	}
	var got Made
	for _, b := range blocks {
		got.count(b)
	}
	if got.Txs != c.Txs || got.Blocks != len(blocks) {
		t.Fatalf("generated %+v, expected %d transactions in %d blocks", got, c.Txs, len(blocks))
	}
	return blocks
}

func TestInputsSpendUnspentOutputs(t *testing.T) {
	for _, perBlock := range []int{1, 3, 100, 2000} {
		t.Run(fmt.Sprint(perBlock), func(t *testing.T) {
			checkSpends(t, blocksOf(t, Chain{Txs: 20 * (perBlock + 100), TxsPerBlock: perBlock, Seed: testseed.New(t), Indexes: bothIndexes}))
		})
	}
}

// The hot address has the requested number of additional outputs, and the blocks are valid.
func TestHotAddressHasItsOutputs(t *testing.T) {
	for _, unspent := range []bool{false, true} {
		for _, share := range []float64{0.5, MaxHotShare} {
			c := Chain{Txs: 6000, TxsPerBlock: 100, Seed: testseed.New(t), Indexes: bothIndexes, HotUnspent: unspent}
			c.HotOutputs = int(share * float64(c.Txs))
			blocks := blocksOf(t, c)
			checkSpends(t, blocks)
			uses, spent := map[string]int{}, 0
			owner := map[outpoint]string{}
			for _, b := range blocks {
				for _, tx := range b.Txs {
					for j, o := range tx.Outputs {
						v := string(o.Keys[0].Value)
						uses[v]++
						owner[outpoint{tx.Hash, uint32(j)}] = v
					}
				}
			}
			hot, n := most(uses)
			for _, b := range blocks {
				for _, tx := range b.Txs {
					for _, in := range tx.Inputs {
						if owner[outpoint{in.Tx, in.Index}] == hot {
							spent++
						}
					}
				}
			}
			if n < c.HotOutputs || unspent && n-spent < c.HotOutputs || !unspent && 2*spent < n {
				t.Errorf("expected %d outputs, unspent %t: the hot address has %d, %d of them spent", c.HotOutputs, unspent, n, spent)
			}
		}
	}
}

func TestInvalidHotOutputsAreRejected(t *testing.T) {
	for what, c := range map[string]Chain{
		"too many":      {Txs: 100, HotOutputs: 151},
		"another chain": {Name: "ergo", Txs: 100, HotOutputs: 1},
		"serialized":    {Txs: 100, Serialized: true, HotOutputs: 1},
		"none":          {Name: "cardano", HotUnspent: true},
	} {
		_, err := c.Resolve(context.Background())
		if kind, code := model.KindOf(err); kind != model.Usage || code != "bad_value" {
			t.Errorf("%s: %v", what, err)
		}
	}
}

type outpoint struct {
	tx    model.Hash
	index uint32
}

// checkSpends validates blocks: links, inputs, amounts, values, fees.
func checkSpends(t *testing.T, blocks []*model.Block) {
	t.Helper()
	unspent := map[outpoint]uint64{}
	hashes := map[model.Hash]bool{}
	parent, issued, held := model.Hash{}, uint64(0), uint64(0)
	for h, b := range blocks {
		if int(b.Height) != h || b.Parent != parent {
			t.Fatalf("block %d: height %d, parent %v, expected %v", h, b.Height, b.Parent, parent)
		}
		parent = b.Hash
		issued += subsidy(h)
		fees, claimed := uint64(0), uint64(0)
		for i, tx := range b.Txs {
			if hashes[tx.Hash] {
				t.Fatalf("block %d: a second transaction %v", h, tx.Hash)
			}
			hashes[tx.Hash] = true
			if (i == 0) != (len(tx.Inputs) == 0) {
				t.Fatalf("block %d, transaction %d has %d inputs", h, i, len(tx.Inputs))
			}
			in, out := uint64(0), uint64(0)
			for _, input := range tx.Inputs {
				at := outpoint{input.Tx, input.Index}
				value, ok := unspent[at]
				if !ok {
					t.Fatalf("block %d, transaction %d spends %v:%d, which is missing or spent", h, i, input.Tx, input.Index)
				}
				delete(unspent, at)
				in += value
			}
			if len(tx.Outputs) == 0 {
				t.Fatalf("block %d, transaction %d has no outputs", h, i)
			}
			for j, o := range tx.Outputs {
				unspent[outpoint{tx.Hash, uint32(j)}] = o.Value
				out += o.Value
				if len(o.Keys) != 2 || o.Keys[0].Index != 0 || len(o.Keys[0].Value) != 21 || o.Keys[1].Index != 1 || len(o.Keys[1].Value) != 32 {
					t.Fatalf("block %d, output %d of transaction %d has keys %v", h, j, i, o.Keys)
				}
			}
			if i == 0 {
				claimed = out
			} else if out > in {
				t.Fatalf("block %d, transaction %d: inputs of %d, outputs of %d", h, i, in, out)
			} else {
				fees += in - out
			}
		}
		if claimed != subsidy(h)+fees {
			t.Fatalf("block %d: the coinbase claims %d of %d and %d", h, claimed, subsidy(h), fees)
		}
	}
	for _, v := range unspent {
		held += v
	}
	if held != issued {
		t.Errorf("the unspent outputs have %d, issued were %d", held, issued)
	}
}

func TestSeedDeterminesTheBlocks(t *testing.T) {
	s := testseed.New(t)
	c := Chain{Txs: 3000, TxsPerBlock: 100, Seed: s, Indexes: bothIndexes}
	a, b := blocksOf(t, c), blocksOf(t, c)
	if !reflect.DeepEqual(a, b) {
		t.Error("two runs differ")
	}
	c.Seed++
	other := blocksOf(t, c)
	if a[1].Hash == other[1].Hash || bytes.Equal(a[1].Txs[0].Outputs[0].Keys[1].Value, other[1].Txs[0].Outputs[0].Keys[1].Value) {
		t.Error("another seed generates the same hashes or values")
	}
}

// A value depends on the address only. The values of the two indexes correspond: an address has one script.
func TestAddressHasOneScript(t *testing.T) {
	scripts := map[string]string{}
	for _, b := range blocksOf(t, Chain{Txs: 20_000, Seed: testseed.New(t), Indexes: bothIndexes}) {
		for _, tx := range b.Txs {
			for _, o := range tx.Outputs {
				address, script := string(o.Keys[0].Value), string(o.Keys[1].Value)
				if s, ok := scripts[address]; ok && s != script {
					t.Fatalf("address %x has scripts %x and %x", address, s, script)
				}
				scripts[address] = script
			}
		}
	}
}

func TestShapeMatchesBitcoin(t *testing.T) {
	testrun.Slow(t)
	blocks := blocksOf(t, Chain{Txs: 200_000, Seed: testseed.New(t), Indexes: []string{"script_hash"}})
	var txs, inputs, outputs, sameBlock, fresh, again float64
	uses := map[string]int{}
	hottest := 0
	for _, b := range blocks[1:] {
		own := map[model.Hash]bool{}
		seen := map[string]bool{}
		for _, tx := range b.Txs {
			txs++
			inputs += float64(len(tx.Inputs))
			for _, in := range tx.Inputs {
				if own[in.Tx] {
					sameBlock++
				}
			}
			own[tx.Hash] = true
			outputs += float64(len(tx.Outputs))
			for _, o := range tx.Outputs {
				v := string(o.Keys[0].Value)
				if uses[v] == 0 {
					fresh++
				}
				if seen[v] {
					again++
				}
				seen[v] = true
				uses[v]++
				hottest = max(hottest, uses[v])
			}
		}
	}
	for _, c := range []struct {
		what             string
		got, least, most float64
	}{
		{"transactions in a block", txs / float64(len(blocks)-1), 1800, 2200},
		{"inputs of a transaction", inputs / txs, 2.10, 2.40},
		{"outputs of a transaction", outputs / txs, 2.55, 2.90},
		{"spends of outputs of the same block", sameBlock / inputs, 0.21, 0.25},
		{"outputs that are the first of their address", fresh / outputs, 0.40, 0.46},
		{"outputs to an address already used in the block", again / outputs, 0.23, 0.33},
		{"uses of the hottest address", float64(hottest) / outputs, 0.092, 0.11},
	} {
		if c.got < c.least || c.got > c.most {
			t.Errorf("%s: %.3f, expected %.3f to %.3f", c.what, c.got, c.least, c.most)
		}
	}
}

func TestUnsupportedIndexIsRejected(t *testing.T) {
	_, err := Chain{Txs: 10, Indexes: []string{"address", "op_return"}}.Resolve(t.Context())
	if kind, code := model.KindOf(err); kind != model.Usage || code != "unknown_index" {
		t.Errorf("kind %v, code %s: %v", kind, code, err)
	}
}

func BenchmarkGenerate(b *testing.B) {
	g := NewGenerator(Chain{Seed: 1, Indexes: bothIndexes})
	b.ReportAllocs()
	g.Next(1)
	n := 0
	for b.Loop() {
		n += len(g.Next(2000).Txs)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(n), "ns/tx")
}
