// Package ingest derives rows from blocks, and removes them on rollback.
//
// A [Batch] is a run of blocks that is written in one commit. It passes three stages: [NewBatch] assigns pointers;
// [Resolve] finds the outputs that inputs spend and the births of values, with batched lookups in the caches, in
// batches that are not committed yet, and in the database; [WriteRows] emits the rows. Resolve is the only stage that
// looks up outputs and births.
//
// [Undo] is the inverse. It needs no undo log: every pointer begins with the height of its block, so the rows of a
// block are ranges of keys, and the remaining rows follow from the pointers in them.
package ingest
