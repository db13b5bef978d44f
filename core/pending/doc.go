// Package pending keeps the unconfirmed transactions of a chain in memory, in addition to its database.
//
// A [Standing] is a consistent state: a tip, and an [Overlay] with the unconfirmed transactions for that tip. Both are
// immutable, and a reader gets them with one call ([Follower.View]). The transactions come from a source that
// implements [model.Mempool]; the chain's own decoder gives them the values of every index of the database, so that
// every index has unconfirmed entries.
//
// A [Pool] is the only writer of an overlay. It keeps these invariants: no transaction is in the chain and in the
// overlay; each input spends an output that exists, in the chain or in the overlay, and that nothing else spends. The
// source decides which of two conflicting transactions is valid: the one that arrives later replaces the earlier one.
//
// A [Follower] drives a pool from the lists and events of a source and from the tip of the database. Nothing is stored.
package pending
