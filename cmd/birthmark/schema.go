package main

import (
	"bytes"
	"slices"

	"birthmark/core"
	"birthmark/model"

	"github.com/urfave/cli/v2"
)

func (p *program) schemaCommand() *cli.Command {
	return &cli.Command{
		Name:        "schema",
		Usage:       "the families: key, value, purpose",
		Category:    helping,
		Description: "The text of docs/schema.md; with --chain also the indexes that the chain offers.",
		Flags:       slices.Concat(chainFlags(), commonFlags()),
		Action:      p.schema,
	}
}

// schemaAnswer is the schema as Markdown and a chain's indexes.
type schemaAnswer struct {
	Format  int           `json:"format"`
	Text    string        `json:"text"`
	Indexes []schemaIndex `json:"indexes,omitempty"`
}

type schemaIndex struct {
	Name    string `json:"name"`
	Kind    string `json:"kind"`
	Default bool   `json:"default"`
	Doc     string `json:"doc"`
}

func (p *program) schema(c *cli.Context) error {
	var buffer bytes.Buffer
	if err := core.WriteSchema(&buffer); err != nil {
		return err
	}
	a := schemaAnswer{Format: core.FormatVersion, Text: buffer.String()}
	var chain model.Chain
	// Only where it is asked for: a chain in the environment does not change what stands in the docs.
	if c.IsSet("chain") {
		set, err := p.one(c)
		if err != nil {
			return err
		}
		if chain, err = p.chainOf(set); err != nil {
			return err
		}
		for _, ix := range chain.Indexes() {
			a.Indexes = append(a.Indexes, schemaIndex{ix.Name, ix.Kind.String(), ix.Default || ix.Always, ix.Doc})
		}
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
