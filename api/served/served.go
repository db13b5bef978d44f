package served

import (
	"context"
	"time"

	"birthmark/core"
	"birthmark/model"
)

// Chain is one chain that is served. Its functions may be called at any time, from any goroutine.
type Chain struct {
	Name  string // in paths: /v1/NAME/…
	Model model.Chain

	// View runs fn over one snapshot of the database, which may be another database each time.
	View func(ctx context.Context, fn func(*core.View) error) error

	// Moved is the newest tip that View shows, and a channel that is closed when it shows another, or has other indexes: while
	// it is open, questions have the answers they had.
	Moved func() (tip model.Point, moved <-chan struct{})

	State func() State

	// Measures are the figures of the database that is open, which may be another one each time; nil: none are known.
	Measures func() (core.Measures, error)

	Rates *Rates // of the sync in this process; nil: there is none
}

// State is how far a chain's database is.
type State struct {
	Sync   *core.Progress // of the sync in this process, the latest; nil: another process syncs it, or none
	Failed string         // why the sync stands still, to be tried again; empty: it does not
	Since  time.Time      // of Failed
}
