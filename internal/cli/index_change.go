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
	askEvery   = 200 * time.Millisecond
	mostMisses = 10 // a process that ends removes its socket before it releases the lock
)

// change adds or drops an index and waits until it is done. The process that writes the database does it; if there is no
// such process, or if it ends before, this process does it.
func (p *program) change(c *cli.Context, set *config.Chain, r control.Request) error {
	dir, err := daemon.ExistingFolder(set)
	if err != nil {
		return err
	}
	set.Indexes, set.Raw = nil, false // open the database with its stored indexes
	if r.Definition != nil {
		set.Stored = []model.Definition{*r.Definition}
	}
	w := &indexChange{program: p, c: c, set: set, dir: dir, request: r}
	if r.Do == control.Drop {
		if w.before, err = w.families(); err != nil {
			return err
		}
	}
	stop := p.Watch("index "+r.Do+" "+r.Index, func() progress.Reading { return daemon.BuildReading(w.progress.Load()) })
	defer stop()
	if err := w.make(); err != nil && (c.Context.Err() == nil || !errors.Is(err, c.Context.Err())) {
		return err
	}
	stop()
	return w.answer()
}

// indexChange is the state of adding or dropping an index.
type indexChange struct {
	*program
	c       *cli.Context
	set     *config.Chain
	dir     string
	request control.Request
	before  []query.FamilyAnswer // sizes before an index is dropped

	states     []query.IndexState // the last reply of the process that writes the database
	registered bool               // by any process
	done       bool
	pid        int    // of the process that does it; 0: this process
	told       string // the last failure that was logged
	progress   atomic.Pointer[backfill.Progress]
}

// make returns when the change is done, or left to another process by --detach.
func (w *indexChange) make() error {
	for misses := 0; ; {
		err := w.here()
		var locked *storage.LockedError
		if !errors.As(err, &locked) {
			return err
		}
		asked := w.registered
		if err := w.there(); !errors.Is(err, control.ErrNobody) {
			return err
		}
		if misses++; w.registered && !asked {
			misses = 0
		}
		if misses > mostMisses { // the writing process serves no control socket, such as a rollback
			return err
		}
		select {
		case <-time.After(askEvery):
		case <-w.c.Context.Done():
			return w.c.Context.Err()
		}
	}
}

// here makes the change in this process. It returns a [*storage.LockedError] if another process writes the database.
func (w *indexChange) here() (err error) {
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
	states, err := db.IndexStates(ctx)
	if err != nil {
		return err
	}
	if w.done = w.registered && w.isDone(states); w.done {
		return nil
	}
	there := slices.ContainsFunc(states, func(x query.IndexState) bool { return x.Name == w.request.Index })
	offered := slices.ContainsFunc(db.Chain().Indexes(), func(x model.Index) bool { return x.Name == w.request.Index })
	if w.request.Do == control.Add && w.set.Source == "" && !there && offered {
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

// there requests the change from the process that writes the database. It returns [control.ErrNobody] if that process has no
// control socket or has ended.
func (w *indexChange) there() error {
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
		if reply.Failed != w.told {
			if w.told = reply.Failed; w.told != "" {
				w.Log.Warn("the process that writes the database will retry", "pid", reply.PID, "error", w.told)
			}
		}
		select {
		case <-time.After(askEvery):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// isDone reports whether the change is done, and records the progress.
func (w *indexChange) isDone(states []query.IndexState) bool {
	i := slices.IndexFunc(states, func(x query.IndexState) bool { return x.Name == w.request.Index })
	if i < 0 {
		return w.request.Do == control.Drop
	}
	x := states[i]
	if x.AddedTo != nil && x.Of != nil {
		w.progress.Store(&backfill.Progress{Index: x.Name, Height: model.HeightPk(*x.AddedTo), Target: model.HeightPk(*x.Of)})
	}
	return w.request.Do == control.Add && len(x.Adding) == 0 && !x.Dropping
}

// families returns the sizes of the column families.
func (w *indexChange) families() (list []query.FamilyAnswer, err error) {
	err = w.read(func(ctx context.Context, db *daemon.Database) error {
		a, err := db.Status(ctx)
		if err == nil {
			list = a.Families
		}
		return err
	})
	return list, err
}

// read opens the database for reading, also after an interrupt.
func (w *indexChange) read(do func(ctx context.Context, db *daemon.Database) error) error {
	c := *w.c
	c.Context = context.WithoutCancel(c.Context)
	set := *w.set
	set.Stored = nil
	db, err := w.Host(&c).OpenReading(c.Context, &set, core.Options{})
	if err != nil {
		return err
	}
	return errors.Join(do(c.Context, db), db.Close())
}

// freed returns the size of the families that were dropped.
func (w *indexChange) freed() (*int64, error) {
	after, err := w.families()
	n := int64(0)
	for _, f := range w.before {
		if !slices.ContainsFunc(after, func(other query.FamilyAnswer) bool { return other.Name == f.Name }) {
			n += f.Bytes
		}
	}
	return &n, err
}

// changeAnswer is the answer of index add and index drop.
type changeAnswer struct {
	Chain      string            `json:"chain"`
	Network    string            `json:"network"`
	Did        string            `json:"did"`           // add or drop
	Done       bool              `json:"done"`          // false: the same command or a sync resumes it
	PID        int               `json:"pid,omitempty"` // of the process that does it, if it is another one
	Index      *query.IndexState `json:"index"`         // null: it was dropped
	BytesFreed *int64            `json:"bytes_freed,omitempty"`
}

func (w *indexChange) answer() error {
	a := changeAnswer{Did: w.request.Do, Done: w.done, PID: w.pid}
	var chain model.Chain
	err := w.read(func(ctx context.Context, db *daemon.Database) (err error) {
		chain, a.Chain, a.Network = db.Chain(), db.Chain().Name(), db.Chain().Network()
		states := w.states // this reader may not see the last writes of the other process yet
		if w.pid == 0 {
			if states, err = db.IndexStates(ctx); err != nil {
				return err
			}
		}
		for i, x := range states {
			if x.Name == w.request.Index {
				a.Index = &states[i]
			}
		}
		return nil
	})
	if err == nil && w.done && w.request.Do == control.Drop {
		a.BytesFreed, err = w.freed()
	}
	if err != nil {
		return err
	}
	switch name := w.request.Index; {
	case w.done:
	case w.pid != 0:
		fmt.Fprintf(w.Stderr, "birthmark: process %d continues; birthmark index list shows the progress\n", w.pid)
	default:
		fmt.Fprintf(w.Stderr, "birthmark: interrupted; birthmark index %s %s resumes it, and so does the next sync\n", w.request.Do, name)
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
