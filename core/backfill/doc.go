// Package backfill adds a new index, or new features of an index, to blocks that the database already contains, and
// removes the remains of a dropped index.
//
// A new index has its own tip below that of the database. A [Step] adds a run of blocks to it: [Prepare] finds the
// births of the values in the blocks; [Step.Emit] writes the rows of the index and adds the values to the rows of
// outputs. A step is one write with the tip of the index, so a kill loses one step. New blocks ignore the index, and a
// rollback of the chain also shortens it. Near the tip the last steps are made with exclusive access, which pauses the
// sync for a moment, and the database activates the index. The result is byte for byte that of an index which existed
// from the first block. Queries on an index that is incomplete are refused.
//
// New features of an index follow from rows, without a source. Raw transactions are added like values. [Clean] removes a
// dropped index from the rows of outputs.
package backfill
