package cli

import (
	"context"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
)

// Main runs the command line of this process and returns its exit status.
func Main() int {
	p := newProgram(os.Stdin, os.Stdout, os.Stderr)
	p.ownsLog = true
	slog.SetDefault(p.log) // sources use it
	return p.run(untilSignal(), os.Args)
}

// untilSignal returns a context that ends at the first SIGINT or SIGTERM, so that work stops at the next safe point.
// The second signal is not caught and terminates the process.
func untilSignal() context.Context {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	return ctx
}
