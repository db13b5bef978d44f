// Package verify compares a database with a source of blocks.
//
// For a sample of blocks, [Run] derives the rows again that appending the block makes, and compares them with the
// stored rows. derive.go hides the rows of the block and of later ones from the code that derives; compare.go compares;
// describe.go renders rows for people; source.go fetches blocks, by height or by parent, and finds a way around
// damaged rows.
package verify
