// Package coretest is a stand-in for a regtest node of Bitcoin Core, for tests of what btcd lacks: numbered changes of
// the mempool, notifications over ZMQ, packages, smart fee estimates, mempool.dat.
//
//	n := coretest.Start(t)
//	coins := n.Coins(t, 10)                        // outputs that anybody can spend
//	tx := coretest.Spend(1000, coins[0])           // with a fee in satoshis
//	n.Send(t, tx)                                  // into the mempool
//	n.Send(t, coretest.Spend(5000, coins[0]))      // replaces it
//	n.Mine(t)                                      // a block with the whole mempool
//	n.Fork(t, 1, 2)                                // its transactions are unconfirmed again
//
// Blocks are valid (package bitcointest). Scripts and signatures are not verified. The mempool has Core's rules for
// conflicts, replacement by fee, minimum fees and packages, as far as the outcome of a test depends on them. Errors
// have Core's codes and messages.
//
// Faults are set by [Node.Set]: a node that is starting, lacks methods, answers late, or drops notifications.
package coretest
