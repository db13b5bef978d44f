package cli

import (
	"slices"

	"birthmark/api"
	"birthmark/model"

	"github.com/urfave/cli/v2"
)

func (p *program) schemaCommand() *cli.Command {
	return &cli.Command{
		Name:        "schema",
		Usage:       "describe the column families: key, value, purpose",
		Category:    helping,
		Description: "Prints docs/schema.md; with --chain also the built-in indexes of the chain.",
		Flags:       slices.Concat(chainFlags(), commonFlags()),
		Action:      p.schema,
	}
}

func (p *program) schema(c *cli.Context) error {
	var chain model.Chain
	// Only --chain selects a chain: the output for the documentation must not depend on the environment.
	if c.IsSet("chain") {
		set, err := p.one(c)
		if err != nil {
			return err
		}
		if chain, err = p.host(c).Chain(set); err != nil {
			return err
		}
	}
	a, err := api.SchemaOf(chain)
	if err != nil {
		return err
	}
	return p.answer(chain, a, func(pg *page) {
		pg.printf("%s", a.Text)
		if chain == nil {
			return
		}
		pg.printf("\n## Indexes of %s\n\n| index | kind | default | values |\n|---|---|---|---|\n", chain.Name())
		for _, ix := range a.Indexes {
			on := "off"
			if ix.Default {
				on = "on"
			}
			pg.printf("| `%s` | %s | %s | %s |\n", ix.Name, ix.Kind, on, ix.Doc)
		}
	})
}
