// Command standin serves a generated chain with the REST API of an Ergo node, for the demo and for experiments:
//
//	go run ./internal/testnode/ergotest/standin -blocks 500
//
// It prints its URL, then serves until its input ends or it is interrupted. With -every it adds a block at that
// interval, so that there is something to follow.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"birthmark/bench/generate/ergogen"
	"birthmark/internal/testnode/ergotest"
)

func main() {
	listen := flag.String("listen", "127.0.0.1:0", "address to listen on")
	blocks := flag.Int("blocks", 300, "number of blocks at the start")
	seed := flag.Uint64("seed", 1, "the same seed makes the same blocks")
	every := flag.Duration("every", 0, "interval at which to add a block; 0: none")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := serve(ctx, *listen, ergogen.Options{Seed: *seed}, *blocks, *every); err != nil {
		fmt.Fprintln(os.Stderr, "standin:", err)
		os.Exit(1)
	}
}

func serve(ctx context.Context, listen string, o ergogen.Options, blocks int, every time.Duration) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin) // ends with the parent process
		stop()
	}()
	chain := ergogen.New(o)
	node := ergotest.New(ergotest.Options{Network: "testnet", Gzip: true})
	node.Extend(ergotest.Made(chain, blocks)...)
	l, err := net.Listen("tcp", listen)
	if err != nil {
		return err
	}
	if every > 0 {
		go find(ctx, node, chain, every)
	}
	server := &http.Server{Handler: node, ReadHeaderTimeout: time.Minute}
	context.AfterFunc(ctx, func() { _ = server.Close() })
	fmt.Printf("http://%s\n", l.Addr())
	if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// find adds a block at each interval.
func find(ctx context.Context, node *ergotest.Node, chain *ergogen.Chain, every time.Duration) {
	t := time.NewTicker(every)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
			node.Extend(ergotest.Made(chain, 1)...)
		}
	}
}
