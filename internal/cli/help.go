package cli

import (
	_ "embed"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
)

func (p *program) helpCommand() *cli.Command {
	return &cli.Command{
		Name:      "help",
		Usage:     "show help",
		ArgsUsage: "[COMMAND] [SUBCOMMAND]",
		Category:  standalone,
		Action: func(c *cli.Context) error {
			app := p.app()
			line, err := p.reorder(app, slices.Concat([]string{app.Name}, c.Args().Slice(), []string{"--help"}))
			if err != nil {
				return err
			}
			return app.RunContext(c.Context, line)
		},
	}
}

// helpText has the description and the examples of each command.
//
//go:embed help.txt
var helpText string

// helpOf returns the description and the examples of a command.
func helpOf(command string) (description, examples string) {
	_, text, _ := strings.Cut(helpText, "\n# "+command+"\n")
	text, _, _ = strings.Cut(text, "\n# ")
	for line := range strings.Lines(text) {
		if example, ok := strings.CutPrefix(line, "   $ "); ok {
			examples += "   " + example
		} else {
			description += line
		}
	}
	return strings.TrimSpace(description), examples
}

// helpTemplate is the help of a command without its examples.
const helpTemplate = `{{.UsageText}}

   {{wrap .Usage 3}}{{if .Description}}

   {{wrap .Description 3}}{{end}}{{if .VisibleCommands}}

COMMANDS:{{template "visibleCommandTemplate" .}}{{end}}

FLAGS:{{template "visibleFlagTemplate" .}}

EXAMPLES:
`
