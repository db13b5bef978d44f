package served

import (
	"context"
	"time"

	"birthmark/api/watchlist"
	"birthmark/core"
	"birthmark/core/pending"
	"birthmark/core/query"
	"birthmark/core/segment"
	"birthmark/model"
)

// Chain is a chain that a server serves. Its functions are safe for concurrent use.
type Chain struct {
	Name  string // in paths: /v1/NAME/…
	Model model.Chain

	// View runs fn over one snapshot of the database. The database can be another one each time.
	View func(ctx context.Context, fn func(*query.View) error) error

	// Moved returns the tip that View shows, and a channel that is closed when the tip or the indexes change.
	Moved func() (tip model.Point, moved <-chan struct{})

	State func() State

	// Measures returns the metrics of the open database; nil: there are none.
	Measures func() (core.Stats, error)

	// Mempool are the unconfirmed transactions of the node; nil: the settings have no node, its mempool is off, or it
	// cannot list it.
	Mempool *pending.Follower

	// Submitter and Fees are the node of the chain; nil: the settings have none, or it cannot do this.
	Submitter model.Submitter
	Fees      model.FeeEstimator

	Node model.Source // the same node, for interfaces of a single chain; nil: none

	Watch *watchlist.Lists // of clients; nil: the server accepts none

	Rates *Rates // of the sync in this process; nil: there is none

	Segments *segment.Log // of the sync in this process, for replicas; nil: none are recorded

	// Tables returns the state of the tables that this process exports; nil: it exports none.
	Tables func() Tables
}

// Tables is the state of exported tables; zero: there are none.
type Tables struct {
	Height      uint64  // of the last block
	Rows, Bytes uint64  // of all files
	Written     uint64  // rows since the process started
	Failures    uint64  // runs that failed
	Seconds     float64 // of the last run
}

// Unconfirmed returns the unconfirmed transactions; NotFound (no_mempool) if the server has none of the chain.
func (c *Chain) Unconfirmed() (*pending.Follower, error) {
	if c.Mempool == nil {
		return nil, model.Errorf(model.NotFound, "no_mempool",
			"%s has no unconfirmed transactions on this server: its setting node is the URL of a node that lists them", c.Name)
	}
	return c.Mempool, nil
}

// Newest calls fn with a snapshot and the unconfirmed transactions at its tip, nil if the server has none of the chain.
func (c *Chain) Newest(ctx context.Context, fn func(*query.View, *pending.Overlay) error) error {
	if c.Mempool != nil {
		return c.Mempool.View(ctx, fn)
	}
	return c.View(ctx, func(v *query.View) error { return fn(v, nil) })
}

// WatchLists returns the watch lists of clients; NotFound (no_watch) if the server accepts none.
func (c *Chain) WatchLists() (*watchlist.Lists, error) {
	if c.Watch == nil {
		return nil, model.Errorf(model.NotFound, "no_watch",
			"%s has no watch lists on this server: its setting watch is the memory for them", c.Name)
	}
	return c.Watch, nil
}

// State is the state of the sync of a chain.
type State struct {
	Sync   *core.Progress // latest progress of the sync in this process; nil: it has none
	Failed string         // error that stopped the sync until a retry; empty: none
	Since  time.Time      // of Failed

	Preparation *Preparation // of the source; nil: it has a tip, or needs no time to determine it

	Replica *Replica // nil: this process does not write a replica
}

// Replica is the state of a replica that this process writes.
type Replica struct {
	Primary     string        // where its segments come from
	Seq, Newest uint64        // its last update, and the newest one of the primary that is known
	Lag         time.Duration // since the replica was last known to be equal to the primary
	Delay       time.Duration // between the last update of the primary and this one, by the clocks of both
}

// Preparation describes the work of a source before it has a tip, such as loading headers from peers.
type Preparation struct {
	What        string
	Done, Total uint64 // steps; Total 0: unknown
}
