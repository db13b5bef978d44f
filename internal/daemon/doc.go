// Package daemon runs what lives longer than one query: it opens databases, syncs them, adds and drops their indexes, and
// serves them over HTTP.
//
//   - [Host] has the dependencies that a command provides: the log, the clock, the chains. Its methods open the rest.
//   - [Database] is an open database; [BlockSync] appends the blocks of a source to it.
//   - [Session] is everything that writes one database: a sync, indexes that are added or dropped, and the requests of other
//     processes through [birthmark/internal/control].
//   - [Chains] are the chains of a server: each is synced by this process or read from a database that another process may
//     write. A handle lets the database of a chain be replaced while requests are answered.
//   - [Server] answers HTTP requests.
//
// A server syncs the chains that it serves: RocksDB lets one process write, and a reader in another process has to open
// the database again to see new rows, which takes seconds. It listens before its sources are contacted, and shows their
// progress. Wrong usage, a refused database and a used port end the start; later failures of a chain are retried and do
// not affect other chains.
package daemon
