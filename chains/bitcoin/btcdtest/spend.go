package btcdtest

import (
	"testing"
	"time"

	"github.com/btcsuite/btcd/txscript/v2"
	"github.com/btcsuite/btcd/wire/v2"

	"birthmark/chains/bitcoin/bitcointest"
)

// maturity is how many blocks a coinbase has to be deep to be spent.
const maturity = 100

// coin is an output of one of the kinds that is to be spent.
type coin struct {
	kind Kind
	at   wire.OutPoint
	out  *wire.TxOut
}

// MineEveryScript lets a node that has only its first block mine blocks, at least 140, that make outputs of every kind
// and spend them: some in the block that made them, some in the next, some never. Addresses occur again and again; there
// are outputs of value 0, outputs that cannot be spent and a transaction with 1,000 outputs. The node verifies every
// signature. The same number makes the same blocks, but for a last one of now, without which btcd takes itself to be
// behind and tells peers nothing.
func (n *Node) MineEveryScript(t testing.TB, blocks int) {
	t.Helper()
	kinds := Kinds()
	payer := kinds[2]
	c := bitcointest.NewChain()
	c.PayTo = payer.Script
	c.Start = time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC) // after pay to script hash had a meaning (BIP 16)
	c.MineEmpty(maturity)
	var left []coin // made in the block before, to be spent
	for h := maturity + 1; h < blocks; h++ {
		reward := c.Blocks()[h-maturity].Transactions[0]
		from := coin{payer, wire.OutPoint{Hash: reward.TxHash(), Index: 0}, reward.TxOut[0]}
		fan := wire.NewMsgTx(2)
		var made []coin
		value := from.out.Value / int64(2*len(kinds)+2)
		for i, k := range kinds {
			for range 1 + (h+i)%2 {
				made = append(made, coin{k, wire.OutPoint{Index: uint32(len(fan.TxOut))}, wire.NewTxOut(value, k.Script)})
				fan.AddTxOut(made[len(made)-1].out)
			}
		}
		free := coin{payer, wire.OutPoint{Index: uint32(len(fan.TxOut))}, wire.NewTxOut(0, payer.Script)}
		fan.AddTxOut(free.out)
		for _, s := range unspendable(h) {
			fan.AddTxOut(wire.NewTxOut(int64(h%2), s))
		}
		if h == maturity+10 {
			for range 1000 {
				fan.AddTxOut(wire.NewTxOut(1, payer.Script))
			}
		}
		spend(fan, from)
		id := fan.TxHash()
		for i := range made {
			made[i].at.Hash = id
		}
		free.at.Hash = id

		// A third now, a third with the next block, a third never.
		var now, later []coin
		for i, m := range made {
			switch (h + i) % 3 {
			case 0:
				now = append(now, m)
			case 1:
				later = append(later, m)
			}
		}
		txs := []*wire.MsgTx{fan, gather(kinds[h%len(kinds)], append(now, free)...)}
		if len(left) > 0 {
			txs = append(txs, gather(kinds[(h+5)%len(kinds)], left...))
		}
		c.Mine(txs...)
		left = later
	}
	n.Submit(t, c.Blocks()[1:]...)
	n.Generate(t, 1)
}

// gather is a transaction that spends coins into one output of a kind.
func gather(to Kind, coins ...coin) *wire.MsgTx {
	tx := wire.NewMsgTx(2)
	sum := int64(0)
	for _, c := range coins {
		sum += c.out.Value
	}
	tx.AddTxOut(wire.NewTxOut(sum, to.Script))
	spend(tx, coins...)
	return tx
}

// spend adds inputs that spend coins to a transaction that has all of its outputs, and signs them.
func spend(tx *wire.MsgTx, coins ...coin) {
	spent := txscript.NewMultiPrevOutFetcher(nil)
	for _, c := range coins {
		tx.AddTxIn(wire.NewTxIn(&c.at, nil, nil))
		spent.AddPrevOut(c.at, c.out)
	}
	hashes := txscript.NewTxSigHashes(tx, spent)
	for i, c := range coins {
		c.kind.unlock(tx, i, c.out, hashes)
	}
}
