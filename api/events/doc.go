// Package events tells clients what happens on a chain while it happens: server-sent events (WHATWG HTML, section 9.2) over
// HTTP, of every block and every rollback and, where they are asked for, of outputs and what spends them.
//
// A connection is a [core.View.Follow] in steps. Each step looks at one snapshot, fills a buffer of bounded size,
// leaves the snapshot and writes: however slow a client is, it holds neither a snapshot nor more than the buffer, and
// goes on at its own pace, in the middle of a block too. A client that takes nothing for [Options.WriteTimeout] is
// dropped. One that is at the tip waits for the next. What happened near the tip is read once for all clients, and each
// is told what it wants of it: the reads per block do not grow with the number of clients.
//
// An event id is a place in the chain: some of its blocks, newest first, by height and a few bytes of a hash of their hash.
// It depends on nothing that a server remembers, so that any server of the chain goes on behind it. Where the block was rolled
// back meanwhile, that is behind the newest of them that is still there, which the client is told first, as a rollback. It is
// told so even where nothing changed: what it was told of a block that was not told to the end is told again.
//
// docs/events.md is the protocol as clients see it.
package events
