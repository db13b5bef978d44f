package cli

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/urfave/cli/v2"

	"birthmark/internal/cli/command"
)

// benchName is the command whose subcommands are in the program cmd/birthmark-bench.
const benchName = "bench"

// benchCommand is the command in the help of a program without the benchmarks: see [program.runBench].
func (p *program) benchCommand() *cli.Command {
	return &cli.Command{
		Name:      benchName,
		Usage:     "measure indexing, queries and serving on this machine",
		ArgsUsage: command.AnyArguments,
		Category:  standalone,
		Action:    func(*cli.Context) error { return errors.New("bench runs another program") },
	}
}

// hasBench reports whether this is the program with the benchmarks.
func (p *program) hasBench() bool {
	return slices.ContainsFunc(p.more, func(more MoreCommand) bool { return more(p.Env, standalone).Name == benchName })
}

// benchLine returns the arguments of birthmark-bench for a command line of bench, or of its help.
func benchLine(args []string) (line []string, ok bool) {
	switch {
	case len(args) > 1 && args[1] == benchName:
		return args[2:], true
	case len(args) > 2 && args[1] == "help" && args[2] == benchName:
		return append(slices.Clone(args[3:]), "--help"), true
	}
	return nil, false
}

// runBench replaces this process by birthmark-bench, which is beside it or in PATH.
func runBench(args []string) error {
	name := "birthmark-bench"
	var path string
	if self, err := os.Executable(); err == nil {
		path = filepath.Join(filepath.Dir(self), name)
	}
	found, err := exec.LookPath(path)
	if err != nil {
		found, err = exec.LookPath(name)
	}
	if err != nil {
		return command.UsageError("missing_program", "%s is neither %s nor in PATH: run make build", name, path)
	}
	return syscall.Exec(found, slices.Concat([]string{name}, args), os.Environ())
}
