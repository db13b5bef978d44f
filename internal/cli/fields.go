package cli

import (
	"slices"

	"birthmark/chains"

	"github.com/urfave/cli/v2"
)

func (p *program) fieldsCommand() *cli.Command {
	return &cli.Command{
		Name:     "fields",
		Usage:    "list the fields for expressions of custom indexes",
		Category: helping,
		Description: "Prints the fields of outputs, transactions and blocks of --chain or of all chains, and the functions, as in docs/fields.md.\n" +
			"docs/indexes.md explains how to define an index.",
		Flags:  slices.Concat([]cli.Flag{&cli.StringFlag{Name: "chain", Usage: "`CHAIN`: bitcoin, cardano or ergo"}}, commonFlags()),
		Action: p.fields,
	}
}

func (p *program) fields(c *cli.Context) error {
	// Only --chain selects a chain: the output for the documentation must not depend on the environment.
	names := chains.Names()
	if c.IsSet("chain") {
		set, err := p.one(c)
		if err != nil {
			return err
		}
		names = []string{set.Chain}
	}
	a, err := p.host(c).Fields(names...)
	if err != nil {
		return err
	}
	return p.answer(nil, a, func(pg *page) {
		pg.printf("# Fields\n\nThe fields and functions of index expressions: see indexes.md. Printed by `birthmark fields`.\n")
		for _, of := range a.Chains {
			pg.printf("\n## %s\n\n| field | type | description | example |\n|---|---|---|---|\n", of.Chain)
			for _, f := range of.Fields {
				pg.printf("| `%s` | %s | %s | %s |\n", f.Name, f.Type, f.Doc, shortExample(f.Example))
			}
		}
		pg.printf("\n## Functions\n\n| function | result | description |\n|---|---|---|\n")
		for _, f := range a.Functions {
			pg.printf("| `%s` | %s | %s |\n", f.Call, f.Type, f.Doc)
		}
	})
}

// shortExample truncates a value for the table; --json has all of it.
func shortExample(value string) string {
	const most = 24
	if len(value) > most {
		value = value[:most] + "…"
	}
	if value == "" {
		return ""
	}
	return "`" + value + "`"
}
