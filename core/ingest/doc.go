// Package ingest makes rows of blocks, and removes them again.
//
// A [Batch] is a run of blocks that is written at once. It goes through three passes: [NewBatch] assigns pointers; [Resolve] finds
// what inputs spend and where values were born, in the caches, in the batches that are not written yet, and in the
// database, many keys at once; [WriteRows] emits the rows. Resolve is the only pass that reads.
//
// [Undo] is the inverse. It needs no log: every pointer begins with the height of its block, so the rows of a block are ranges
// of keys, and what they point to tells the rest.
package ingest
