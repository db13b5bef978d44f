// Package ouroborostest is a Cardano test node: gouroboros' server side, on loopback, stopped when the test ends.
//
//	blocks, err := ouroborostest.Chunks(folder)
//	n := ouroborostest.Start(t, 2, blocks[:1000])
//	sync(n.TCP()) // node-to-node: handshake, chain-sync with headers, block-fetch, keep-alive
//	sync(n.Unix()) // node-to-client: handshake, chain-sync with whole blocks
//	n.Switch(990, blocks[990:1100]...)
//	n.SetMempool(txs...)
//	n.Disconnect()
//
// A [Node] has one chain and any number of clients, each with its own position. It answers like the Haskell node where
// gouroboros leaves the choice to its user: the first request after an intersection gets a rollback to it, or to the
// origin without one; at the tip the client gets AwaitReply and later the changes; Byron headers carry the kind of
// their block; a handshake with another network's magic is refused with a message, which arrives.
//
// Node-to-client also has the mempool, which a test fills ([Node.SetMempool]) and clients submit to; blocks remove their
// transactions from it. A client that has a snapshot of the mempool waits for a change with the next one. Queries of the
// ledger state have the results that a test sets ([Node.Answers]).
//
// The chain is served as given: the test is responsible for valid blocks that follow on each other. [Faults] make the
// node misbehave.
package ouroborostest
