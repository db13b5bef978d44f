// Package ouroborostest is a stand-in for a Cardano node, for tests of any package: gouroboros' server side, on loopback,
// ended with the test.
//
//	blocks, err := ouroborostest.Chunks(folder)
//	n := ouroborostest.Start(t, 2, blocks[:1000])
//	sync(n.TCP()) // node-to-node: handshake, chain-sync with headers, block-fetch, keep-alive
//	sync(n.Unix()) // node-to-client: handshake, chain-sync with whole blocks
//	n.Switch(990, blocks[990:1100]...)
//	n.Disconnect()
//
// A [Node] has one chain and any number of clients, each with a place of its own on it. It answers as the Haskell node
// does where gouroboros leaves that to its user: the first request after an intersection is answered with a rollback to
// it, one without any with a rollback to the origin; at the tip the client is told to wait, and hears of what happens
// then; headers of Byron say which kind of block they are of; a handshake on another network's magic is refused in
// words, and the words arrive.
//
// The chain is served as it is given: that its blocks are valid, or follow on each other, is up to the test. What a node
// does wrong is in [Faults].
package ouroborostest
