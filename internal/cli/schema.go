package cli

import (
	"slices"

	"birthmark/api"
	"birthmark/internal/cli/command"
	"birthmark/internal/cli/terminal"
	"birthmark/model"

	"github.com/urfave/cli/v2"
)

func (p *program) schemaCommand() *cli.Command {
	return &cli.Command{
		Name:     "schema",
		Usage:    "describe the column families: key, value, purpose",
		Category: standalone,
		Flags:    slices.Concat(command.ChainFlags(), command.CommonFlags()),
		Action:   p.schema,
	}
}

func (p *program) schema(c *cli.Context) error {
	var chain model.Chain
	// Only --chain selects a chain: the output for the documentation must not depend on the environment.
	if c.IsSet("chain") {
		set, err := p.One(c)
		if err != nil {
			return err
		}
		if chain, err = p.Host(c).Chain(set); err != nil {
			return err
		}
	}
	a, err := api.SchemaOf(chain)
	if err != nil {
		return err
	}
	return p.Answer(chain, a, func(page *terminal.Page) {
		page.Printf("%s", a.Text)
		if chain == nil {
			return
		}
		page.Printf("\n## Indexes of %s\n\n| index | kind | default | values |\n|---|---|---|---|\n", chain.Name())
		for _, ix := range a.Indexes {
			on := "off"
			if ix.Default {
				on = "on"
			}
			page.Printf("| `%s` | %s | %s | %s |\n", ix.Name, ix.Kind, on, ix.Doc)
		}
	})
}
