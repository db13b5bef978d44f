// Package command has the common parts of the commands: the streams and the settings of a run, answers as
// text or JSON, errors and their exit statuses, and flags that several commands have.
package command

import (
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"os"
	"sync/atomic"
	"time"

	"birthmark/chains"
	"birthmark/core"
	"birthmark/internal/cli/terminal"
	"birthmark/internal/config"
	"birthmark/internal/daemon"
	"birthmark/internal/progress"
	"birthmark/model"

	"github.com/urfave/cli/v2"
)

// Env is the environment of a run of the program.
type Env struct {
	Stdin          io.Reader
	Stdout, Stderr io.Writer

	NewChain  func(name, network string) (model.Chain, error)
	LookupEnv func(string) (string, bool)
	Caches    int64         // bytes of the caches of a sync, for tests; 0: a share of its memory
	Step      int           // weight of a step of an index that is added or dropped, for tests; 0: that of core/backfill
	Turn      time.Duration // minimum of a turn in bench decode; 0: bench.MinTurn
	Now       func() time.Time
	Version   string

	Console *progress.Console
	Log     *slog.Logger // of the commands and of the packages that they use
	OwnsLog bool         // the process runs only this program: Log is the default of all packages

	JSON     bool     // answers and errors are JSON documents
	Printed  bool     // the document was printed
	Warnings []string // for the log

	Settings *config.Settings // after Load

	sources []string // URIs with a secret
}

// NewEnv returns the environment of this process with other streams.
func NewEnv(stdin io.Reader, stdout, stderr io.Writer) *Env {
	console := progress.NewConsole(stderr)
	return &Env{
		Stdin: stdin, Stdout: stdout, Stderr: stderr, NewChain: chains.New, LookupEnv: os.LookupEnv, Now: time.Now,
		Console: console, Log: console.Log(),
	}
}

// Host returns the environment of the daemon for c.
func (e *Env) Host(c *cli.Context) *daemon.Host {
	return &daemon.Host{
		Log: e.Log, Console: e.Console, Now: e.Now, NewChain: e.NewChain, Caches: e.Caches, Step: e.Step,
		Command: Name(c), Version: e.Version,
		ErrorText: e.text,
		Flags:     func(set *config.Chain, presets []string) string { return e.chainFlags(c, set, presets) },
	}
}

// Name returns the name of the command, such as birthmark index add. It names this process in the lock of the database,
// without arguments, which can contain a secret.
func Name(c *cli.Context) string {
	name := ""
	for _, in := range c.Lineage() { // innermost first
		if in.Command != nil && in.Command.Name != "" && in.Command.Name != "birthmark" {
			name = " " + in.Command.Name + name
		}
	}
	return "birthmark" + name
}

// Read calls do with the database of c, opened for reading.
func (e *Env) Read(c *cli.Context, o core.Options, do func(*daemon.Database) error) error {
	set, err := e.One(c)
	if err != nil {
		return err
	}
	return e.ReadChain(c, set, o, do)
}

// ReadChain calls do with the database of a chain, opened for reading.
func (e *Env) ReadChain(c *cli.Context, set *config.Chain, o core.Options, do func(*daemon.Database) error) error {
	db, err := e.Host(c).OpenReading(c.Context, set, o)
	if err != nil {
		return err
	}
	return errors.Join(do(db), db.Close())
}

// Watch reports the progress of a command until stop is called.
func (e *Env) Watch(what string, read func() progress.Reading) (stop func()) {
	return e.Console.Watch(e.Log, what, read)
}

// WatchCount reports the numbers that advance receives until stop is called. Unit is the plural of what is counted.
func (e *Env) WatchCount(what, unit string) (advance func(done, total uint64), stop func()) {
	var done, total atomic.Uint64
	pace := progress.NewPace(unit, e.Now)
	stop = e.Watch(what, func() progress.Reading { return pace.Reading(done.Load(), total.Load()) })
	return func(d, t uint64) {
		done.Store(d)
		total.Store(t)
	}, stop
}

// WatchSync reports the progress of a sync until stop is called.
func (e *Env) WatchSync(what string) (advance func(core.Progress), stop func()) {
	var last atomic.Pointer[core.Progress]
	last.Store(&core.Progress{})
	stop = e.Watch(what, func() progress.Reading { return daemon.SyncReading(last.Load()) })
	return func(now core.Progress) { last.Store(&now) }, stop
}

// Answer prints an answer: v as JSON, or the text that show prints.
func (e *Env) Answer(chain model.Chain, v any, show func(*terminal.Page)) error {
	if e.JSON {
		return e.Document(v)
	}
	page := terminal.NewPage(e.Stdout, e.Colour(), chain)
	page.Width = progress.Columns(e.Stdout)
	show(page)
	return page.Flush()
}

// Document prints v as the one JSON document of a command.
func (e *Env) Document(v any) error {
	e.Printed = true
	encoder := json.NewEncoder(e.Stdout)
	encoder.SetEscapeHTML(false)
	return encoder.Encode(v)
}

// Colour reports whether stdout is a terminal and colour is not disabled (https://no-color.org).
func (e *Env) Colour() bool {
	if v, _ := e.LookupEnv("NO_COLOR"); v != "" {
		return false
	}
	if v, _ := e.LookupEnv("TERM"); v == "dumb" {
		return false
	}
	return progress.Terminal(e.Stdout) != nil
}
