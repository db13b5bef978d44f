// Package ingest derives rows from blocks, and removes them on rollback.
//
// A [Batch] is a sequence of blocks that is written in one commit. It passes three stages: [NewBatch] assigns pointers;
// [Resolve] finds the outputs that inputs spend and the births of values; [WriteRows] emits the rows. Resolve is the
// only stage that looks up outputs and births: it divides the lookups of the batch by shard of the caches, which answer
// them on all processors, and reads the rest from the database at once. The caches have everything of batches that are
// not committed yet, except values of one-to-one indexes, which are searched in these batches. An entry of the caches is
// removed when an input spends it, and a missed output is read together with the row of its spender: an unknown or spent
// output is an error of the block, wherever it is found.
//
// [Undo] is the inverse. It needs no undo log: every pointer begins with the height of its block, so the rows of a
// block are ranges of keys, and the remaining rows follow from the pointers in them.
package ingest
