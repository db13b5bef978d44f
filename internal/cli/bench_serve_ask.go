package cli

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"

	"birthmark/bench"
	"birthmark/core"
	"birthmark/internal/daemon"
	"birthmark/model"

	"github.com/urfave/cli/v2"
)

// askReady is the line that the client process prints after it sent each request once. It starts when it receives a
// line and stops at the end of its input or earlier; then its answer follows.
const askReady = "ready"

// askWhenTold is the process that asks. One processor is enough for it: connections that wait cost it nothing, and the
// server has the other.
func (p *program) askWhenTold(c *cli.Context, o bench.LoadOptions) error {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	o.Begin = func(context.Context) (<-chan struct{}, error) {
		if _, err := fmt.Fprintln(p.stdout, askReady); err != nil {
			return nil, err
		}
		in := bufio.NewReader(p.stdin)
		if _, err := in.ReadString('\n'); err != nil {
			return nil, err
		}
		end := make(chan struct{})
		go func() {
			defer close(end)
			_, _ = in.WriteTo(io.Discard)
		}()
		return end, nil
	}
	r, err := bench.Load(c.Context, o)
	if err != nil {
		return err
	}
	return p.document(r)
}

// askApart has another process ask as o says: this program again. watch, which may be nil, measures this process meanwhile.
// while, which may be nil, is done meanwhile; its end is that of the load.
func (p *program) askApart(c *cli.Context, a *loadAnswer, o bench.LoadOptions, watch func() (stop func() bench.Usage), while func() error) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(c.Context, self, "bench", "serve", "--json", "--waits", "--url="+o.URL,
		fmt.Sprintf("--connections=%d", o.Connections), fmt.Sprintf("--seconds=%d", int(o.For.Seconds())), fmt.Sprintf("--mix=%s", mixText(o.Mix)),
		fmt.Sprintf("--samples=%d", o.Samples), fmt.Sprintf("--seed=%d", o.Seed))
	if o.Rate > 0 {
		cmd.Args = append(cmd.Args, fmt.Sprintf("--rps=%d", int(o.Rate)))
	}
	var log strings.Builder
	cmd.Stderr = &log
	tell, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	hear, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	err = func() error {
		defer tell.Close()
		from := bufio.NewReader(hear)
		line, err := from.ReadString('\n')
		if err != nil || line != askReady+"\n" {
			return failedApart(line, cmd.Wait(), log.String())
		}
		stop := func() bench.Usage { return bench.Usage{} }
		if watch != nil {
			stop = watch()
		}
		if _, err := fmt.Fprintln(tell); err != nil {
			return failedApart("", errors.Join(err, cmd.Wait()), log.String())
		}
		if while != nil {
			if err := while(); err != nil {
				_ = tell.Close()
				return errors.Join(err, cmd.Wait())
			}
			if err := tell.Close(); err != nil {
				return err
			}
		}
		line, err = from.ReadString('\n')
		used := stop()
		if watch != nil {
			a.Server = &used
		}
		if err == nil && json.Unmarshal([]byte(line), &a.LoadResult) == nil && a.LoadResult != nil {
			return cmd.Wait()
		}
		return failedApart(line, cmd.Wait(), log.String())
	}()
	if c.Context.Err() != nil {
		return context.Cause(c.Context)
	}
	return err
}

// failedApart is the error of this program in a process of its own, which ended so and has written an error's document.
func failedApart(document string, ended error, log string) error {
	var a struct {
		Error struct{ Code, Message string }
	}
	exit, _ := errors.AsType[*exec.ExitError](ended)
	if json.Unmarshal([]byte(document), &a) != nil || a.Error.Code == "" || exit == nil {
		return fmt.Errorf("the process that asks failed: %s: %w", strings.TrimSpace(log), ended)
	}
	for kind, status := range exitStatus {
		if status == exit.ExitCode() && kind != model.Internal {
			return model.Errorf(kind, a.Error.Code, "%s", a.Error.Message)
		}
	}
	return errors.New(a.Error.Message)
}

// served calls ask with the address of a database's chain, which is served meanwhile.
func (p *program) served(c *cli.Context, a *benchServeAnswer, db *core.DB, ask func(url string) error) (err error) {
	status, err := db.Status(c.Context)
	if err != nil {
		return err
	}
	a.Chain, a.Txs, a.Memory = status.Chain, status.Totals.Txs, int64(p.settings.Memory)
	server, err := p.host(c).Listen(p.settings, "127.0.0.1:0")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, server.Close()) }()
	if a.Fresh {
		server.CacheBytes = -1
	}
	return server.ServeDatabases(c.Context, []*core.DB{db}, func(context.Context) error {
		return ask(server.URL() + "v1/" + daemon.ServedName(db.Chain()))
	})
}
