package cointest

import (
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"birthmark/chains/chaintest"
	"birthmark/model"
)

// Real is a block of a public network, serialized in the file testdata/File.blk of the package under test.
type Real struct {
	File, Hash string
	Txs        int
}

// List returns the blocks in testdata/blocks.txt of the package under test: each line has a file, a hash and the number of
// transactions.
func List(t testing.TB) (blocks []Real) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "blocks.txt"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		var b Real
		if _, err := fmt.Sscan(line, &b.File, &b.Hash, &b.Txs); err != nil {
			t.Fatal(err)
		}
		blocks = append(blocks, b)
	}
	return blocks
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

// Transactions checks the ids of the transactions in testdata/txs.txt of the package under test, at least one: each line
// has an id and the serialized transaction in hex.
func Transactions(t *testing.T, c model.Chain) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "txs.txt"))
	if err != nil || len(text) == 0 {
		t.Fatalf("no transactions: %v", err)
	}
	for line := range strings.Lines(string(text)) {
		want, serialized, _ := strings.Cut(strings.TrimSpace(line), " ")
		raw, err := hex.DecodeString(serialized)
		if err != nil {
			t.Fatal(err)
		}
		id, err := c.(model.TxHasher).HashTx(raw)
		if got := c.FormatHash(id); err != nil || got != want {
			t.Errorf("the id of a transaction is %s, %v, expected %s", got, err, want)
		}
	}
}
