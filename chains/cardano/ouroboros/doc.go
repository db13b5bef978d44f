// Package ouroboros is a client of Cardano nodes: of relays over TCP (node-to-node) and of a node on this machine over its
// Unix socket (node-to-client). It yields serialized blocks and rollbacks; it does not decode blocks.
//
// [Dial] connects and performs the handshake for a network. [Conn.Intersect] finds the newest of some points that the
// node has, and the node's tip. [Conn.Follow] yields an [Event] for each block and rollback after it, and when the node has
// no more blocks. [Conn.Child] returns a single block. A Conn is for one goroutine.
//
// Over a Unix socket chain-sync carries blocks. Over TCP it carries headers (chainsync.go): they are queued, block-fetch
// requests their blocks in ranges while more headers arrive (blockfetch.go), and blocks are yielded in the order of the
// queue. Headers that are rolled back before their blocks were requested are dropped. Requests of both protocols are
// pipelined up to a limit of bytes, which headers state.
//
// Over a Unix socket there are also the node's mempool ([Conn.Mempool]), submission ([Conn.Submit]) and its ledger state
// ([Conn.State]): see local.go.
//
// Handshake and multiplexer are those of gouroboros (handshake.go, mux.go). Its clients of the two protocols are not used:
// chain-sync waits for all answers before it sends more requests, and does not report that the node has no more blocks.
// Measurements: docs/adr/0095-gouroboros-pipelined-block-fetch-does-not.md.
//
// Errors are of kind BadSource and name the node. Failures that a retry may cure, such as a lost connection or a timeout,
// are marked by [birthmark/chains/blocksource.Temporary].
//
// Goroutines belong to the multiplexer; [Conn.Close] waits for them.
package ouroboros
