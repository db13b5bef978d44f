// Package cli is the command line of birthmark.
//
// Each command has its own file, which declares its flags, its arguments (ArgsUsage has a word per argument), its
// action and the page that shows its answer. Shared files:
//
//   - program.go lists the commands;
//   - reorder.go brings the arguments into the order that the flag parser requires and checks them;
//   - help.txt has the description and the examples of each command;
//   - query.go runs the commands that query a database.
//
// Package command has what all commands share: settings, common flags, answers as text or JSON, errors and exit
// statuses. Package terminal prints text answers. The benchmarks are the program
// cmd/birthmark-bench, which the command bench runs.
//
// Syncs and servers are in [birthmark/internal/daemon], progress bars in [birthmark/internal/progress], and queries in
// [birthmark/core/query].
package cli
