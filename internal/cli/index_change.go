package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/urfave/cli/v2"

	"birthmark/core"
	"birthmark/core/backfill"
	"birthmark/core/query"
	"birthmark/core/schema"
	"birthmark/internal/cli/terminal"
	"birthmark/internal/config"
	"birthmark/internal/control"
	"birthmark/internal/daemon"
	"birthmark/internal/humanize"
	"birthmark/internal/progress"
	"birthmark/model"
	"birthmark/storage"
)

const (
	pollInterval = 200 * time.Millisecond
	maxMisses    = 10 // a process that ends removes its socket before it releases the lock
)

// change adds or drops an index and waits until it is done. The process that writes the database does it; if there is
// no such process, or if it ends before, this process does it.
func (p *program) change(c *cli.Context, set *config.Chain, r control.Request) error {
	dir, err := daemon.ExistingFolder(set)
	if err != nil {
		return err
	}
	set.Indexes, set.Raw, set.Assets = nil, config.RawOff, "" // open the database with its stored indexes and assets
	if r.Definition != nil {
		set.Stored = []model.Definition{*r.Definition}
	}
	w := &indexChange{program: p, c: c, set: set, dir: dir, request: r}
	if r.Do == control.Drop {
		err := w.read(func(ctx context.Context, db *daemon.Database) (err error) {
			w.before, err = db.Status(ctx)
			return err
		})
		if err != nil {
			return err
		}
	}
	stop := p.Watch("index "+r.Do+" "+w.name(), func() progress.Reading { return daemon.BuildReading(w.progress.Load()) })
	defer stop()
	if err := w.run(); err != nil && (c.Context.Err() == nil || !errors.Is(err, c.Context.Err())) {
		return err
	}
	stop()
	return w.printAnswer()
}

// indexChange is the state of adding or dropping an index.
type indexChange struct {
	*program
	c       *cli.Context
	set     *config.Chain
	dir     string
	request control.Request
	before  *query.StatusAnswer // before an index is dropped

	states     []query.IndexState // the last reply of the process that writes the database
	registered bool               // by any process
	done       bool
	pid        int    // of the process that does it; 0: this process
	failure    string // the last failure that was logged
	progress   atomic.Pointer[backfill.Progress]
}

// run returns when the change is done, or left to another process by --detach.
func (w *indexChange) run() error {
	for misses := 0; ; {
		err := w.changeHere()
		var locked *storage.LockedError
		if !errors.As(err, &locked) {
			return err
		}
		registered := w.registered
		if err := w.requestChange(); !errors.Is(err, control.ErrNobody) {
			return err
		}
		if misses++; w.registered && !registered {
			misses = 0
		}
		if misses > maxMisses { // the writing process serves no control socket, such as a rollback
			return err
		}
		if err := sleep(w.c.Context, pollInterval); err != nil {
			return err
		}
	}
}

// changeHere makes the change in this process. It returns a [*storage.LockedError] if another process writes the
// database.
func (w *indexChange) changeHere() (err error) {
	h := w.Host(w.c)
	db, err := h.OpenWriting(w.c.Context, w.set)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	s := h.NewSession(w.set, db, nil)
	defer func() { err = errors.Join(err, s.Close()) }()
	w.pid, w.states = 0, nil
	s.BuildProgress = func(now *backfill.Progress) { w.progress.Store(now) }
	ctx := w.c.Context
	states, err := db.IndexStatesWithRaw(ctx)
	if err != nil {
		return err
	}
	if w.done = w.registered && w.isDone(states); w.done {
		return nil
	}
	offered := w.name() == schema.RawName || daemon.Derives(db.Chain(), w.name()) || slices.ContainsFunc(db.Chain().Indexes(), func(x model.Index) bool { return x.Name == w.request.Index })
	if w.request.Do == control.Add && w.set.Source == "" && w.indexIn(states) < 0 && offered {
		return daemon.MissingSource(w.request.Index)
	}
	if _, err := s.Do(ctx, w.request); err != nil {
		return err
	}
	w.registered = true
	if err := s.Run(ctx); err != nil {
		return err
	}
	w.done = true
	return nil
}

// requestChange requests the change from the process that writes the database. It returns [control.ErrNobody] if that
// process has no control socket or has ended.
func (w *indexChange) requestChange() error {
	ctx, request := w.c.Context, w.request
	for {
		reply, err := control.Ask(ctx, w.dir, request)
		if err != nil {
			return err
		}
		request = control.Request{Do: control.State}
		w.registered, w.pid, w.states = true, reply.PID, reply.States
		if w.done = w.isDone(reply.States); w.done || w.c.Bool("detach") {
			return nil
		}
		if reply.Failed != w.failure {
			if w.failure = reply.Failed; w.failure != "" {
				w.Log.Warn("the process that writes the database will retry", "pid", reply.PID, "error", w.failure)
			}
		}
		if err := sleep(ctx, pollInterval); err != nil {
			return err
		}
	}
}

// indexIn returns the position of the index in states, or -1.
func (w *indexChange) indexIn(states []query.IndexState) int {
	return slices.IndexFunc(states, func(x query.IndexState) bool { return x.Name == w.name() })
}

// name returns the name that people use.
func (w *indexChange) name() string {
	if w.request.Index == schema.RawFilesName {
		return schema.RawName
	}
	return w.request.Index
}

// isDone reports whether the change is done, and records the progress.
func (w *indexChange) isDone(states []query.IndexState) bool {
	i := w.indexIn(states)
	if i < 0 {
		return w.request.Do == control.Drop
	}
	x := states[i]
	if x.AddedTo != nil && x.Of != nil {
		w.progress.Store(&backfill.Progress{Index: x.Name, Height: model.HeightPk(*x.AddedTo), Target: model.HeightPk(*x.Of)})
	}
	return w.request.Do == control.Add && len(x.Adding) == 0 && !x.Dropping
}

// read opens the database for reading, also after an interrupt.
func (w *indexChange) read(do func(ctx context.Context, db *daemon.Database) error) error {
	ctx, set := context.WithoutCancel(w.c.Context), *w.set
	set.Stored = nil
	db, err := w.Host(w.c).OpenReading(ctx, &set, core.Options{})
	if err != nil {
		return err
	}
	return errors.Join(do(ctx, db), db.Close())
}

// freed returns the size of the families that were dropped.
func (w *indexChange) freed(after *query.StatusAnswer) *int64 {
	n := int64(0)
	for _, f := range w.before.Families {
		if !slices.ContainsFunc(after.Families, func(other query.FamilyAnswer) bool { return other.Name == f.Name }) {
			n += f.Bytes
		}
	}
	return &n
}

// changeAnswer is the answer of index add and index drop.
type changeAnswer struct {
	Chain      string            `json:"chain"`
	Network    string            `json:"network"`
	Did        string            `json:"did"`           // add or drop
	Done       bool              `json:"done"`          // false: the same command or a sync resumes it
	PID        int               `json:"pid,omitempty"` // of the process that does it, if not this one
	Index      *query.IndexState `json:"index"`         // null: it was dropped
	BytesFreed *int64            `json:"bytes_freed,omitempty"`
}

func (w *indexChange) printAnswer() error {
	a := changeAnswer{Did: w.request.Do, Done: w.done, PID: w.pid}
	var chain model.Chain
	err := w.read(func(ctx context.Context, db *daemon.Database) (err error) {
		chain, a.Chain, a.Network = db.Chain(), db.Chain().Name(), db.Chain().Network()
		states := w.states // this reader may not see the last writes of the other process yet
		if w.pid == 0 {
			if states, err = db.IndexStatesWithRaw(ctx); err != nil {
				return err
			}
		}
		if i := w.indexIn(states); i >= 0 {
			a.Index = &states[i]
		}
		if w.done && w.before != nil {
			var after *query.StatusAnswer
			if after, err = db.Status(ctx); err == nil {
				a.BytesFreed = w.freed(after)
			}
		}
		return err
	})
	if err != nil {
		return err
	}
	switch {
	case w.done:
	case w.pid != 0:
		fmt.Fprintf(w.Stderr, "birthmark: process %d continues; birthmark index list shows the progress\n", w.pid)
	default:
		fmt.Fprintf(w.Stderr, "birthmark: interrupted; birthmark index %s %s resumes it, and so does the next sync\n",
			w.request.Do, w.name())
	}
	return w.Answer(chain, a, func(page *terminal.Page) {
		if a.Index != nil {
			showIndexes(page, []query.IndexState{*a.Index})
		}
		if a.BytesFreed != nil {
			page.Fields("dropped", terminal.Green(w.request.Index), "freed", humanize.Bytes(*a.BytesFreed))
		}
	})
}

// sleep waits for a duration, or returns the error of ctx if it ends before.
func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
