// Package cache keeps tables in memory that save the write path most of its reads: unspent outputs, births of values, a
// filter of known values, and the owners of unspent outputs.
//
// [Caches] divide a budget in bytes among two or more [Table]s and a [Bloom] filter. Entries of uncommitted batches are
// always present; other entries are present if there is room, and a miss costs a read. A rollback drops the entries of
// the rows that it removes. When the database is closed, a snapshot of the caches is written to a side file of the
// store (snapshot.go), and [Caches.Warm] restores them from it and from the rows written since.
package cache
