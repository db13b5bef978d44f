// Package cache keeps the data that resolving needs: the unspent outputs and the births of values. With it the write
// path reads the database rarely, also while the data is larger than memory.
//
// # Shards and tables
//
// [Caches] have 1 to 64 shards, depending on the memory. The top bits of a fingerprint select the shard. A shard has a
// table of unspent outputs, a table of births, a Bloom filter and lists of overflow runs. Shards share nothing:
// [Caches.Births] and [Caches.Outputs] look up the values, inputs and outputs of a whole batch, one shard per goroutine
// and without locks.
//
// A table is bounded and sorted by tag (fptable.go). An entry of an unspent output has the output's pointer and value,
// and one word per index with accounts: the owner, which is the birth of the output's value. An entry that is spent is
// removed. Entries of batches that are not committed yet are pinned: they are always present. A table that is full
// evicts or spills the others.
//
// # Misses
//
// An input whose output is missing is always looked up in the database. For values it depends on the state of the
// births:
//
//   - unknown: a miss must be looked up in the database. This is the state after an error of a run, and of a database
//     near its tip that is opened without a usable snapshot and has too many rows to read them again.
//   - filtered: the filter has all values. A value that it lacks is new, others must be looked up. This is the state at
//     the tip. Most of the memory of the tables is then for births. If the filter outgrows half of the memory, it is
//     dropped, and the births are unknown.
//   - complete: tables and overflow runs together have all births, also of one-to-one indexes. A value that they lack
//     is new, and nothing is looked up. A first sync begins in this state and keeps it until it reaches the tip.
//
// # Overflow runs
//
// A full table spills: it writes entries to an overflow run, an immutable sorted file (package run) in the folder of
// [Caches.SetFolder]. Tables are in the order of runs, so a spill is one pass.
//
//   - Births, while they are complete: all that are in no run yet. They are older than the pinned ones and stay in the
//     table, as entries that can be evicted. Every birth is in at most one live entry of a run.
//   - Unspent outputs: the older half is moved. A spend of an output in a run sets a bit of the run, in memory.
//
// Four runs of a level are merged into one of the next level, by the goroutine of the shard that spills. Merges leave
// spent outputs out. The filters of runs are in memory as long as runs need at most half of it; the others are mapped
// from the files, and released after the lookups of a large batch. Without a folder, tables that are full end the
// complete state: the births become filtered, and full tables evict.
//
// A repeated transaction hash hides the outputs of the earlier transaction (BIP 30). A table replaces their entries, but
// a run keeps them: an invalid chain that spends such an output is not refused then.
//
// [Caches.Settle] ends the use of runs of births when a first sync has reached the tip: it fills the filter from tables
// and runs and drops the runs, which have some 22 bytes per value. So does a change of the indexes. A change of the
// accounts drops the runs of unspent outputs too.
//
// # Snapshot
//
// [Caches.WriteSnapshot] writes tables, filters, and the names, limits and bits of the runs to a side file of the
// store, for one block (snapshot.go). Runs are synced before. Files of dropped runs are deleted after the next
// snapshot, since the last one may name them. [Caches.Warm] reads the snapshot and then the rows of later blocks. An
// invalid snapshot is logged and ignored: the caches are filled from all rows if these are few or much of the chain is
// missing, and start empty otherwise.
//
// # Rollback and errors
//
// A rollback removes the entries of the rows that it removes. Runs ignore entries at or after a limit, which the
// rollback lowers. Outputs that are unspent again are not put back: they cost a lookup.
//
// Runs are a cache. If a file cannot be written or read, or is damaged, the caches drop all runs, births that were
// complete become unknown, and the batch looks up its values and inputs in the database. [Caches.RunError] returns the
// error once. No error of a run fails a batch or reaches the database.
package cache
