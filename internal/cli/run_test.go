package cli

import (
	"context"
	"io"
	"time"
)

// The exit statuses of the contract.
const (
	exitDone    = 0
	exitFailed  = 1 // no answer, or problems found
	exitUsage   = 2
	exitRefused = 3
	exitSource  = 4
	exitMachine = 5
)

// run executes a command line and returns the exit status.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	p := testProgram(stdin, stdout, stderr)
	p.Turn = 20 * time.Millisecond
	return p.run(ctx, args)
}
