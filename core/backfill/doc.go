// Package backfill adds the values and options of a new index to blocks that the database has already, and removes what is left of a
// dropped index.
//
// A new index has a tip of its own below that of the database. A [Step] adds a run of blocks to it: [Step.Prepare] finds where the
// values of the blocks were born, [Step.Emit] writes the rows of the index and adds the values to the rows of outputs. When
// both tips meet, the database makes the index active. [Clean] removes a dropped index from the rows of outputs.
package backfill
