// Package p2p takes a Bitcoin chain from peers of its network: nodes anybody may ask, without credentials, and none of
// them trusted.
//
// A [Network] hands out hashes of the chain with the most work and raw serialized blocks of it; it decodes nothing into
// the model. It speaks through btcd's peer and wire and judges with the rules of btcd's blockchain.
//
//	endpoint.go  addresses: which are tried when, what is held against them; discover.go finds some
//	remote.go    one connection: its messages, and what ends it
//	headers.go   headers are asked for and announced; tree.go and rules.go judge and keep them
//	fetch.go     blocks are asked for, by many callers at once; body.go judges them
//	watch.go     who stalls
//
// Headers come first, from one peer until it has no more and then from all. Each is checked for proof of work,
// difficulty, time and the network's checkpoints. The best chain is the one with the most work among those that
// connected peers have: what nobody has cannot be fetched. Among equals it is the one whose tip came first.
//
// A database that is asked to go on knows points of its chain. The headers begin at one of them, at least two
// difficulty periods below the newest ([tree]): up to the newest known point that a peer's chain goes through they are
// proven by their hashes, from there on they are checked in full. A chain that parts further down makes everything
// begin again from an older point, at last from the first block.
//
// Blocks are asked for in the groups the callers want, several groups of one peer at once. A block is the one asked for
// by the hash of its header; its transactions have to have the header's merkle root, and the witnesses the coinbase's
// commitment (BIP 141). When they have not, the peer has lied and another one is asked.
//
// A peer that lies is logged with what it did, dropped, and not asked again. One that stalls is dropped and tried again
// late; what it was asked for goes to another.
//
// One mutex guards all of a Network. Callbacks of connections hold it to change what is known, callers wait on a
// channel that is closed at every such change.
//
// Caveats: signet's signatures are not checked, only its proof of work. Peers that serve no witnesses are refused.
// Connections are not encrypted (BIP 324), and go through no proxy.
package p2p
