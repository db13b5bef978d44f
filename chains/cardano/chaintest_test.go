package cardano

import (
	"bytes"
	"testing"

	"birthmark/bench/generate/cardanogen"
	"birthmark/chains/chaintest"
)

func TestChain(t *testing.T) {
	f := chaintest.Fixture{New: New, Networks: Networks(), Branches: branches}
	for _, s := range singles(t) {
		f.Inputs = append(f.Inputs, chaintest.Input{Name: s.File, Network: s.network(), Data: realFile(t, s.File)})
	}
	f.Examples = f.Inputs
	chunks(t, func(name, network string, blocks [][]byte) {
		f.Examples = append(f.Examples, chaintest.Input{Name: name, Network: network, Data: bytes.Join(blocks, nil)})
	})
	c := cardanogen.New(cardanogen.Options{Seed: 3, TxsPerBlock: 4, AllParts: true})
	f.Inputs = append(f.Inputs, chaintest.Input{Name: "generated", Network: genesisOf(t, c), Data: bytes.Join(next(c, 60), nil)})
	chaintest.Run(t, f)
}

func branches(t testing.TB, depth int) (network, ours, theirs string) {
	c := cardanogen.New(cardanogen.Options{Seed: uint64(depth), TxsPerBlock: 2, AllParts: true})
	common, fork := next(c, 12), c.Fork(5)
	return genesisOf(t, c), chunkOf(t, append(common[:12:12], next(c, depth)...)...), chunkOf(t, append(common[:12:12], next(fork, depth+3)...)...)
}

// genesisOf returns the folder of the genesis files of a generated chain. The folder is also the name of the network.
func genesisOf(t testing.TB, c *cardanogen.Chain) string {
	t.Helper()
	dir := t.TempDir()
	if err := c.Genesis().Write(dir); err != nil {
		t.Fatal(err)
	}
	return dir
}

// next returns the next n blocks of a generated chain.
func next(c *cardanogen.Chain, n int) (raws [][]byte) {
	for range n {
		raws = append(raws, c.Next().Raw)
	}
	return raws
}
