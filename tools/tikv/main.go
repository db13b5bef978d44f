// Command tikvserver runs the two halves of a small TiKV cluster for tests, each as a process:
//
//	tikvserver pd    -client 127.0.0.1:2379 -peer 127.0.0.1:2380 -dir DIR
//	tikvserver store -pd 127.0.0.1:2379 -addr 127.0.0.1:20160 -dir DIR
//
// The first is PD, the placement driver of TiKV. The second is unistore, which serves the protocol of a TiKV store over
// an embedded database: one store without Raft. Both are of April 2021. They are for tests of clients: unistore has
// neither replicas nor the speed of TiKV. Both print "ready" when they accept connections.
//
// This is a module of its own, because the dependencies of 2021 must not meet those of the client.
package main

import (
	"flag"
	"fmt"
	"os"

	"github.com/pingcap/log"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

func main() {
	if len(os.Args) < 2 {
		fail("usage: tikvserver pd|store FLAGS")
	}
	flags := flag.NewFlagSet(os.Args[1], flag.ExitOnError)
	dir := flags.String("dir", "", "folder of the data")
	var run func() error
	switch os.Args[1] {
	case "pd":
		client := flags.String("client", "127.0.0.1:2379", "address for clients")
		peer := flags.String("peer", "127.0.0.1:2380", "address for other PDs")
		run = func() error { return servePD(*client, *peer, *dir) }
	case "store":
		pd := flags.String("pd", "127.0.0.1:2379", "address of PD")
		addr := flags.String("addr", "127.0.0.1:20160", "address of the store")
		regionSize := flags.Int64("region-size", 64<<20, "size in bytes above which a region is split")
		run = func() error { return serveStore(*pd, *addr, *dir, *regionSize) }
	default:
		fail("unknown half: use pd or store")
	}
	if err := flags.Parse(os.Args[2:]); err != nil {
		fail(err)
	}
	if *dir == "" {
		fail("-dir is missing")
	}
	quiet()
	if err := run(); err != nil {
		fail(err)
	}
}

// quiet drops the log below errors. It goes to standard error.
func quiet() {
	encoder := zapcore.NewConsoleEncoder(zap.NewDevelopmentEncoderConfig())
	level := zap.NewAtomicLevelAt(zap.ErrorLevel)
	core := zapcore.NewCore(encoder, zapcore.Lock(os.Stderr), level)
	log.ReplaceGlobals(zap.New(core), &log.ZapProperties{Core: core, Level: level})
}

func fail(reason any) {
	fmt.Fprintln(os.Stderr, "tikvserver:", reason)
	os.Exit(1)
}
