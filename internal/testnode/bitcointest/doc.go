// Package bitcointest makes valid regtest chains for tests: proof of work at regtest's target, merkle roots, heights in
// coinbases, witness commitments, and block files as a node writes them.
//
//	c := bitcointest.NewChain()
//	paid := c.Mine().Transactions[0]
//	c.Mine(bitcointest.Spend(paid, 0, wire.NewTxOut(1000, script)))
//	fork := c.Fork(1)
//	fork.MineEmpty(3)
//	file := bitcointest.BlockFile(wire.TestNet, append(c.Blocks(), fork.Blocks()[2:]...)...)
//
// The same calls make the same blocks. Scripts and signatures are not verified, so spending needs no signature.
package bitcointest
