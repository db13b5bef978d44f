package ergo

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"birthmark/bench/generate/ergogen"
	"birthmark/chains/chaintest"
	"birthmark/internal/testblocks"
	"birthmark/internal/testnode/ergotest"
)

func TestChain(t *testing.T) {
	f := chaintest.Fixture{New: New, Networks: Networks()}
	for _, file := range realFiles {
		data, err := os.ReadFile(testblocks.Path(t, file.path...))
		if err != nil {
			t.Fatal(err)
		}
		in := chaintest.Input{Name: file.path[len(file.path)-1], Network: "mainnet", Data: data}
		f.Examples = append(f.Examples, in)
		if file.blocks < 100 {
			f.Inputs = append(f.Inputs, in)
		}
	}
	var made bytes.Buffer
	for _, b := range ergotest.Made(ergogen.New(ergogen.Options{Seed: 3, TxsPerBlock: 4}), 10) {
		made.Write(append(b.JSON, '\n'))
	}
	f.Inputs = append(f.Inputs, chaintest.Input{Name: "made", Network: "testnet", Data: made.Bytes()})
	f.Branches = func(t testing.TB, depth int) (network, ours, theirs string) {
		c := ergogen.New(ergogen.Options{Seed: uint64(depth), TxsPerBlock: 2})
		common := ergotest.Made(c, 12)
		fork := c.Fork(5)
		file := func(more []ergotest.Block) string {
			path := filepath.Join(t.TempDir(), "blocks.jsonl")
			if err := ergotest.WriteFile(path, append(common[:12:12], more...)); err != nil {
				t.Fatal(err)
			}
			return "file://" + path
		}
		return "testnet", file(ergotest.Made(c, depth)), file(ergotest.Made(fork, depth+3))
	}
	chaintest.Run(t, f)
}
