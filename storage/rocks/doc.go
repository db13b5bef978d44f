// Package rocks is the store on RocksDB, through grocksdb. It is built with RocksDB 7.8: that of Debian, which has its
// assertions on, or the same version without them, which releases have (tools/rocksdb). Only this folder uses cgo.
//
// Every family is a column family. An Update is one WriteBatch that is encoded in Go with the rows of each family in
// key order, so that each insertion into the memtable starts where the previous one ended (batch.go). Reads go through
// a thin C++ layer that returns many rows per call (shim.cc). options.go gives the reason for every option.
//
// UpdateBulk writes the rows of each family as one table in a folder next to the database's tables, and RocksDB ingests
// all of them by one manifest entry: atomically, durably and without a log (bulk.go). No snapshot is taken during an
// ingestion, because families become visible one after the other. Tables of an update that did not finish are removed
// when the database is opened.
//
// RocksDB compacts overlapping tables in the background (compaction.go). During bulk updates, compaction of families
// that they do not read is deferred until hundreds of tables exist; ordinary updates, Flush and the next opening resume
// it. Compact compacts all families concurrently. Small tables that do not overlap are merged (small_tables.go).
//
// With the WAL on, an Update is on disk when it returns and survives a power failure. With the WAL off it is in memory
// until a flush, which is atomic over all families: after a crash the database is at an earlier Update in all families.
// Flush and Close make all updates durable.
//
// A read-only store uses RocksDB's read-only mode. A secondary instance would write to a folder of its own, catch up in
// the calls of queries, and lack families that are created later. The store writes nothing and shows the state at the
// time of opening, WAL included, regardless of what another process writes: it holds all table files open, so files
// that the writer deletes stay readable. To see one state it opens the logs at the moment it has read the manifest
// (readonly_open.cc). The open is retried if the manifest changes while it is read, a table is deleted before it is
// opened, or a family is created.
//
// Side files are in a subfolder (sidefile.go). One process at a time writes: it holds a lock on the file
// birthmark.lock, which identifies it. The package naive is the baseline of benchmarks.
package rocks
