// Package storage is the seam between the core and whatever keeps its rows: families of ordered keys, snapshots to
// read from, and batches that are written whole or not at all.
//
// A store is small enough to be made of RocksDB, of memory or of a distributed ordered key-value store. It promises:
//
//   - [Store.View] reads one consistent snapshot;
//   - [Store.Update] is atomic over all families: after any crash all of a batch is there or nothing of it;
//   - keys of a family are ordered by their bytes.
//
// It does not promise cheap single reads, batches of any size, deletion of ranges, or families in files of their own.
// What only some stores can do is a small interface of its own here ([Sizer], [Flusher], [SideFiles], [MetricsProvider], …), found by type assertion.
//
// storage/storetest is the suite every store passes; storage/memory and storage/rocks are the stores.
package storage
