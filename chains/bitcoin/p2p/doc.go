// Package p2p downloads a chain of Bitcoin's kind from peers of its network, without credentials and without trusting
// them.
//
// A [Network] returns the hashes of the chain with the most work and its serialized blocks. It does not decode blocks
// into the model. It uses packages peer, wire and blockchain of btcd.
//
//	endpoint.go  addresses: attempts and failures; discover.go finds addresses
//	remote.go    one connection: its messages and its end; socket.go extracts blocks from its messages
//	headers.go   requests and announcements of headers; tree.go, rules.go and work.go validate and store headers
//	fetch.go     requests of blocks by concurrent callers
//	watch.go     stalled peers
//
// Headers are downloaded before blocks: first from one peer until it has no more, then from all peers. The proof of
// work, difficulty, time and checkpoints of each header are validated. The best chain is the one with the most work
// among the chains of connected peers, since the blocks of other chains cannot be downloaded. If several chains have
// the same work, it is the one whose tip arrived first.
//
// Headers that the database contains are not downloaded again. The tree of headers ([tree]) begins with a block of the
// database two difficulty periods below its tip. If a peer's chain forks so near the first header of the tree that its
// difficulty cannot be validated, the tree is rebuilt from an older block, and finally from the first block.
//
// Callers request groups of blocks, and one peer can send several groups at the same time. The hash of its header
// identifies a block. Its transactions must have the merkle root of the header, and its witnesses the commitment of the
// coinbase (BIP 141). Otherwise the peer misbehaves, and the block is requested from another peer.
//
// A peer that misbehaves is logged with the reason, dropped, and never used again. A peer that stalls is dropped and
// retried much later. Its requests are sent to another peer.
//
// One mutex guards a Network. Callbacks of connections hold it while they change the state. Callers wait on a channel
// that is closed at each change.
//
// Caveats: signatures of signet blocks are not verified, only the proof of work. Bitcoin peers that do not serve
// witnesses are rejected.
// Connections are not encrypted (BIP 324) and do not use a proxy.
package p2p
