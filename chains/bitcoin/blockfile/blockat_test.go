package blockfile

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/btcsuite/btcd/wire/v2"

	"birthmark/internal/testnode/bitcointest"
	"birthmark/model"
)

// BlockAt returns the same blocks as Follow, for any order of the blocks in the files and with stale blocks in between.
func TestBlockAtReturnsTheBlocksOfTheStream(t *testing.T) {
	c := bitcointest.NewChain()
	c.MineEmpty(5)
	c.Mine(bitcointest.Spend(c.Tip().Transactions[0], 0, wire.NewTxOut(1000, c.PayTo)))
	stale := c.Fork(3)
	stale.MineEmpty(2)
	c.MineEmpty(3)
	blocks := c.Blocks()
	dir := write(t, map[string][]byte{
		"blk00000.dat": bitcointest.BlockFile(wire.TestNet, append(stale.Blocks(), blocks[8])...),
		"blk00001.dat": bitcointest.BlockFile(wire.TestNet, blocks[9], blocks[4], blocks[6], blocks[5], blocks[7]),
	})
	s := mustOpen(t, "regtest", dir)
	reader := s.Source.(model.BlockReader)
	want, _, err := collect(t, s)
	if err != nil || len(want) != len(blocks) {
		t.Fatalf("%d blocks, %v", len(want), err)
	}
	for _, h := range []int{9, 0, 4, 4, 6, 5, 1, 2, 3, 7, 8} {
		b, err := reader.BlockAt(t.Context(), model.HeightPk(h))
		if err != nil || !reflect.DeepEqual(b, want[h]) {
			t.Errorf("block %d is %+v, %v; the stream has %+v", h, b, err, want[h])
		}
	}
	_, err = reader.BlockAt(t.Context(), 10)
	if kind, code := model.KindOf(err); kind != model.NotFound || code != "unknown_block" || !contains(err.Error(), "height 10", "the last is 9") {
		t.Errorf("a height above the tip: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := reader.BlockAt(ctx, 1); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if err := os.Truncate(filepath.Join(dir, "blk00001.dat"), 100); err != nil {
		t.Fatal(err)
	}
	_, err = reader.BlockAt(t.Context(), 7)
	fails(t, err, "bad_block", "block 7", "blk00001.dat")
}
