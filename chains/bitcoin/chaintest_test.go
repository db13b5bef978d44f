package bitcoin

import (
	"testing"

	"github.com/btcsuite/btcd/wire/v2"

	"birthmark/chains/chaintest"
	"birthmark/internal/testnode/bitcointest"
)

func TestChain(t *testing.T) {
	all := bitcointest.NewChain()
	all.MineEmpty(3)
	var outs []*wire.TxOut
	for i, script := range scriptSeeds() {
		outs = append(outs, wire.NewTxOut(int64(i), script))
	}
	all.Mine(bitcointest.Spend(all.Tip().Transactions[0], 0, outs...))
	chaintest.Run(t, chaintest.Fixture{
		New: New, Networks: Networks(),
		Inputs: []chaintest.Input{
			{Name: "made", Network: "regtest", Data: bitcointest.BlockFile(wire.TestNet, all.Blocks()...)},
			{Name: "signet", Network: "signet", Data: readData(t, "converted", "floresta_signet_0_120.blk.dat")},
			{Name: "block 413567", Network: "mainnet", Data: readData(t, "bitcoin-core", "block413567.raw")},
		},
		Examples: []chaintest.Input{{Name: "block 908244", Network: "mainnet",
			Data: readData(t, "converted", "redbit_huge_000000000000000000017bb9edb21a7a1e3a0ddd7e317c06932e8567ee420357.raw")}},
		NoExample: []string{"output.inscriptions"}, // covered by the examples of tx.inscriptions
		Branches: func(t testing.TB, depth int) (network, ours, theirs string) {
			a := bitcointest.NewChain()
			a.MineEmpty(20)
			b := a.Fork(20 - depth)
			b.MineEmpty(depth + 3)
			file := func(c *bitcointest.Chain) string {
				return "file://" + write(t, map[string][]byte{"blk00000.dat": bitcointest.BlockFile(wire.TestNet, c.Blocks()...)})
			}
			return "regtest", file(a), file(b)
		},
	})
}
