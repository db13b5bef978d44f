// Package btcdtest runs btcd, a full node that others have written, for tests: regtest, on loopback, one process for
// each [Node], ended with the test.
//
//	n := btcdtest.Start(t)
//	n.Generate(t, 200)
//	sync(n.URL())
//	n.Kill(t)
//	n.Restart(t)
//
// The binary is built from the module that tools/go.mod pins, and nothing in it is changed. A node's addresses are
// those of a relay in the test's process, so that they stay when the node is restarted.
package btcdtest
