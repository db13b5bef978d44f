package bitcointest_test

import (
	"bytes"
	"testing"

	"github.com/btcsuite/btcd/wire/v2"

	"birthmark/internal/testnode/bitcointest"
)

func build() *bitcointest.Chain {
	c := bitcointest.NewChain()
	paid := c.Mine().Transactions[0]
	spend := bitcointest.Spend(paid, 0, wire.NewTxOut(7, []byte{0x51}))
	spend.TxIn[0].Witness = wire.TxWitness{{1, 2, 3}}
	c.Mine(spend)
	c.MineEmpty(200)
	return c
}

func TestBlocksAreDeterministic(t *testing.T) {
	a, b := build(), build()
	if a.Height() != 202 || !bytes.Equal(
		bitcointest.BlockFile(wire.TestNet, a.Blocks()...), bitcointest.BlockFile(wire.TestNet, b.Blocks()...)) {
		t.Error("two chains of the same calls differ")
	}
}

func TestForksShareOnlyTheirPast(t *testing.T) {
	a := build()
	b := a.Fork(100)
	a.MineEmpty(1)
	b.MineEmpty(103)
	if a.Height() != b.Height() {
		t.Fatalf("heights %d and %d", a.Height(), b.Height())
	}
	for h, block := range a.Blocks() {
		same := block.BlockHash() == b.Blocks()[h].BlockHash()
		sameCoinbase := block.Transactions[0].TxHash() == b.Blocks()[h].Transactions[0].TxHash()
		if same != (h <= 100) || sameCoinbase != (h <= 100) {
			t.Errorf("height %d: same block %v, same coinbase %v", h, same, sameCoinbase)
		}
	}
}
