// Command birthmark-bench measures indexing, queries and serving: birthmark bench COMMAND runs birthmark-bench COMMAND. It is
// a program of its own so that birthmark has neither generators nor clients of tests.
package main

import (
	"os"
	"slices"

	"birthmark/bench/benchcmd"
	"birthmark/internal/cli"
)

func main() {
	if len(os.Args) < 2 || os.Args[1] != "bench" {
		os.Args = slices.Insert(os.Args, 1, "bench")
	}
	os.Exit(cli.Main(benchcmd.Command))
}
