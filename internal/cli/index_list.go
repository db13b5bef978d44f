package cli

import (
	"strings"

	"github.com/urfave/cli/v2"

	"birthmark/api"
	"birthmark/api/csvlist"
	"birthmark/core/query"
	"birthmark/internal/cli/terminal"
	"birthmark/internal/daemon"
	"birthmark/internal/humanize"
)

func (p *program) listIndexes(c *cli.Context, db *daemon.Database) error {
	states, err := db.IndexStatesWithRaw(c.Context)
	if err != nil {
		return err
	}
	if c.Bool("csv") {
		return csvlist.WriteAll(p.Stdout, states)
	}
	a := &api.IndexesAnswer{Chain: db.Chain().Name(), Network: db.Chain().Network(), Indexes: states}
	return p.Answer(db.Chain(), a, func(page *terminal.Page) { showIndexes(page, states) })
}

func showIndexes(p *terminal.Page, list []query.IndexState) {
	columns := []string{"index", "kind", "values", "keeps", "state", "defined as"}
	terminal.Table(p, list, columns, func(_ int, x query.IndexState) terminal.Cells {
		return terminal.Cells{
			terminal.Bold(x.Name), x.Kind, x.Values, strings.Join(x.Keeps, ", "), terminal.Yellow(pendingChange(x)),
			terminal.Faint(definition(x)),
		}
	})
}

// pendingChange returns the operation of an index that is not finished; empty if there is none.
func pendingChange(x query.IndexState) string {
	if x.Dropping {
		return "being dropped"
	}
	if len(x.Adding) == 0 {
		return ""
	}
	text := "being added: " + strings.Join(x.Adding, ", ")
	switch {
	case x.AddedTo != nil && x.Of != nil:
		text += ", to block " + humanize.Count(*x.AddedTo) + " of " + humanize.Count(*x.Of)
	case x.Of != nil:
		text += ", to no block of " + humanize.Count(*x.Of)
	}
	return text
}

func definition(x query.IndexState) string {
	if x.Value == "" || x.When == "" {
		return x.Value
	}
	return x.Value + " when " + x.When
}
