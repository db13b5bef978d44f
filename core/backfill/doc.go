// Package backfill adds a new index, or new features of an index, to blocks that the database already contains, and
// removes the remains of a dropped index.
//
// A new index has its own tip below that of the database. A [Step] adds a run of blocks to it: [Prepare] finds the
// births of the values in the blocks; [Step.Emit] writes the rows of the index and adds the values to the rows of
// outputs. When both tips meet, the database activates the index. [Clean] removes a dropped index from the rows of
// outputs.
package backfill
