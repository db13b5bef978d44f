// Package cli is the command line of birthmark: it indexes a chain into a database and answers questions about it.
//
// Each command has a file of its own and is declared there: its flags, its arguments (ArgsUsage says how many there
// are) and its action. What they share is around them:
//
//   - arrange.go brings the arguments into the order the flag parser wants and finds what is wrong with them;
//   - load.go asks birthmark/internal/config what is set by file, environment and flags;
//   - open.go opens the database, to be read or to be written;
//   - fail.go turns an error into an exit status, a line on stderr and a JSON document;
//   - index_session.go is a database that is written: blocks come, beside them indexes are added and dropped, also for
//     other processes, which ask through birthmark/internal/control;
//   - served.go is a database that is served, by serve_http.go: one that this process syncs (served_sync.go) or one that another
//     process may write (served_read.go), each of several (served_chains.go);
//   - page.go and amount.go write answers for people, progress.go tells how far a long command is.
//
// The answers themselves are made by birthmark/core.
package cli
