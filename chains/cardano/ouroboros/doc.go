// Package ouroboros is a client of Cardano nodes: of any relay over TCP (node-to-node) and of a local node over its unix
// socket (node-to-client). It hands out blocks as they are, and where the node goes back; what is in a block is for
// others to decode.
//
// [Dial] shakes hands for a network and gives a [Conn]. [Conn.Intersect] says which of some points the node's chain has,
// and what its tip is; [Conn.Follow] yields what comes after that as an [Event] each: a block, the way back to a point, or
// that there is nothing more for now. [Conn.Child] is a single block. A Conn belongs to one goroutine.
//
// Over a unix socket chain-sync carries the blocks. Over TCP it carries headers only (follow.go, plan.go): they are
// queued, block-fetch is asked for the blocks in ranges while more headers come, and what arrives is put in the order of
// the queue. When the node goes back over headers whose blocks were not asked for, they are dropped and nobody hears of
// them. Requests are made ahead on all three, as many as the bytes under way allow: headers tell what blocks weigh.
//
// Handshake and multiplexer are those of gouroboros (link.go); no type of it is seen outside. The two protocols are spoken
// here (message.go): its clients fetch one range at a time and decode what nobody needs decoded.
//
// Errors are of kind BadSource and name the node. Those that waiting can heal, a connection that broke or a node that is
// silent, are marked by [birthmark/chains/blocksource.Temporary].
//
// Goroutines belong to the multiplexer; [Conn.Close] waits for their end.
package ouroboros
