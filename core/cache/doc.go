// Package cache is memory that saves the write path reads: unspent outputs, the births of values, which values are new, and
// the values of unspent outputs.
//
// [Caches] divide a number of bytes among two or more [Table]s and a [Bloom] filter. Entries of batches that are not written
// yet are always there; everything else is there as far as there is room, and a miss costs a read. A rollback drops the
// entries of the rows that it removes. When the database is closed, the caches are written to a side file of the store
// (snapshot.go), and [Caches.Warm] restores them from it and from the rows written since.
package cache
