// Package core is the indexer: it writes the families of the model, undoes them, checks them and answers from them.
//
// A [DB] is a store with the rules of one chain. [DB.Append] takes a window of blocks in three passes: every block,
// transaction and output of the window is given its pointer; what inputs spend and where values were born is resolved
// (from tables in memory that have all of the windows still being written, and what is left from the store, many keys at
// once); then the rows are emitted. Resolution is the only reading. The rows of a window and the new tip are one write.
// docs/performance.md follows a window through all of it.
//
// [DB.Rollback] needs no log: every pointer begins with the height, so the rows of a block are a range, and what they
// point to tells the rest. [Sync] drives Append and Rollback from a [model.Source], reading, resolving and writing at
// the same time; what its source took off the chain is remembered ([DB.Forks]). [DB.Check] verifies the laws that hold
// between the families.
//
// schema.go declares every family and its layout once, and docs/schema.md is printed from that. The rows are encoded
// and decoded in rows.go and rows_accounts.go, those of meta in meta.go, catalogue.go and living.go.
package core
