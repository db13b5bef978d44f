// Package verify compares a database with a source of blocks.
//
// For a sample of blocks, [Run] derives the rows again that appending the block makes, and compares them with the
// stored rows. derive.go hides the rows of the block and of later ones from the code that derives; compare.go compares;
// describe.go renders rows for people; source.go fetches blocks, by height or by parent, and finds a way around
// damaged rows.
//
// An error in one of fifty blocks is found by a sample of 100 blocks in 87 of 100 cases. The sample depends on a seed,
// which the answer contains, so that a finding can be repeated. The node's count of unspent outputs is a lower bound: a
// node leaves out outputs that can never be spent.
package verify
