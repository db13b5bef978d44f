package cli

import (
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"birthmark/bench/generate/cardanogen"
	"birthmark/chains/cardano"
	"birthmark/core"
	"birthmark/internal/testblocks"
	"birthmark/internal/testnode/ouroborostest"
	"birthmark/model"
)

// cardanoSeed is the seed of generated chains.
const cardanoSeed = 20

// branch is a generated chain and its blocks.
type branch struct {
	chain  *cardanogen.Chain
	blocks []ouroborostest.Block
}

func newBranch() *branch {
	return &branch{chain: cardanogen.New(cardanogen.Options{Seed: cardanoSeed, TxsPerBlock: 1})}
}

// mine adds blocks.
func (b *branch) mine(t testing.TB, count int) {
	t.Helper()
	raw := make([][]byte, count)
	for i := range raw {
		raw[i] = b.chain.Next().Raw
	}
	blocks, err := ouroborostest.Blocks(raw...)
	if err != nil {
		t.Fatal(err)
	}
	b.blocks = append(b.blocks, blocks...)
}

// fork returns a branch that has the current blocks in common with b.
func (b *branch) fork(seed uint64) *branch {
	return &branch{chain: b.chain.Fork(seed), blocks: slices.Clone(b.blocks)}
}

// network returns the value of --network for the chain.
func (b *branch) network(t testing.TB) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "genesis")
	if err := b.chain.Genesis().Write(dir); err != nil {
		t.Fatal(err)
	}
	return dir
}

// openGenerated opens a database in memory for generated chains with the same genesis.
func openGenerated(t testing.TB, network string) *core.DB {
	t.Helper()
	chain, err := cardano.New(network)
	if err != nil {
		t.Fatal(err)
	}
	return openInMemory(t, chain, "address", "policy")
}

var readPreview struct {
	sync.Once
	blocks []ouroborostest.Block
	err    error
}

// previewBlocks returns the first 50,940 blocks of preview, which are read once for all tests.
func previewBlocks(t testing.TB) []ouroborostest.Block {
	t.Helper()
	folder := testblocks.Path(t, "cardano", "dingo-immutable")
	readPreview.Do(func() { readPreview.blocks, readPreview.err = ouroborostest.Chunks(folder) })
	if readPreview.err != nil {
		t.Fatal(readPreview.err)
	}
	return readPreview.blocks
}

// sides returns the URIs of a node by protocol.
func sides(n *ouroborostest.Node) map[string]string {
	return map[string]string{"node to node": n.TCP(), "node to client": n.Unix()}
}

// cardanoTip waits until the tip of a database is the tip of the node.
func cardanoTip(t *testing.T, f *liveSync, n *ouroborostest.Node) {
	t.Helper()
	until(t, "the node's tip", func() bool { return f.Tip().Hash == model.Hash(n.Tip().Hash) })
}
