package cli

import (
	"context"
	"errors"
	"slices"

	"github.com/urfave/cli/v2"

	"birthmark/core"
	"birthmark/core/query"
	"birthmark/internal/daemon"
)

// openReading opens the database of c for reading.
func (p *program) openReading(c *cli.Context, o core.Options) (*daemon.Database, error) {
	set, err := p.one(c)
	if err != nil {
		return nil, err
	}
	return p.host(c).OpenReading(c.Context, set, o)
}

// query returns a command that queries a database. ask returns the answer and a function that prints it as text.
func (p *program) query(c cli.Command, ask func(ctx context.Context, c *cli.Context, db *daemon.Database) (any, func(*page), error)) *cli.Command {
	c.Category = asking
	c.Flags = slices.Concat(c.Flags, databaseFlags())
	c.Action = profiled(func(c *cli.Context) error {
		db, err := p.openReading(c, core.Options{})
		if err != nil {
			return err
		}
		answer, show, err := ask(c.Context, c, db)
		if err == nil {
			err = p.answer(db.Chain(), answer, show)
		}
		return errors.Join(err, db.Close())
	})
	return &c
}

// pageOf returns the page that the flags select.
func pageOf(c *cli.Context) (query.Page, error) {
	n, err := limit(c)
	if err != nil {
		return query.Page{}, err
	}
	pg := query.Page{Limit: n, After: c.String("after")}
	if c.IsSet("after") && pg.After == "" {
		return pg, badValue(c, "after", "the cursor of a page (its next)")
	}
	switch c.String("order") {
	case "desc":
		pg.Descending = true
	case "asc":
	case "":
		if c.IsSet("order") {
			return pg, badValue(c, "order", "asc or desc")
		}
	default:
		return pg, badValue(c, "order", "asc or desc")
	}
	return pg, nil
}
