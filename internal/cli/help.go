package cli

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"birthmark/internal/cli/command"
	"birthmark/internal/cli/help"
	"birthmark/internal/progress"

	"github.com/urfave/cli/v2"
)

func (p *program) helpCommand() *cli.Command {
	return &cli.Command{
		Name:      "help",
		Usage:     "show help of a command, or of chains or indexes",
		ArgsUsage: "[COMMAND] [SUBCOMMAND]",
		Category:  standalone,
		Action: func(c *cli.Context) error {
			app := p.app()
			if topic := c.Args().First(); c.NArg() == 1 && slices.Contains(help.Topics(), topic) {
				return help.Topic(topic).Print(p.Stdout, helpWidth(p.Stdout))
			}
			line, err := p.Reorder(app, slices.Concat([]string{app.Name}, c.Args().Slice(), []string{"--help"}))
			if err != nil {
				return err
			}
			return app.RunContext(c.Context, line)
		},
	}
}

// maxHelpWidth is the maximum width of the help, and its width if stdout is no terminal.
const maxHelpWidth = 100

func init() {
	cli.HelpPrinter = func(w io.Writer, _ string, of any) {
		_ = pageOf(of).Print(w, helpWidth(w)) // there is no other way to report an error here
	}
}

func helpWidth(w io.Writer) int {
	if columns := progress.Columns(w); columns > 0 {
		return min(maxHelpWidth, columns)
	}
	return maxHelpWidth
}

// pageOf returns the help of a command, or of the program.
func pageOf(of any) *help.Page {
	if c, ok := of.(*cli.Command); ok {
		return help.Of(c.HelpName, c)
	}
	app := of.(*cli.App)
	c := &cli.Command{Usage: app.Usage, UsageText: app.UsageText, Subcommands: app.Commands, Flags: app.Flags[:1]}
	return help.Of(app.Name, c)
}

func (p *program) completionCommand() *cli.Command {
	return &cli.Command{
		Name:      "completion",
		Usage:     "print the completion script of a shell",
		ArgsUsage: strings.Join(help.Shells(), "|"),
		Category:  standalone,
		Action: func(c *cli.Context) error {
			script, ok := help.Script(c.Args().First())
			if !ok {
				return command.UsageError("bad_value", "unknown shell %q: expected %s",
					c.Args().First(), strings.Join(help.Shells(), ", "))
			}
			_, err := io.WriteString(p.Stdout, script)
			return err
		},
	}
}

// completeCommand prints the completions of the last argument, one per line. The scripts of shells call it.
func (p *program) completeCommand() *cli.Command {
	return &cli.Command{
		Name:      "__complete",
		ArgsUsage: command.AnyArguments,
		Hidden:    true,
		Action: func(c *cli.Context) error {
			_, err := io.WriteString(p.Stdout, strings.Join(append(help.Complete(p.app().Commands, c.Args().Slice()), ""), "\n"))
			return err
		},
	}
}

// manCommand writes a man page of the program and of each command to a folder.
func (p *program) manCommand() *cli.Command {
	return &cli.Command{
		Name:      "man",
		Usage:     "write the man pages to a folder",
		ArgsUsage: "DIR",
		Hidden:    true,
		Action: func(c *cli.Context) error {
			dir := c.Args().First()
			if err := os.MkdirAll(dir, 0o755); err != nil {
				return err
			}
			pages := manPages(p.app())
			names := make([]string, 0, len(pages))
			for _, page := range pages {
				names = append(names, strings.ReplaceAll(page.Name, " ", "-"))
			}
			for i, page := range pages {
				also := names[:1]
				if i == 0 {
					also = names[1:]
				}
				if err := os.WriteFile(filepath.Join(dir, names[i]+".1"), []byte(page.Man(p.Version, also...)), 0o644); err != nil {
					return err
				}
			}
			_, err := fmt.Fprintf(p.Stdout, "%d pages in %s\n", len(pages), dir)
			return err
		},
	}
}

// manPages returns the help of the program and of each visible command.
func manPages(app *cli.App) []*help.Page {
	pages := []*help.Page{pageOf(app)}
	var add func(parent string, commands []*cli.Command)
	add = func(parent string, commands []*cli.Command) {
		for _, c := range commands {
			if !c.Hidden {
				name := parent + " " + c.Name
				pages = append(pages, help.Of(name, c))
				add(name, c.Subcommands)
			}
		}
	}
	add(app.Name, app.Commands)
	return pages
}
