// Package storage is the interface between the core and a key-value store: families of ordered keys, snapshots to read
// from, and atomic batches of writes.
//
// The interface is small enough for RocksDB, for memory and for a distributed ordered key-value store. A store
// guarantees:
//
//   - [Store.View] reads one consistent snapshot;
//   - [Store.Update] is atomic over all families: after a crash either all rows of a batch exist or none;
//   - the keys of a family are ordered bytewise.
//
// It does not guarantee that single reads are cheap, that batches may have any size, that ranges can be deleted, or that
// each family has its own files. What only some stores can do is an optional interface, found by type assertion:
// [BulkUpdater], [Sizer], [Flusher], [SideFiles], [CacheFolder], [Compactor], [MetricsProvider], [Limited], [Watched]; of a
// Reader: [TogetherReader], [Versioned].
//
// storage/storetest is the conformance suite that every store passes; storage/memory and storage/rocks are the stores.
package storage
