// Package cli is the command line of birthmark.
//
// Each command has its own file, which declares its flags, its arguments (ArgsUsage has a word per argument) and its
// action. Shared files:
//
//   - arrange.go brings the arguments into the order that the flag parser requires and checks them;
//   - load.go reads the settings from file, environment and flags ([birthmark/internal/config]);
//   - query.go opens the database of a query;
//   - fail.go turns an error into an exit status, a line on stderr and a JSON document;
//   - page.go and amount.go print answers as text.
//
// Syncs and servers are in [birthmark/internal/daemon], progress bars in [birthmark/internal/progress], and queries in
// [birthmark/core/query].
package cli
