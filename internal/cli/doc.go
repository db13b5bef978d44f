// Package cli is the command line of birthmark: it indexes a chain into a database and answers questions about it.
//
// Each command has a file of its own and is declared there: its flags, its arguments (ArgsUsage says how many there
// are) and its action. What they share is around them:
//
//   - arrange.go brings the arguments into the order the flag parser wants and finds what is wrong with them;
//   - load.go reads the settings from file, environment and flags ([birthmark/internal/config]);
//   - query.go opens the database of a query;
//   - fail.go turns an error into an exit status, a line on stderr and a JSON document;
//   - page.go and amount.go write answers for people.
//
// What runs for long, a sync or a server, is [birthmark/internal/daemon]; progress is shown by [birthmark/internal/progress].
//
// The answers themselves are made by birthmark/core.
package cli
