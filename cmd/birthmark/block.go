package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"birthmark/core"

	"github.com/urfave/cli/v2"
)

func (p *program) blockCommand() *cli.Command {
	return p.query(cli.Command{
		Name:      "block",
		Usage:     "one block with its transaction hashes",
		ArgsUsage: "HASH|HEIGHT|tip",
	}, func(ctx context.Context, c *cli.Context, db *database) (any, func(*page), error) {
		a, err := db.Block(ctx, c.Args().First())
		return a, func(pg *page) { pg.block(a) }, err
	})
}

func (p *page) block(a *core.BlockAnswer) {
	fields := []field{
		{"block", cell{count(a.Height), green}},
		{"hash", text(a.Hash)},
		{"previous", text(a.PrevHash)},
		{"time", text(clock(a.Time))},
		{"size", text(count(a.Size) + " bytes")},
	}
	p.fields(append(fields, headerFields(a.Header)...)...)
	p.heading(plural(a.TxCount, "transaction"))
	var rows [][]cell
	for i, hash := range a.Txs {
		rows = append(rows, []cell{{fmt.Sprint(i), faint}, text(hash)})
	}
	p.table([]column{{"#", true}, {name: "hash"}}, rows)
}

// peopled is a header that knows how people read it: names and values in their order.
type peopled interface{ People() [][2]string }

// headerFields are the chain's own fields, whatever they are: as the chain says them to people, else those of the JSON in
// the order of their names.
func headerFields(header any) []field {
	if h, ok := header.(peopled); ok {
		var fields []field
		for _, f := range h.People() {
			fields = append(fields, field{f[0], text(f[1])})
		}
		return fields
	}
	raw, err := json.Marshal(header)
	if err != nil {
		return nil
	}
	var values map[string]json.RawMessage
	if json.Unmarshal(raw, &values) != nil {
		return nil
	}
	var fields []field
	for _, name := range slices.Sorted(maps.Keys(values)) {
		v := string(values[name])
		var s string
		if json.Unmarshal(values[name], &s) == nil {
			v = s
		}
		fields = append(fields, field{name, text(v)})
	}
	return fields
}
