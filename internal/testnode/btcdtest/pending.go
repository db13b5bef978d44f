package btcdtest

import (
	"testing"

	"github.com/btcsuite/btcd/wire/v2"
)

// Pending returns k transactions that the node's mempool accepts, with a fee of 1,000 satoshis each, without sending
// them. All others spend outputs of the first. They conflict with the next block that the Miner makes, but not with
// [Node.Generate].
func (m *Miner) Pending(t testing.TB, k int) []*wire.MsgTx {
	t.Helper()
	const fee = 1000
	reward := m.chain.Blocks()[m.chain.Height()+1-maturity].Transactions[0]
	from := coin{m.payer(), wire.OutPoint{Hash: reward.TxHash()}, reward.TxOut[0]}
	first := wire.NewMsgTx(2)
	for range k {
		first.AddTxOut(wire.NewTxOut((from.out.Value-fee)/int64(k), m.payer().Script))
	}
	spend(first, from)
	txs := []*wire.MsgTx{first}
	for i := range k - 1 {
		tx := wire.NewMsgTx(2)
		tx.AddTxOut(wire.NewTxOut(first.TxOut[i].Value-fee, m.payer().Script))
		spend(tx, coin{m.payer(), wire.OutPoint{Hash: first.TxHash(), Index: uint32(i)}, first.TxOut[i]})
		txs = append(txs, tx)
	}
	return txs
}
