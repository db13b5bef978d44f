// Package core is the indexer: it writes the families of the model, undoes them, checks them and answers from them.
//
// A [DB] is a store with the rules of one chain. [DB.Append] takes a window of blocks in three passes: every block,
// transaction and output of the window is given its pointer; what inputs spend and where values were born is resolved
// (from the window itself, from windows still being written, from caches, and what is left by one GetMany a family);
// then the rows are emitted. Resolution is the only reading. The rows of a window and the new tip are one write.
//
// [DB.Rollback] needs no log: every pointer begins with the height, so the rows of a block are a range, and what they
// point to tells the rest. [Sync] drives Append and Rollback from a [model.Source], reading, resolving and writing at
// the same time; what its source took off the chain is remembered ([DB.Forks]). [DB.Check] verifies the laws that hold
// between the families.
//
// schema.go declares every family once; nothing else knows how a row is laid out.
package core
