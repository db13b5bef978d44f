package cli

import (
	"context"
	"strings"

	"birthmark/api"
	"birthmark/core/query"
	"birthmark/internal/daemon"
)

// indexAnswer is an index and its state.
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

// stateOf returns the pending operation of an index; empty if there is none.
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
