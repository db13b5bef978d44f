package btcdtest

import (
	"strings"
	"testing"

	"github.com/btcsuite/btcd/chainhash/v2"
	"github.com/btcsuite/btcd/wire/v2"

	"birthmark/internal/testrun"
	"birthmark/model"
)

// A transaction that changes after signing is rejected by the script engine if it has a signature.
func TestNodeVerifiesSpending(t *testing.T) {
	testrun.Slow(t) // mines 140 blocks
	n := Start(t)
	m := n.MineEveryScript(t, 140)
	tip := n.Tip(t)
	reward := m.chain.Blocks()[141-maturity].Transactions[0]
	fan, made := m.fan(141, coin{m.payer(), wire.OutPoint{Hash: reward.TxHash()}, reward.TxOut[0]})
	seen := map[string]bool{}
	for _, c := range made {
		if seen[c.kind.Name] {
			continue
		}
		seen[c.kind.Name] = true
		tx := gather(m.payer(), c)
		tx.TxOut[0].Value--
		err := n.TrySubmit(t.Context(), m.chain.Fork(140).Mine(fan, tx))
		if c.kind.Anybody != (err == nil) {
			t.Errorf("%s, changed after it was signed: %v", c.kind.Name, err)
		}
		if err != nil && !strings.Contains(err.Error(), "failed to validate input") {
			t.Errorf("%s is rejected for another reason: %v", c.kind.Name, err)
		}
		if now := n.Tip(t); now != tip {
			n.Invalidate(t, now.Hash)
		}
	}
	if len(seen) != len(m.kinds) {
		t.Errorf("%d kinds of %d", len(seen), len(m.kinds))
	}
}

func TestForksOfAMiner(t *testing.T) {
	testrun.Slow(t)
	n := Start(t)
	m := n.MineEveryScript(t, 140)
	for _, depth := range []int{1, 10} {
		lost := n.Blocks(t)
		m.Fork(t, depth, depth+2)
		isForked(t, m, lost, depth, 2)
		lost = n.Blocks(t)
		m.Fork(t, depth, 1)
		isForked(t, m, lost, depth, 1-depth)
		lost = n.Blocks(t)
		m.Overtake(t, depth)
		isForked(t, m, lost, depth, 1)
		m.Mine(t, depth)
	}
	before := n.Tip(t)
	n.Kill(t)
	n.Restart(t)
	if after := n.Tip(t); after != before {
		t.Errorf("the tip is %v after forks and a restart, %v before", after, before)
	}
	m.Mine(t, 1)
}

// isForked checks that the node's chain forked at the given depth and grew to the given length, and that the branches
// have common and different transactions.
func isForked(t *testing.T, m *Miner, before [][]byte, depth, growth int) {
	t.Helper()
	after := m.node.Blocks(t)
	base := len(before) - depth
	if len(after) != len(before)+growth || hashOf(after[base-1]) != hashOf(before[base-1]) || hashOf(after[base]) == hashOf(before[base]) {
		t.Fatalf("%d blocks, %d before a fork of depth %d", len(after), len(before), depth)
	}
	if tip := m.node.Tip(t); tip.Hash != model.Hash(m.chain.Tip().BlockHash()) {
		t.Fatalf("the tip is %s, expected the miner's", show(tip.Hash))
	}
	spent := func(blocks [][]byte) map[wire.OutPoint]bool {
		all := map[wire.OutPoint]bool{}
		for _, raw := range blocks {
			for _, tx := range Decode(t, raw).Transactions[1:] {
				for _, in := range tx.TxIn {
					all[in.PreviousOutPoint] = true
				}
			}
		}
		return all
	}
	old, now := spent(before[base:]), spent(after[base:])
	both := 0
	for at := range now {
		if old[at] {
			both++
		}
	}
	if both == 0 || both == len(now) {
		t.Errorf("of %d spends after a fork of depth %d, %d are of the branch before", len(now), depth, both)
	}
}

func hashOf(block []byte) chainhash.Hash { return chainhash.DoubleHashH(block[:headerSize]) }
