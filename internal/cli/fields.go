package cli

import (
	"slices"
	"strings"

	"birthmark/api"
	"birthmark/chains"
	"birthmark/internal/cli/command"
	"birthmark/internal/cli/terminal"

	"github.com/urfave/cli/v2"
)

func (p *program) fieldsCommand() *cli.Command {
	return &cli.Command{
		Name:     "fields",
		Usage:    "list the fields for expressions of custom indexes",
		Category: standalone,
		Flags:    append(command.CommonFlags(), command.ChainFlag()),
		Action:   p.fields,
	}
}

func (p *program) fields(c *cli.Context) error {
	// Only --chain selects a chain: the output for the documentation must not depend on the environment.
	names := chains.Names()
	if c.IsSet("chain") {
		set, err := p.One(c)
		if err != nil {
			return err
		}
		names = []string{set.Chain}
	}
	a, err := p.Host(c).Fields(names...)
	if err != nil {
		return err
	}
	return p.Answer(nil, a, func(page *terminal.Page) {
		page.Printf("# Fields\n\nThe fields and functions of index expressions: see indexes.md. Printed by `birthmark fields`.\n\nContents: ")
		var sections []api.ChainFields // chains with the same fields have one
		for i, of := range a.Chains {
			same := func(o api.ChainFields) bool { return slices.Equal(o.Fields, of.Fields) }
			if slices.ContainsFunc(a.Chains[:i], same) {
				continue
			}
			for _, other := range a.Chains[i+1:] {
				if same(other) {
					of.Chain += ", " + other.Chain
				}
			}
			sections = append(sections, of)
			page.Printf("[%s](#%s) · ", of.Chain, strings.ReplaceAll(of.Chain, ", ", "-"))
		}
		page.Printf("[functions](#functions)\n")
		for _, of := range sections {
			page.Printf("\n## %s\n\n| field | type | description | example |\n|---|---|---|---|\n", of.Chain)
			for _, f := range of.Fields {
				page.Printf("| `%s` | %s | %s | %s |\n", f.Name, f.Type, f.Doc, shortExample(f.Example))
			}
		}
		page.Printf("\n## Functions\n\n| function | result | description |\n|---|---|---|\n")
		for _, f := range a.Functions {
			page.Printf("| `%s` | %s | %s |\n", f.Call, f.Type, f.Doc)
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
