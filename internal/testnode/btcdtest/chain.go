package btcdtest

import (
	"bytes"
	"context"
	"encoding/hex"
	"fmt"
	"testing"

	"github.com/btcsuite/btcd/chaincfg/v2"
	"github.com/btcsuite/btcd/chainhash/v2"
	"github.com/btcsuite/btcd/wire/v2"

	"birthmark/internal/testnode/bitcointest"
	"birthmark/model"
)

// Generate makes the node mine k blocks with the transactions of its mempool and an unspendable coinbase.
func (n *Node) Generate(t testing.TB, k int) []model.Hash {
	t.Helper()
	var mined []string
	n.must(t, "generate", &mined, k)
	hashes := make([]model.Hash, len(mined))
	for i, text := range mined {
		hashes[i] = parseHash(t, text)
	}
	return hashes
}

// Submit sends blocks to the node, on its best chain or a branch. All of them must be valid.
func (n *Node) Submit(t testing.TB, blocks ...*wire.MsgBlock) {
	t.Helper()
	for _, b := range blocks {
		if err := n.TrySubmit(t.Context(), b); err != nil {
			t.Fatalf("block %s: %v", b.BlockHash(), err)
		}
	}
}

// TrySubmit sends a block to the node and returns the error of a refusal. Wrong transactions are only detected when the
// block becomes part of the best chain.
func (n *Node) TrySubmit(ctx context.Context, b *wire.MsgBlock) error {
	return submit(ctx, n.RPC, bitcointest.Bytes(b))
}

func submit(ctx context.Context, addr string, raw []byte) error {
	var refused *string
	if err := call(ctx, addr, "submitblock", &refused, hex.EncodeToString(raw)); err != nil {
		return err
	}
	if refused != nil {
		return fmt.Errorf("submitblock: %s", *refused)
	}
	return nil
}

// Invalidate marks a block and its descendants as invalid: the node rolls back to the chain before it.
func (n *Node) Invalidate(t testing.TB, h model.Hash) {
	t.Helper()
	n.must(t, "invalidateblock", nil, show(h))
}

// Reconsider undoes [Node.Invalidate].
func (n *Node) Reconsider(t testing.TB, h model.Hash) {
	t.Helper()
	n.must(t, "reconsiderblock", nil, show(h))
}

// Tip returns the last block of the node's best chain.
func (n *Node) Tip(t testing.TB) model.Point {
	t.Helper()
	var best struct {
		Hash   string
		Height uint32
	}
	n.must(t, "getbestblock", &best)
	return model.Point{Height: model.HeightPk(best.Height), Hash: parseHash(t, best.Hash)}
}

// Blocks returns the blocks of the node's best chain by height, as the node serializes them.
func (n *Node) Blocks(t testing.TB) [][]byte {
	t.Helper()
	blocks, err := n.chainOnDisk(n.Tip(t).Hash)
	if err != nil {
		t.Fatal(err)
	}
	return append([][]byte{bitcointest.Bytes(chaincfg.RegressionNetParams.GenesisBlock)}, blocks...)
}

// Block returns a block as the node serializes it.
func (n *Node) Block(t testing.TB, h model.Hash) []byte {
	t.Helper()
	var text string
	n.must(t, "getblock", &text, show(h), 0)
	raw, err := hex.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// must sends a request and fails the test if the node refuses it.
func (n *Node) must(t testing.TB, method string, result any, params ...any) {
	t.Helper()
	if err := call(t.Context(), n.RPC, method, result, params...); err != nil {
		t.Fatal(err)
	}
}

// Decode parses a block with btcd's types.
func Decode(t testing.TB, raw []byte) *wire.MsgBlock {
	t.Helper()
	var b wire.MsgBlock
	if err := b.Deserialize(bytes.NewReader(raw)); err != nil {
		t.Fatal(err)
	}
	return &b
}

func show(h model.Hash) string { return chainhash.Hash(h).String() }

func parseHash(t testing.TB, text string) model.Hash {
	t.Helper()
	h, err := chainhash.NewHashFromStr(text)
	if err != nil {
		t.Fatal(err)
	}
	return model.Hash(*h)
}
