// Package p2p downloads a chain of Bitcoin's kind from peers of its network, without credentials and without trusting
// them.
//
// A [Network] returns hashes of the chain with the most work, and raw serialized blocks of it; it does not decode them
// into the model. It uses btcd's peer and wire packages and the rules of btcd's blockchain package.
//
//	endpoint.go  addresses: when to try them, failures; discover.go finds addresses
//	remote.go    one connection: its messages and its end; socket.go takes blocks out of them
//	headers.go   requests and announcements of headers; tree.go, rules.go and work.go validate and store them
//	fetch.go     requests of blocks by concurrent callers
//	watch.go     stalled peers
//
// Headers are downloaded first, from one peer until it has no more and then from all. Each is checked for proof of
// work, difficulty, time and the network's checkpoints. The best chain is the one with the most work among those of
// connected peers, since others cannot be fetched. Among equals it is the one whose tip arrived first.
//
// Headers of a database that resumes are not downloaded again. The tree begins with one of them, two difficulty periods
// below the newest ([tree]). A chain that forks too near there rebuilds the tree from an older block, at last from the
// first block.
//
// Blocks are requested in the groups of the callers, several groups at once from one peer. A block is identified by the
// hash of its header; its transactions must have the header's merkle root, and the witnesses the coinbase's commitment
// (BIP 141). Otherwise the peer misbehaves and another one gets the request.
//
// A misbehaving peer is logged with the reason, dropped, and never used again. A stalled peer is dropped and retried
// much later; its requests go to another peer.
//
// One mutex guards a Network. Callbacks of connections hold it to change the state; callers wait on a channel that is
// closed at every change.
//
// Caveats: signet's signatures are not checked, only its proof of work. Bitcoin's peers without witnesses are refused.
// Connections are not encrypted (BIP 324) and do not use a proxy.
package p2p
