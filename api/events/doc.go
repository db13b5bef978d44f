// Package events streams the events of a chain to HTTP clients as server-sent events (WHATWG HTML, section 9.2): every
// block and rollback and, on request, outputs and the inputs that spend them.
//
// A subscriber receives the result of [query.View.Follow] in batches. Each batch is read from one snapshot into a buffer
// of bounded size and then written, so that a slow client holds no snapshot and little memory, and can continue in the
// middle of a block. A client that accepts nothing for [Options.WriteTimeout] is disconnected. Events near the tip are
// read once for all subscribers, which select their own: the number of reads per block does not depend on the number of
// clients.
//
// An event id identifies a position in the chain by several block hashes, newest first. It needs no state in the server:
// every server of the chain can resume after it. If that block was rolled back, the stream resumes after the newest of
// these blocks that is still on the chain, with a rollback event first. That event is sent even if nothing changed, since
// events of an incomplete block are sent again.
//
// Unconfirmed transactions are sent between two blocks, for the tip that the client has. The server stores no list of
// what a client has: it has the matching transactions that arrived up to a number and did not leave since.
//
// The protocol for clients is described in docs/events.md.
package events
