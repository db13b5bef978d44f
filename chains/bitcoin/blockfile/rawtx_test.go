package blockfile

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/wire/v2"

	"birthmark/chains/bitcoin/block"
	"birthmark/internal/testnode/bitcointest"
	"birthmark/model"
)

// The place of a block locates its transactions, in plain and in XORed files.
func TestPlacesLeadToTransactions(t *testing.T) {
	c := bitcointest.NewChain()
	c.MineEmpty(3)
	spent := c.Tip().Transactions[0]
	c.Mine(bitcointest.Spend(spent, 0, wire.NewTxOut(1, []byte{0x51})))
	content := bitcointest.BlockFile(wire.TestNet, c.Blocks()...)
	key := []byte{1, 2, 3, 4, 5, 6, 7, 8}
	masked := bytes.Clone(content)
	unmask(masked, key, 0)
	for what, dir := range map[string]string{
		"plain": write(t, map[string][]byte{"blk00000.dat": content}),
		"XOR":   write(t, map[string][]byte{"blk00000.dat": masked, "xor.dat": key}),
	} {
		reader := (&TxReader{MaxSize: block.MaxSize})
		s := mustOpen(t, "regtest", dir, func(o *Options) {
			o.Places = true
			o.Decoder = func() *block.Decoder {
				d := block.NewDecoder(&block.Bitcoin, noValues{})
				d.KeepRaw = true
				return d
			}
		})
		blocks := 0
		for e, err := range s.Follow(t.Context(), nil) {
			if err != nil {
				t.Fatal(err)
			}
			if e.Block == nil {
				continue
			}
			p := e.Block.Place
			if p == nil || len(p.Sizes) != len(e.Block.Txs) || p.File != filepath.Join(dir, "blk00000.dat") {
				t.Fatalf("%s: block %d is at %+v", what, e.Block.Height, p)
			}
			at := p.Offset
			for i := range e.Block.Txs {
				raw, err := reader.ReadRaw(p.File, at, p.Sizes[i])
				if err != nil || !bytes.Equal(raw, e.Block.Txs[i].Raw) {
					t.Errorf("%s: block %d, transaction %d: %x, %v", what, e.Block.Height, i, raw, err)
				}
				at += uint64(p.Sizes[i])
			}
			blocks++
		}
		if blocks != len(c.Blocks()) {
			t.Errorf("%s: %d blocks", what, blocks)
		}
	}
	plain := mustOpen(t, "regtest", write(t, map[string][]byte{"blk00000.dat": content}))
	for e, err := range plain.Follow(t.Context(), nil) {
		if err != nil || e.Block != nil && e.Block.Place != nil {
			t.Fatalf("an unexpected place: %+v, %v", e.Block.Place, err)
		}
	}
}

func TestAMissingBlockFileIsNamed(t *testing.T) {
	dir := write(t, map[string][]byte{"blk00007.dat": make([]byte, 100)})
	gone, path := filepath.Join(dir, "moved", "blk00000.dat"), filepath.Join(dir, "blk00007.dat")
	for what, c := range map[string]struct {
		path string
		at   uint64
		size int
		says string
	}{
		"pruned":    {filepath.Join(dir, "blk00000.dat"), 0, 10, "blk00000.dat does not exist"},
		"moved":     {gone, 0, 10, gone + " does not exist"},
		"truncated": {path, 95, 10, path + " ends before offset 105"},
		"far":       {path, 1 << 40, 10, path + " ends before"},
	} {
		raw, err := (&TxReader{MaxSize: block.MaxSize}).ReadRaw(c.path, c.at, c.size)
		if kind, code := model.KindOf(err); raw != nil || kind != model.NotFound || code != "no_raw" || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %x, %v", what, raw, err)
		}
	}
	for _, size := range []int{0, -1, block.MaxSize + 1} {
		if _, err := (&TxReader{MaxSize: block.MaxSize}).ReadRaw(path, 0, size); err == nil {
			t.Errorf("a transaction of %d bytes was read", size)
		}
	}
	if raw, err := (&TxReader{MaxSize: block.MaxSize}).ReadRaw(path, 90, 10); err != nil || len(raw) != 10 {
		t.Errorf("the end of the file: %x, %v", raw, err)
	}
	if err := os.WriteFile(filepath.Join(dir, "xor.dat"), []byte{1}, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := (&TxReader{MaxSize: block.MaxSize}).ReadRaw(path, 90, 10); err == nil || !strings.Contains(err.Error(), "xor.dat") {
		t.Errorf("a damaged key: %v", err)
	}
}
