package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	os.Exit(run(untilSignal(), os.Args, os.Stdin, os.Stdout, os.Stderr))
}

// untilSignal ends with the first signal to stop, so that work ends at the next safe place. The second signal is no
// longer caught and ends the process.
func untilSignal() context.Context {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	return ctx
}
