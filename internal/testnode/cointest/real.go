package cointest

import (
	"os"
	"path/filepath"
	"testing"

	"birthmark/chains/chaintest"
	"birthmark/model"
)

// Real is a block of a public network, serialized in the file testdata/File.blk of the package under test.
type Real struct {
	File, Hash string
	Txs        int
}

// Read returns the bytes of the block.
func (r Real) Read(t testing.TB) []byte {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("testdata", r.File+".blk"))
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// Inputs returns the blocks of a network as inputs of [Fixture].
func Inputs(t testing.TB, network string, blocks []Real) []chaintest.Input {
	t.Helper()
	var inputs []chaintest.Input
	for _, b := range blocks {
		inputs = append(inputs, chaintest.Input{Name: b.File, Network: network, Data: b.Read(t)})
	}
	return inputs
}

// Blocks checks each block with [Block].
func Blocks(t *testing.T, c model.Chain, blocks []Real) {
	t.Helper()
	for _, b := range blocks {
		Block(t, c, b.Read(t), b.Hash, b.Txs)
	}
}
