package cli

import (
	"context"
	"io"
	"log/slog"
	"maps"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"birthmark/internal/cli/command"
	"birthmark/internal/cli/snapshotcmd"

	"github.com/urfave/cli/v2"
)

// program is a run of the command line.
type program struct {
	*command.Env
	more []MoreCommand
}

// MoreCommand is a command of another program that has all commands of this one, in a category of the help.
type MoreCommand func(e *command.Env, category string) *cli.Command

func newProgram(stdin io.Reader, stdout, stderr io.Writer, more ...MoreCommand) *program {
	p := &program{Env: command.NewEnv(stdin, stdout, stderr), more: more}
	p.Version = version().Version
	return p
}

// Main runs the command line of this process and returns its exit status.
func Main(more ...MoreCommand) int {
	p := newProgram(os.Stdin, os.Stdout, os.Stderr, more...)
	p.OwnsLog = true
	slog.SetDefault(p.Log) // sources use it
	return p.run(untilSignal(), os.Args)
}

// untilSignal returns a context that ends at the first SIGINT or SIGTERM, so that work stops at the next safe point.
// The second signal is not caught and terminates the process. Shells start the background jobs of scripts with SIGINT
// ignored: the second one then ends the process with the exit status that shells report for SIGINT.
func untilSignal() context.Context {
	const interrupted = 128 + int(syscall.SIGINT)
	ignored := signal.Ignored(os.Interrupt)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, func() {
		stop()
		if ignored {
			second := make(chan os.Signal, 1)
			signal.Notify(second, os.Interrupt)
			<-second
			os.Exit(interrupted)
		}
	})
	return ctx
}

// run executes a command line and returns the exit status.
func (p *program) run(ctx context.Context, args []string) int {
	if line, ok := benchLine(args); ok && !p.hasBench() {
		return p.Fail(runBench(line))
	}
	app := p.app()
	line, err := p.Reorder(app, args)
	if err == nil {
		err = app.RunContext(ctx, line)
	}
	return p.Fail(err)
}

// Categories of commands, in the order of the help.
const (
	building   = "Build a database"
	querying   = "Query a database"
	serving    = "Serve databases"
	standalone = "Without a database"
)

func (p *program) app() *cli.App {
	app := &cli.App{
		Name:      "birthmark",
		Usage:     "index and query UTXO blockchains (Bitcoin, Cardano, Ergo)",
		UsageText: "birthmark COMMAND [flags] [arguments]",
		Reader:    p.Stdin, Writer: p.Stdout, ErrWriter: p.Stderr,
		HideHelpCommand: true,
		HideVersion:     true,
		// Values of repeatable flags can contain commas.
		DisableSliceFlagSeparator: true,
		ExitErrHandler:            func(*cli.Context, error) {}, // run returns the status; do not exit here
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "version", Aliases: []string{"V", "v"}, Usage: "print version"},
			&cli.BoolFlag{Name: "help", Aliases: []string{"h"}},
		},
		Action: func(c *cli.Context) error {
			if c.Bool("version") {
				return p.printVersion()
			}
			return cli.ShowAppHelp(c)
		},
		Commands: []*cli.Command{
			p.initCommand(),
			p.syncCommand(),
			p.replicateCommand(),
			p.rollbackCommand(),
			p.upgradeCommand(),
			p.checkCommand(),
			p.verifyCommand(),
			p.indexCommand(),
			snapshotcmd.Command(p.Env, building),
			p.statusCommand(),
			p.tipCommand(),
			p.searchCommand(),
			p.blocksCommand(),
			p.blockCommand(),
			p.txCommand(),
			p.outputCommand(),
			p.findCommand(),
			p.historyCommand(),
			p.followerCommand(),
			p.balanceCommand(),
			p.richestCommand(),
			p.statsCommand(),
			p.exportCommand(),
			p.valuesCommand(),
			p.assetsCommand(),
			p.assetCommand(),
			p.assetEventsCommand(),
			p.assetHoldersCommand(),
			p.forksCommand(),
			p.serveCommand(),
			p.healthCommand(),
			p.submitCommand(),
			p.decodeCommand(),
			p.dumpCommand(),
			p.schemaCommand(),
			p.fieldsCommand(),
			p.configCommand(),
			p.completionCommand(),
			p.completeCommand(),
			p.manCommand(),
			p.versionCommand(),
			p.helpCommand(),
		},
	}
	app.OnUsageError = func(_ *cli.Context, err error, _ bool) error { return command.FlagError(app.Name, nil, err) }
	if !p.hasBench() {
		app.Commands = append(app.Commands, p.benchCommand())
	}
	for _, command := range p.more {
		app.Commands = append(app.Commands, command(p.Env, building))
	}
	for _, c := range app.Commands {
		p.prepare(app.Name, c)
	}
	return app
}

// prepare sets the fields that all commands have in common, also for subcommands.
func (p *program) prepare(parent string, c *cli.Command) {
	name, action := parent+" "+c.Name, c.Action
	c.HideHelpCommand = true // "help" can be an argument
	c.UsageText = strings.TrimSpace(name + " [flags] " + c.ArgsUsage)
	c.OnUsageError = func(_ *cli.Context, err error, _ bool) error { return command.FlagError(name, c.Flags, err) }
	c.Action = func(ctx *cli.Context) error {
		if err := command.CheckArguments(ctx); err != nil {
			return err
		}
		if ctx.Bool("quiet") {
			p.Console.Quiet()
		}
		return action(ctx)
	}
	if len(c.Subcommands) > 0 {
		c.UsageText = name + " COMMAND [flags] [arguments]"
		c.Action = func(*cli.Context) error {
			names := strings.Join(slices.Sorted(maps.Keys(command.CommandsOf(c))), ", ")
			return command.UsageError("missing_argument", "%s needs one of %s", name, names)
		}
	}
	for _, sub := range c.Subcommands {
		p.prepare(name, sub)
	}
}
