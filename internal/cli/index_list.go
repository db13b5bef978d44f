package cli

import (
	"context"
	"strings"

	"birthmark/api"
	"birthmark/core/query"
	"birthmark/internal/daemon"
)

// indexAnswer is one index, and what is being done to it.
type indexAnswer = query.IndexState

func indexesAnswerOf(ctx context.Context, db *daemon.Database) (*api.IndexesAnswer, error) {
	states, err := db.IndexStates(ctx)
	return &api.IndexesAnswer{Chain: db.Chain().Name(), Network: db.Chain().Network(), Indexes: states}, err
}

func (p *page) indexes(list []indexAnswer) {
	var rows [][]cell
	for _, x := range list {
		rows = append(rows, []cell{
			{x.Name, bold}, text(x.Kind), text(count(x.Values)), text(strings.Join(x.Keeps, ", ")), stateOf(x),
			{definitionOf(x), faint},
		})
	}
	p.table([]column{{name: "index"}, {name: "kind"}, {"values", true}, {name: "keeps"}, {name: "state"}, {name: "defined as"}}, rows)
}

// stateOf is what is being done to an index; nothing where it is as it should be.
func stateOf(x indexAnswer) cell {
	switch {
	case x.Dropping:
		return cell{"being dropped", yellow}
	case len(x.Adding) == 0:
		return cell{}
	}
	what := "being added: " + strings.Join(x.Adding, ", ")
	switch {
	case x.AddedTo != nil && x.Of != nil:
		what += ", to block " + count(*x.AddedTo) + " of " + count(*x.Of)
	case x.Of != nil:
		what += ", to no block of " + count(*x.Of)
	}
	return cell{what, yellow}
}

func definitionOf(x indexAnswer) string {
	if x.Value == "" || x.When == "" {
		return x.Value
	}
	return x.Value + " when " + x.When
}
