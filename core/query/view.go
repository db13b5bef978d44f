package query

import (
	"context"

	"birthmark/core/query/pointers"
	"birthmark/core/schema"
	"birthmark/model"
	"birthmark/storage"
)

// Database provides the snapshots that queries read.
type Database interface {
	// Snapshot calls fn with one snapshot, which is valid until fn returns.
	Snapshot(ctx context.Context, fn func(Snapshot) error) error
}

// Snapshot is one state of a database.
type Snapshot struct {
	*schema.Layout
	schema.State
	Reader storage.Reader
	Sizer  storage.Sizer       // nil: the store does not report sizes
	Raws   *pointers.RawAccess // nil: none
}

// Queries answers queries about a database. Each query reads one snapshot. The queries of a [View] all read the same
// snapshot, except for the sizes of families, which are current.
type Queries struct {
	db     Database
	labels *pointers.Labels
	at     *Query // nil: a new snapshot for each query
	gap    int    // of wallets; 0: DefaultGap
}

// New returns the queries of a database. All queries of the database share labels.
func New(db Database, labels *pointers.Labels) Queries { return Queries{db: db, labels: labels} }

// View is one snapshot: every answer refers to the chain up to Tip.
type View struct {
	Queries
	Tip model.Point // the origin before the first block
}

// View calls fn with one snapshot. Queries in fn use the contexts that fn passes to them. The view is valid until fn
// returns.
func (qs Queries) View(ctx context.Context, fn func(*View) error) error {
	view := func(q *Query) error { return fn(&View{Queries{qs.db, qs.labels, q, qs.gap}, q.Tip}) }
	if qs.at != nil {
		return qs.From(ctx, view)
	}
	return qs.snapshot(ctx, view)
}

// ErrTooManyRows is returned for a query that reads more rows than [View.AtMost] allows.
var ErrTooManyRows = pointers.ErrTooManyRows

// scannedPerRow is how many rows of a scan count as one row of [View.AtMost]: a scan reads consecutive rows.
const scannedPerRow = 16

// AtMost limits the rows of queries that have no limit of their own, such as summing or filtering the outputs of a
// value, listing the assets of a value and ranking values, and the scans of all queries. Above the limit a query fails
// with [ErrTooManyRows]. The limit separates cheap queries from expensive ones; a query exceeds it by less than 5,000
// rows. 0: no limit, except for scans: see [pointers.MaxScanned].
func (v *View) AtMost(rows int) {
	v.at.most = rows
	v.at.R.AtMost(scannedPerRow * rows)
}

// From calls fn with a query on the view's snapshot, or on a new snapshot.
func (qs Queries) From(ctx context.Context, fn func(q *Query) error) error {
	if qs.at != nil {
		q := *qs.at
		q.Ctx, q.R, q.gap = ctx, q.R.With(ctx), qs.gap
		return fn(&q)
	}
	return qs.snapshot(ctx, func(q *Query) error {
		q.R.Unlimited() // of a command
		return fn(q)
	})
}

// snapshot calls fn with a query on a new snapshot.
func (qs Queries) snapshot(ctx context.Context, fn func(q *Query) error) error {
	epoch := qs.labels.Epoch()
	return qs.db.Snapshot(ctx, func(s Snapshot) error {
		r := pointers.Reader{
			Layout: s.Layout, State: s.State, Ctx: ctx, R: pointers.NewScans(ctx, s.Reader), Raws: s.Raws,
		}
		r.UseLabels(qs.labels, epoch)
		return fn(&Query{Reader: r, sizer: s.Sizer, gap: qs.gap})
	})
}

// read runs a query on the view's snapshot, or on a new snapshot.
func read[T any](ctx context.Context, qs Queries, query func(q *Query) (T, error)) (answer T, err error) {
	err = qs.From(ctx, func(q *Query) error {
		answer, err = query(q)
		return err
	})
	return answer, err
}
