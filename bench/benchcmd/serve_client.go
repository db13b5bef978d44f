package benchcmd

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"runtime"
	"strings"

	"github.com/urfave/cli/v2"

	"birthmark/bench"
	"birthmark/internal/cli/command"
	"birthmark/model"
)

// clientReady is the line that the client process prints after it sent each request once. It starts the measurement
// when it receives a line, and stops at the end of its input or earlier. Then it prints its result.
const clientReady = "ready"

// client is the process that sends the requests. It uses one processor and leaves the others to the server.
func (b *commands) client(c *cli.Context, o bench.LoadOptions) error {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	o.Begin = func(context.Context) (<-chan struct{}, error) {
		if _, err := fmt.Fprintln(b.Stdout, clientReady); err != nil {
			return nil, err
		}
		in := bufio.NewReader(b.Stdin)
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
	return b.Document(r)
}

// loadInProcess measures a load that a client process sends. watch, which may be nil, measures this process during the
// load. The load ends when during returns, unless during is nil.
func (b *commands) loadInProcess(
	c *cli.Context, a *LoadAnswer, o bench.LoadOptions, watch func() (stop func() bench.Usage), during func() error,
) error {
	cmd, err := thisProgram(c.Context, "bench", "serve", "--json", "--client", "--url="+o.URL,
		fmt.Sprintf("--connections=%d", o.Connections), fmt.Sprintf("--seconds=%d", int(o.For.Seconds())), "--mix="+mixText(o.Mix),
		fmt.Sprintf("--samples=%d", o.Samples), fmt.Sprintf("--seed=%d", o.Seed))
	if err != nil {
		return err
	}
	if o.Esplora != "" {
		cmd.Args = append(cmd.Args, "--"+esploraFlag+"="+o.Esplora)
	}
	if o.Electrum != "" {
		cmd.Args = append(cmd.Args, "--"+electrumFlag+"="+o.Electrum)
	}
	if o.Rate > 0 {
		cmd.Args = append(cmd.Args, fmt.Sprintf("--rps=%d", int(o.Rate)))
	}
	var log strings.Builder
	cmd.Stderr = &log
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	out := bufio.NewReader(stdout)
	line, err := out.ReadString('\n')
	if err == nil && line == clientReady+"\n" {
		if watch == nil {
			watch = func() func() bench.Usage { return nil }
		}
		stop := watch()
		_, err = fmt.Fprintln(in)
		if err == nil && during != nil {
			if err = during(); err != nil {
				return errors.Join(err, in.Close(), cmd.Wait())
			}
			err = in.Close()
		}
		line, _ = out.ReadString('\n')
		if stop != nil {
			used := stop()
			a.Server = &used
		}
	}
	_ = in.Close()
	ended := cmd.Wait()
	if c.Context.Err() != nil {
		return context.Cause(c.Context)
	}
	if err = cmp.Or(err, ended); err == nil && json.Unmarshal([]byte(line), &a.LoadResult) == nil {
		return nil
	}
	return clientError(line, cmp.Or(ended, err), log.String())
}

// clientError returns the error of a client process from the document that it printed.
func clientError(document string, ended error, log string) error {
	var a command.ErrorAnswer
	exit, _ := errors.AsType[*exec.ExitError](ended)
	if json.Unmarshal([]byte(document), &a) != nil || a.Error.Code == "" || exit == nil {
		return fmt.Errorf("the client process failed: %s: %w", strings.TrimSpace(log), ended)
	}
	for kind, status := range command.ExitStatus {
		if status == exit.ExitCode() && kind != model.Internal {
			return model.Errorf(kind, a.Error.Code, "%s", a.Error.Message)
		}
	}
	return errors.New(a.Error.Message)
}
