package ergo

import (
	"context"
	"os"
	"testing"

	"birthmark/model"
	"birthmark/model/realdata"
)

// files of real blocks and how many are in each.
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
	f, err := os.Open(realdata.Path(t, path...))
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

func TestIdsOfRealBlocksAreRecomputed(t *testing.T) {
	for _, f := range realFiles {
		t.Run(f.path[len(f.path)-1], func(t *testing.T) {
			if blocks := realBlocks(t, valueNames, f.path...); len(blocks) != f.blocks {
				t.Errorf("%d blocks, expected %d", len(blocks), f.blocks)
			}
		})
	}
}
