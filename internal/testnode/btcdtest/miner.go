package btcdtest

import (
	"testing"
	"time"

	"github.com/btcsuite/btcd/wire/v2"

	"birthmark/internal/testnode/bitcointest"
	"birthmark/model"
)

// Miner mines blocks that make and spend outputs of every kind: some in the same block, some in the next, some never.
// Addresses repeat; some outputs have value 0 or are unspendable. The node verifies every signature.
type Miner struct {
	node   *Node
	chain  *bitcointest.Chain // equal to the node's
	kinds  []Kind
	left   [][]coin // by height: outputs of a block that the next one spends
	branch int
}

// MineEveryScript makes a node that has only its first block mine at least 140 blocks as [Miner] describes. One
// transaction has 1,000 outputs, one script is longer than a spendable one. The same seed makes the same blocks, except
// the last one, which has the current time: without it btcd assumes that it is behind and sends nothing to peers.
func (n *Node) MineEveryScript(t testing.TB, blocks int) *Miner {
	t.Helper()
	m := &Miner{node: n, chain: bitcointest.NewChain(), kinds: Kinds(), left: make([][]coin, 1)}
	m.chain.PayTo = m.payer().Script
	m.chain.Start = time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC) // after pay-to-script-hash was activated (BIP 16)
	for range blocks - 1 {
		m.mine()
	}
	// From here on a block's time depends only on its height, so that any branch can replace any other. With a start
	// twelve hours ago, btcd accepts them as recent.
	m.chain.Start, m.chain.Step = time.Now().Truncate(time.Second).Add(-12*time.Hour), time.Second
	m.mine()
	n.Submit(t, m.chain.Blocks()[1:]...)
	return m
}

// Mine submits more blocks to the node, one after the other.
func (m *Miner) Mine(t testing.TB, blocks int) {
	t.Helper()
	for range blocks {
		m.node.Submit(t, m.mine())
	}
}

// Fork makes the node invalidate its last depth blocks and then submits length others, one after the other: its chain
// is shorter at first. Some transactions are on both branches, others on one, and outputs spent on one branch may be
// unspent on the other.
func (m *Miner) Fork(t testing.TB, depth, length int) {
	t.Helper()
	lost := m.chain.Blocks()[m.chain.Height()-depth+1]
	m.node.Invalidate(t, model.Hash(lost.BlockHash()))
	m.leave(depth)
	m.Mine(t, length)
}

// Overtake submits a branch that replaces the last depth blocks and is one block longer, so that the node switches
// chains with its last block.
func (m *Miner) Overtake(t testing.TB, depth int) {
	t.Helper()
	m.leave(depth)
	m.Mine(t, depth+1)
}

func (m *Miner) leave(depth int) {
	m.chain = m.chain.Fork(m.chain.Height() - depth)
	m.left = m.left[:m.chain.Height()+1]
	m.branch++
}

func (m *Miner) payer() Kind { return m.kinds[2] }

// mine adds the next block to the chain without submitting it.
func (m *Miner) mine() *wire.MsgBlock {
	h := m.chain.Height() + 1
	if h <= maturity {
		m.left = append(m.left, nil)
		return m.chain.Mine()
	}
	reward := m.chain.Blocks()[h-maturity].Transactions[0]
	from := coin{m.payer(), wire.OutPoint{Hash: reward.TxHash(), Index: 0}, reward.TxOut[0]}
	fan, made := m.fan(h, from)
	free := made[len(made)-1]

	// A third is spent now, a third in the next block, a third never.
	var now, later []coin
	for i, c := range made[:len(made)-1] {
		switch (h + i + m.branch) % 3 {
		case 0:
			now = append(now, c)
		case 1:
			later = append(later, c)
		}
	}
	kind := func(i int) Kind { return m.kinds[i%len(m.kinds)] }
	txs := []*wire.MsgTx{fan, gather(kind(h), append(now, free)...)}
	if left := m.left[h-1]; len(left) > 0 {
		txs = append(txs, gather(kind(h+5), left...))
	}
	m.left = append(m.left, later)
	return m.chain.Mine(txs...)
}

// fan returns a transaction that makes one or two outputs of every kind, the last with value 0, and some unspendable
// ones. On every fourth height it is the same on all branches that share the coin.
func (m *Miner) fan(h int, from coin) (*wire.MsgTx, []coin) {
	tx := wire.NewMsgTx(2)
	var made []coin
	pay := func(value int64, k Kind) {
		made = append(made, coin{k, wire.OutPoint{Index: uint32(len(tx.TxOut))}, wire.NewTxOut(value, k.Script)})
		tx.AddTxOut(made[len(made)-1].out)
	}
	value := from.out.Value / int64(2*len(m.kinds)+2)
	for i, k := range m.kinds {
		for range 1 + (h+i)%2 {
			pay(value, k)
		}
	}
	pay(0, m.payer())
	data := h
	if h%4 != 0 {
		data += m.branch
	}
	for _, s := range unspendable(data) {
		tx.AddTxOut(wire.NewTxOut(int64(h%2), s))
	}
	switch h {
	case maturity + 10:
		for range 1000 {
			tx.AddTxOut(wire.NewTxOut(1, m.payer().Script))
		}
	case maturity + 20:
		tx.AddTxOut(wire.NewTxOut(1, make([]byte, largestScript+1)))
	}
	spend(tx, from)
	id := tx.TxHash()
	for i := range made {
		made[i].at.Hash = id
	}
	return tx, made
}
