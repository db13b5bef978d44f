// Package query answers questions about a database: blocks, transactions, outputs, values, assets, and what changed.
//
// [Queries] read a [Database]: each question one snapshot, or all questions of a [View] the same one. Lists come in pages with
// cursors (cursor.go) and can be limited to a [Range]. [Queries.Find] combines the outputs of several values with the set
// operations of setops.go. Package changes is the change feed. [Labels] cache texts of pointers between questions.
package query
