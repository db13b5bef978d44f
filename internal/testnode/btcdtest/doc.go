// Package btcdtest runs btcd, an independent full node, for tests: regtest, on loopback, one process per [Node],
// stopped when the test ends.
//
//	n := btcdtest.Start(t)
//	n.Generate(t, 200)
//	sync(n.URL())
//	n.Fork(t, 10, 12)
//	n.Kill(t)
//	n.Restart(t)
//
// A [Miner], which [Node.MineEveryScript] starts, makes and spends outputs of every script type. A [Core] is a proxy
// that adds Bitcoin Core's REST. [Node.BlockFiles] writes the node's blocks as Core stores them.
//
// The binary is built without changes from the module that tools/go.mod pins. A node's addresses belong to a relay in
// the test's process, so they do not change when the node restarts. A restart keeps only the best chain: see
// [Node.Restart].
package btcdtest
