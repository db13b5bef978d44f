package core

import (
	"context"
	"errors"

	"birthmark/model"
	"birthmark/storage"
)

// Queries are the questions a database answers: those of a [DB] each from a snapshot of its own, those of a [View] all from
// the same one (but for the bytes families take, which are those of now).
type Queries struct {
	db *DB
	at *query // nil: a snapshot for each
}

// View is a snapshot: every answer is of the chain as it was with one tip.
type View struct {
	Queries
	Tip model.Point // the origin before the first block
}

// View runs fn over one snapshot. What fn asks is answered from it, with the context it asks with; the view ends with fn.
func (db *DB) View(ctx context.Context, fn func(*View) error) error {
	return db.from(ctx, func(q *query) error {
		return fn(&View{Queries{db, q}, q.tip})
	})
}

// ErrTooManyRows is the error of a question whose answer takes more rows than [View.AtMost] allows.
var ErrTooManyRows = errors.New("the answer takes more rows than it may")

// AtMost sets how many rows each question may go through that has no bound of its own: the outputs of a value that are
// added up or sifted, the assets that a value holds, the values that are ranked. A question that would take more fails
// with [ErrTooManyRows]. The limit is meant to tell cheap answers from expensive ones, and is exceeded by less than
// 5,000 rows.
func (v *View) AtMost(rows int) { v.at.most = rows }

// from runs fn over the snapshot that is asked.
func (ask Queries) from(ctx context.Context, fn func(q *query) error) error {
	if ask.at != nil {
		q := *ask.at
		q.ctx = ctx
		return fn(&q)
	}
	db := ask.db
	db.asking.RLock()
	defer db.asking.RUnlock()
	era := db.names.era.Load()
	return db.store.View(ctx, func(r storage.Reader) error {
		era := db.names.eraOf(era)
		s, err := db.states.Read(r, db.catalogue())
		if err != nil {
			return err
		}
		return fn(&query{
			Layout: db.catalogue(), store: db.store, names: &db.names, ctx: ctx, r: r, era: era,
			tip: s.Tip, totals: s.Totals, work: s.Change,
		})
	})
}
