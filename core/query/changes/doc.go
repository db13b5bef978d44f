// Package changes is the change feed of a database: the blocks, outputs and spends since a point, and rollbacks.
//
// [Follow] yields what changed after the newest known block that is still part of the chain. A [Filter] says which outputs count.
// A consumer that stores what [Locator] returns can continue after any interruption.
package changes
