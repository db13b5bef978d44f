// Package btcdtest runs btcd, a full node that others have written, for tests: regtest, on loopback, one process for
// each [Node], ended with the test.
//
//	n := btcdtest.Start(t)
//	n.Generate(t, 200)
//	sync(n.URL())
//	n.Fork(t, 10, 12)
//	n.Kill(t)
//	n.Restart(t)
//
// A [Miner], which [Node.MineEveryScript] starts, makes outputs of every kind of script and spends them; a [Core] stands
// in front of a node and answers REST as Bitcoin Core does; [Node.BlockFiles] writes the node's blocks as Core keeps them.
//
// The binary is built from the module that tools/go.mod pins, and nothing in it is changed. A node's addresses are
// those of a relay in the test's process, so that they stay when the node is restarted. A restart keeps the best chain and
// nothing else: see [Node.Restart].
package btcdtest
