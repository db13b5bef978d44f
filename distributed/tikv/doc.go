// Package tikv is a storage.Store over a TiKV cluster.
//
// # Rows
//
// A database has a name in the cluster. Its keys are
//
//	bm/NAME/ r NUMBER KEY    rows; the number of a family, four bytes, is in the catalogue
//	bm/NAME/ c …             state of the database, below
//
// TiKV has no values of zero bytes: see escape.
//
// # Reading
//
// A View reads at one timestamp of the cluster. TiKV keeps old versions of rows, so the timestamp is a snapshot over all
// families. A View calls TiKV once for each method of its Reader. A process that only reads shows the state at the time it
// opened the database; Newest reports that there is a newer one.
//
// # Writing
//
// One process writes at a time. Opening a database for writing increments the epoch in the rows fence and fence/LANE.
// Every later transaction of the writer reads one of these rows, compares the epoch, and writes the row again with the
// same value. A transaction of TiKV locks all its keys before it commits the first: if another process took over since
// the transaction began, the lock of the fence row conflicts, and nothing is written, whatever the old writer was doing.
// The lease names the writer and its age, so that a second process reports the first instead of taking over by accident.
// It is a courtesy: correctness does not depend on it, nor on clocks.
//
// A small update is one transaction. A large one cannot be: it takes these steps.
//
//  1. log/N: the sorted changes in parts, each one value
//  2. seal: a row with the number of parts, their checksum, and a timestamp before. From its commit on the update will
//     happen; before, it did not.
//  3. the parts are applied, several at once, each in a transaction. They are absolute: twice is the same as once.
//  4. publish: one transaction that deletes the seal and the log
//
// A reader that finds a seal reads at its timestamp before, which shows all families as they were. A writer that finds a
// seal, after a crash or a lost connection, repeats step 3 and continues.
//
// # Garbage
//
// TiKV deletes versions that are older than the safe point of the cluster. Without TiDB it does not advance, so the
// writer does. It stays behind the seal's timestamp and behind the oldest View of every process, which registers with
// the placement driver when a View is older than a minute.
package tikv
