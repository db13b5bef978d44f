package coretest

import (
	"fmt"
	"slices"
	"testing"

	"github.com/btcsuite/btcd/chainhash/v2"
	"github.com/btcsuite/btcd/wire/v2"

	"birthmark/model"
)

// Coins mines blocks and returns k confirmed outputs of equal value, which anybody can spend.
func (n *Node) Coins(t testing.TB, k int) []Coin {
	t.Helper()
	const atOnce = 2000 // outputs of a transaction
	var coins []Coin
	for len(coins) < k {
		reward := Outputs(n.MineOnly(t).Transactions[0])[0]
		outputs := make([]*wire.TxOut, min(atOnce, k-len(coins)))
		for i := range outputs {
			outputs[i] = wire.NewTxOut(reward.Value/int64(len(outputs)), AnyoneCanSpend)
		}
		tx := Pay([]Coin{reward}, outputs...)
		n.MineOnly(t, tx)
		coins = append(coins, Outputs(tx)...)
	}
	return coins
}

// Mine mines a block with the whole mempool.
func (n *Node) Mine(t testing.TB) *wire.MsgBlock {
	t.Helper()
	n.mu.Lock()
	defer n.mu.Unlock()
	var txs []*wire.MsgTx
	for _, e := range n.entries() {
		txs = append(txs, e.tx)
	}
	return n.mine(t, txs)
}

// MineOnly mines a block with transactions, which need not be in the mempool, and their unconfirmed ancestors.
// Conflicting transactions of the mempool are removed.
func (n *Node) MineOnly(t testing.TB, txs ...*wire.MsgTx) *wire.MsgBlock {
	t.Helper()
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.mine(t, txs)
}

// MineCoinbase mines a block with only a coinbase, which change changes.
func (n *Node) MineCoinbase(t testing.TB, change func(coinbase *wire.MsgTx)) *wire.MsgBlock {
	t.Helper()
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.connected(t, n.chain.MineCoinbase(change))
}

func (n *Node) mine(t testing.TB, txs []*wire.MsgTx) *wire.MsgBlock {
	t.Helper()
	return n.connected(t, n.chain.Mine(n.withAncestors(txs)...))
}

// connected applies a block that was added to the chain, and returns it.
func (n *Node) connected(t testing.TB, b *wire.MsgBlock) *wire.MsgBlock {
	t.Helper()
	if err := n.connect(b); err != nil {
		t.Fatal(err)
	}
	return b
}

// withAncestors adds unconfirmed ancestors, and puts parents first.
func (n *Node) withAncestors(txs []*wire.MsgTx) (all []*wire.MsgTx) {
	given, added := map[chainhash.Hash]*wire.MsgTx{}, map[chainhash.Hash]bool{}
	for _, tx := range txs {
		given[tx.TxHash()] = tx
	}
	var add func(tx *wire.MsgTx)
	add = func(tx *wire.MsgTx) {
		id := tx.TxHash()
		if added[id] {
			return
		}
		added[id] = true
		for _, in := range tx.TxIn {
			from := in.PreviousOutPoint.Hash
			if parent := given[from]; parent != nil {
				add(parent)
			} else if e := n.pool[from]; e != nil {
				add(e.tx)
			}
		}
		all = append(all, tx)
	}
	for _, tx := range txs {
		add(tx)
	}
	return all
}

// connect applies a block that was added to the chain.
func (n *Node) connect(b *wire.MsgBlock) error {
	for i, tx := range b.Transactions {
		id := tx.TxHash()
		if i > 0 {
			for _, in := range tx.TxIn {
				if n.unspent[in.PreviousOutPoint] == nil {
					return fmt.Errorf("%s spends %v, which is not unspent", id, in.PreviousOutPoint)
				}
				delete(n.unspent, in.PreviousOutPoint)
			}
		}
		for o, out := range tx.TxOut {
			n.unspent[wire.OutPoint{Hash: id, Index: uint32(o)}] = out
		}
		n.orphans[id] = tx
		n.publisher.publish("rawtx", Raw(tx))
		if i == 0 {
			continue
		}
		if e := n.pool[id]; e != nil {
			n.remove(e, false)
		}
		for _, in := range tx.TxIn {
			if c := n.spends[in.PreviousOutPoint]; c != nil {
				n.remove(c, true)
			}
		}
	}
	hash := b.BlockHash()
	n.heights[hash], n.mined[hash] = n.chain.Height(), b
	n.publishSequence('C', hash, nil)
	return nil
}

// Fork replaces the last depth blocks by length empty ones. The transactions of the orphaned blocks are unconfirmed
// again if they can be.
func (n *Node) Fork(t testing.TB, depth, length int) {
	t.Helper()
	n.mu.Lock()
	defer n.mu.Unlock()
	blocks := n.chain.Blocks()
	var back []*wire.MsgTx
	unmined := map[chainhash.Hash]bool{}
	for _, b := range slices.Backward(blocks[len(blocks)-depth:]) {
		hash := b.BlockHash()
		delete(n.heights, hash)
		for _, tx := range slices.Backward(b.Transactions) {
			id := tx.TxHash()
			unmined[id] = true
			for o := range tx.TxOut {
				delete(n.unspent, wire.OutPoint{Hash: id, Index: uint32(o)})
			}
			for _, in := range tx.TxIn {
				if from := n.orphans[in.PreviousOutPoint.Hash]; from != nil {
					n.unspent[in.PreviousOutPoint] = from.TxOut[in.PreviousOutPoint.Index]
				}
			}
		}
		back = append(slices.Clone(b.Transactions[1:]), back...)
		n.publishSequence('D', hash, nil)
	}
	n.chain = n.chain.Fork(n.chain.Height() - depth)
	// Transactions of the mempool may spend outputs that are gone.
	for _, e := range slices.Clone(n.entries()) {
		for _, in := range e.tx.TxIn {
			at := in.PreviousOutPoint
			if n.unspent[at] == nil && n.pool[at.Hash] == nil && !unmined[at.Hash] {
				n.remove(e, true)
				break
			}
		}
	}
	for _, tx := range back {
		n.accept(tx, 0, nil) // refused if it spends an orphaned coinbase
	}
	for _, e := range slices.Clone(n.entries()) {
		for _, in := range e.tx.TxIn {
			if at := in.PreviousOutPoint; n.unspent[at] == nil && n.pool[at.Hash] == nil {
				n.remove(e, true)
				break
			}
		}
	}
	for range length {
		n.mine(t, nil)
	}
}

// HashAt returns the hash of the best chain's block at a height.
func (n *Node) HashAt(height int) model.Hash {
	n.mu.Lock()
	defer n.mu.Unlock()
	return model.Hash(n.chain.Blocks()[height].BlockHash())
}
