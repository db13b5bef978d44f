// Package cache has tables in memory that save the write path its reads: unspent outputs, births of values, new values,
// and the values of unspent outputs.
//
// [Caches] divide a budget in bytes among two or more [Table]s and a [Bloom] filter. Entries of batches that are not
// written yet are always present; others are present if there is room, and a miss costs a read. A rollback drops the
// entries of the rows that it removes. When the database is closed, the caches are written to a side file of the store
// (snapshot.go), and [Caches.Warm] restores them from it and from the rows written since.
package cache
