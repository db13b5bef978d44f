package btcdtest

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/btcsuite/btcd/chainhash/v2"
	"github.com/btcsuite/btcd/wire/v2"

	"birthmark/internal/testnode/bitcointest"
	"birthmark/model"
)

// Generate lets the node mine k blocks with nothing in them but what its mempool has, and pay nobody.
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

// Submit gives the node blocks, each of which it must find valid, on its best chain or beside it.
func (n *Node) Submit(t testing.TB, blocks ...*wire.MsgBlock) {
	t.Helper()
	for _, b := range blocks {
		if err := n.TrySubmit(t.Context(), b); err != nil {
			t.Fatalf("block %s: %v", b.BlockHash(), err)
		}
	}
}

// TrySubmit gives the node a block; the error says why it refuses it. A block whose transactions are wrong is found out
// only when it becomes part of the best chain.
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

// Invalidate makes the node hold a block invalid, and all after it: it goes back to what it has without them.
func (n *Node) Invalidate(t testing.TB, h model.Hash) {
	t.Helper()
	n.must(t, "invalidateblock", nil, show(h))
}

// Reconsider undoes [Node.Invalidate].
func (n *Node) Reconsider(t testing.TB, h model.Hash) {
	t.Helper()
	n.must(t, "reconsiderblock", nil, show(h))
}

// Tip is the last block of the node's best chain.
func (n *Node) Tip(t testing.TB) model.Point {
	t.Helper()
	var best struct {
		Hash   string
		Height uint32
	}
	n.must(t, "getbestblock", &best)
	return model.Point{Height: model.HeightPk(best.Height), Hash: parseHash(t, best.Hash)}
}

// Blocks are the blocks of the node's best chain by height, as the node serializes them. The chain must not change
// meanwhile.
func (n *Node) Blocks(t testing.TB) [][]byte {
	t.Helper()
	heights := make([]any, n.Tip(t).Height+1)
	for h := range heights {
		heights[h] = h
	}
	hashes := make([]any, len(heights))
	for h, text := range n.mustEach(t, "getblockhash", heights) {
		hashes[h] = text
	}
	blocks := make([][]byte, len(hashes))
	for h, text := range n.mustEach(t, "getblock", hashes, 0) {
		raw, err := hex.DecodeString(text)
		if err != nil {
			t.Fatal(err)
		}
		if h > 0 && hashOf(blocks[h-1]) != chainhash.Hash(raw[4:36]) {
			t.Fatalf("the chain changed at block %d while it was read", h)
		}
		blocks[h] = raw
	}
	return blocks
}

// Block is a block as the node serializes it.
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

// Connect makes the node a peer of another, and keeps it one.
func (n *Node) Connect(t testing.TB, other *Node) {
	t.Helper()
	n.must(t, "addnode", nil, other.P2P, "add")
	n.wait(t, "it is connected to "+other.P2P, func() bool { return n.isPeer(t, other) })
}

// Disconnect undoes [Node.Connect].
func (n *Node) Disconnect(t testing.TB, other *Node) {
	t.Helper()
	n.must(t, "addnode", nil, other.P2P, "remove")
	n.wait(t, "it is disconnected from "+other.P2P, func() bool { return !n.isPeer(t, other) })
}

func (n *Node) isPeer(t testing.TB, other *Node) bool {
	t.Helper()
	var peers []struct{ Addr string }
	n.must(t, "getpeerinfo", &peers)
	for _, p := range peers {
		if p.Addr == other.P2P {
			return true
		}
	}
	return false
}

// WaitTip waits until the node's best chain ends in a block.
func (n *Node) WaitTip(t testing.TB, h model.Hash) {
	t.Helper()
	n.wait(t, "its tip is "+show(h), func() bool { return n.Tip(t).Hash == h })
}

func (n *Node) wait(t testing.TB, what string, done func() bool) {
	t.Helper()
	for begun := time.Now(); !done(); time.Sleep(5 * time.Millisecond) {
		if time.Since(begun) > patience {
			t.Fatalf("btcd at %s: not yet that %s", n.RPC, what)
		}
	}
}

// must asks the node, and ends the test where it refuses.
func (n *Node) must(t testing.TB, method string, result any, params ...any) {
	t.Helper()
	if err := call(t.Context(), n.RPC, method, result, params...); err != nil {
		t.Fatal(err)
	}
}

// mustEach asks the node the same of each thing, many at once, for answers that are text.
func (n *Node) mustEach(t testing.TB, method string, things []any, more ...any) []string {
	t.Helper()
	const atOnce = 200
	var answers []string
	for part := range slices.Chunk(things, atOnce) {
		calls := make([]map[string]any, len(part))
		for i, thing := range part {
			calls[i] = map[string]any{"jsonrpc": "1.0", "id": i, "method": method, "params": append([]any{thing}, more...)}
		}
		body, err := json.Marshal(calls)
		if err != nil {
			t.Fatal(err)
		}
		text, err := post(t.Context(), n.RPC, body)
		if err != nil {
			t.Fatal(err)
		}
		var replies []struct {
			Result string
			Error  *rpcError
		}
		if err := json.Unmarshal(text, &replies); err != nil || len(replies) != len(part) {
			t.Fatalf("%d of %s: %d answers, %v", len(part), method, len(replies), err)
		}
		for i, r := range replies {
			if r.Error != nil {
				t.Fatalf("%s of %v: %v", method, part[i], r.Error)
			}
			answers = append(answers, r.Result)
		}
	}
	return answers
}

// Decode is a block's bytes as btcd reads them.
func Decode(t testing.TB, raw []byte) *wire.MsgBlock {
	t.Helper()
	var b wire.MsgBlock
	if err := b.Deserialize(bytes.NewReader(raw)); err != nil {
		t.Fatal(err)
	}
	return &b
}

// hashOf is the hash of the block that begins with raw.
func hashOf(raw []byte) chainhash.Hash { return chainhash.DoubleHashH(raw[:headerSize]) }

func show(h model.Hash) string { return chainhash.Hash(h).String() }

func parseHash(t testing.TB, text string) model.Hash {
	t.Helper()
	h, err := chainhash.NewHashFromStr(text)
	if err != nil {
		t.Fatal(err)
	}
	return model.Hash(*h)
}
