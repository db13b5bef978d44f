package cli

import (
	"birthmark/internal/suggest"

	"github.com/urfave/cli/v2"
)

func (p *program) helpCommand() *cli.Command {
	return &cli.Command{
		Name:      "help",
		Usage:     "what there is, or how a command is used",
		ArgsUsage: "[COMMAND]",
		Category:  helping,
		Action: func(c *cli.Context) error {
			root := c.Lineage()[1]
			name := c.Args().First()
			if name == "" {
				return cli.ShowAppHelp(root)
			}
			known := map[string]bool{}
			for _, sub := range c.App.Commands {
				known[sub.Name] = true
			}
			if !known[name] {
				return usageError("unknown_command", "unknown command %q%s", name, suggest.Hint(name, known))
			}
			return cli.ShowCommandHelp(root, name)
		},
	}
}
