package cli

import (
	"context"
	"io"
	"log/slog"
	"os"
	"strings"
	"time"

	"birthmark/chains"
	"birthmark/internal/config"
	"birthmark/internal/daemon"
	"birthmark/internal/progress"
	"birthmark/model"

	"github.com/urfave/cli/v2"
)

// program is a run of the command line.
type program struct {
	stdin          io.Reader
	stdout, stderr io.Writer

	newChain func(name, network string) (model.Chain, error)
	lookup   func(string) (string, bool) // the environment
	now      func() time.Time

	console *progress.Console
	log     *slog.Logger // of the commands and of the packages that they use

	json     bool     // answers and errors are JSON documents
	answered bool     // the document was printed
	ownsLog  bool     // the process runs only this program: its log is the default of all packages
	warnings []string // about former names of flags

	settings  *config.Settings
	overrides []config.Override
	sources   []string // URIs with a secret
}

// run executes a command line and returns the exit status.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	return newProgram(stdin, stdout, stderr).run(ctx, args)
}

func newProgram(stdin io.Reader, stdout, stderr io.Writer) *program {
	con := progress.NewConsole(stderr)
	return &program{
		stdin: stdin, stdout: stdout, stderr: stderr, newChain: chains.New, lookup: os.LookupEnv, now: time.Now,
		console: con, log: con.Log(),
	}
}

// host returns the environment of the daemon for c.
func (p *program) host(c *cli.Context) *daemon.Host {
	return &daemon.Host{
		Log: p.log, Console: p.console, Now: p.now, NewChain: p.newChain, Command: commandName(c), Version: version().Version,
		ErrorText: func(err error) string { return p.masked(oneLine(err.Error())) },
	}
}

// watch reports the progress of a command until stop is called.
func (p *program) watch(what string, read func() progress.Reading) (stop func()) {
	return p.console.Watch(p.log, what, read)
}

func (p *program) run(ctx context.Context, args []string) int {
	p.json = asksForJSON(args)
	app := p.app()
	line, warnings, err := arrange(app, args)
	if err == nil {
		p.warnings = warnings
		err = app.RunContext(ctx, line)
	}
	return p.fail(err)
}

func (p *program) app() *cli.App {
	app := &cli.App{
		Name:      "birthmark",
		Usage:     "index and query UTXO blockchains (Bitcoin, Cardano, Ergo)",
		UsageText: "birthmark COMMAND [flags] [arguments]",
		Description: "Flags can be placed before or after the arguments. Settings can also come from a file (--config) and from\n" +
			"environment variables: BIRTHMARK_DB sets --db. Flags override variables, and variables override the file.",
		Reader: p.stdin, Writer: p.stdout, ErrWriter: p.stderr,
		HideHelpCommand: true,
		HideVersion:     true,
		// Values of repeatable flags can contain commas.
		DisableSliceFlagSeparator: true,
		ExitErrHandler:            func(*cli.Context, error) {}, // run returns the status; do not exit here
		Commands: []*cli.Command{
			p.syncCommand(),
			p.rollbackCommand(),
			p.checkCommand(),
			p.verifyCommand(),
			p.indexCommand(),
			p.statusCommand(),
			p.blocksCommand(),
			p.blockCommand(),
			p.txCommand(),
			p.outputCommand(),
			p.findCommand(),
			p.historyCommand(),
			p.cursorCommand(),
			p.balanceCommand(),
			p.richestCommand(),
			p.valuesCommand(),
			p.assetsCommand(),
			p.assetCommand(),
			p.assetEventsCommand(),
			p.assetHoldersCommand(),
			p.forksCommand(),
			p.serveCommand(),
			p.decodeCommand(),
			p.dumpCommand(),
			p.schemaCommand(),
			p.fieldsCommand(),
			p.configCommand(),
			p.benchCommand(),
			p.versionCommand(),
			p.helpCommand(),
		},
	}
	for _, c := range app.Commands {
		prepare(app.Name, c)
	}
	return app
}

// prepare sets the fields that all commands have in common, also for subcommands.
func prepare(parent string, c *cli.Command) {
	name := parent + " " + c.Name
	c.HideHelpCommand = true // "help" can be an argument
	c.CustomHelpTemplate = commandHelp + "\nEXAMPLES:\n   " + strings.ReplaceAll(examples[name], "\n", "\n   ") + "\n"
	c.UsageText = strings.TrimSpace(name + " [flags] " + c.ArgsUsage)
	if len(c.Subcommands) > 0 {
		c.UsageText = name + " COMMAND [flags] [arguments]"
	}
	c.OnUsageError = func(_ *cli.Context, err error, _ bool) error { return badFlag(err) }
	for _, sub := range c.Subcommands {
		prepare(name, sub)
	}
}

// Categories of commands, in the order of the help.
const (
	building = "Build a database"
	asking   = "Query a database"
	serving  = "Serve databases"
	helping  = "Without a database"
)

const commandHelp = `{{.UsageText}}

   {{wrap .Usage 3}}{{if .Description}}

   {{wrap .Description 3}}{{end}}{{if .VisibleCommands}}

COMMANDS:{{template "visibleCommandTemplate" .}}{{end}}

FLAGS:{{template "visibleFlagTemplate" .}}
`
