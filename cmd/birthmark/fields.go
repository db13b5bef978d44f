package main

import (
	"slices"

	"birthmark/chains/expression"
	"birthmark/model"

	"github.com/urfave/cli/v2"
)

func (p *program) fieldsCommand() *cli.Command {
	return &cli.Command{
		Name:        "fields",
		Usage:       "what the expressions of one's own indexes can name",
		Category:    helping,
		Description: "The fields of an output, its transaction and its block, and the functions. docs/indexes.md says how an index is defined.",
		Flags:       slices.Concat(chainFlags(), commonFlags()),
		Action:      p.fields,
	}
}

// fielded is a chain whose fields expressions can name.
type fielded interface {
	Fields() []expression.Field
}

// fieldsAnswer is what there is to name.
type fieldsAnswer struct {
	Chain     string                `json:"chain"`
	Fields    []expression.Field    `json:"fields"`
	Functions []expression.Function `json:"functions"`
}

func (p *program) fields(c *cli.Context) error {
	set, err := p.one(c)
	if err != nil {
		return err
	}
	chain, err := p.chainOf(set)
	if err != nil {
		return err
	}
	of, ok := chain.(fielded)
	if !ok {
		return model.Errorf(model.NotFound, "not_offered", "%s has no fields for expressions", chain.Name())
	}
	a := fieldsAnswer{chain.Name(), of.Fields(), expression.Functions()}
	return p.answer(chain, a, func(pg *page) {
		pg.printf("## Fields of %s\n\n", a.Chain)
		pg.printf("| field | type | is | example |\n|---|---|---|---|\n")
		for _, f := range a.Fields {
			pg.printf("| `%s` | %s | %s | %s |\n", f.Name, f.Type, f.Doc, shortExample(f.Example))
		}
		pg.printf("\n## Functions\n\n| function | gives | |\n|---|---|---|\n")
		for _, f := range a.Functions {
			pg.printf("| `%s` | %s | %s |\n", f.Call, f.Type, f.Doc)
		}
	})
}

// shortExample is a value as a table has room for it; --json has all of it.
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
