// Package rocks is the store on RocksDB, through grocksdb on Debian's librocksdb 7.8. It is the only package with cgo.
//
// Every family is a column family. An Update is one WriteBatch whose bytes are made in Go, with the rows of each
// family in order, so that inserting them costs the memtable a step instead of a search (batch.go). Reads go through
// a few lines of C++ (shim.cc) that hand over many rows in one call. Every option has its reason beside it
// (options.go).
//
// UpdateBulk writes the rows of each family as a table of its own, in a folder beside the database's tables, and RocksDB takes
// all of them in by one entry in its manifest (bulk.go): all or none, durably, and without a log. A snapshot is not taken
// meanwhile, since families become visible one after the other. What is left of an update that did not come so far is
// removed when the database is opened.
//
// Tables that overlap are merged in the background when there are some (compaction.go). While updates in bulk go on, those of
// families that nothing reads meanwhile wait until there are hundreds; the end of the bulk, Flush and the next opening
// let them be merged. Compact merges all there are, families side by side.
//
// With the WAL on, an Update is on disk when it returns, whatever happens to the machine. With the WAL off it is in
// memory until a flush, which is atomic over all families: after a crash the database is at an earlier Update in every
// family at once. Flush and Close make everything durable.
//
// A read-only store is RocksDB's read-only mode, not a secondary instance: it writes nothing, needs no folder of its
// own to write to, and shows the moment it was opened, WAL included, whatever another process does meanwhile: it holds
// every table file open, so files that the writer removes stay readable. So that it is one moment, the logs are held
// from the moment the manifest was read (readonly_open.cc). Where the manifest changes while it is read, a table is removed
// before it was opened, or a family appears, opening is tried again.
//
// Notes are files of a folder beside the tables (sidefile.go).
//
// One process at a time writes: it holds a lock on the file birthmark.lock, which says who it is.
package rocks
