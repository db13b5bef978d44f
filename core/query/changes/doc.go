// Package changes is the change feed of a database: the blocks, outputs, spends and rollbacks since a point.
//
// [Follow] yields the changes after the newest known block that is still part of the chain. A [Filter] selects the
// outputs. A consumer that stores the result of [Locator] can resume after any interruption.
package changes
