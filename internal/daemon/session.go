package daemon

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"birthmark/core"
	"birthmark/core/backfill"
	"birthmark/core/query"
	"birthmark/core/query/pointers"
	"birthmark/core/schema"
	"birthmark/internal/config"
	"birthmark/internal/control"
	"birthmark/internal/guard"
	"birthmark/internal/progress"
	"birthmark/model"
)

// Session runs everything that writes one database: the sync, beside it the indexes that are added or dropped, and the
// requests of other processes.
type Session struct {
	*Host
	BuildProgress func(*backfill.Progress) // nil: progress goes to the log
	SyncProgress  func() *core.Progress    // nil: other processes cannot request it

	set    *config.Chain
	db     *Database
	blocks func(context.Context) error // appends blocks until there are no more; nil: no sync
	handle *handle                     // nil: the database is not served

	requests chan request
	server   *control.Server // nil: not available
	built    func()          // for tests: called when a build has ended, before Run receives its end; nil: none
	source   string          // URI that a request named for what is being added; empty: the source of the settings
	failed   error           // the last failure of adding or dropping an index; nil if it is not waiting for a retry
}

// request is a request of another process.
type request struct {
	control.Request
	reply chan response
}

type response struct {
	control.Reply
	err error
}

// buildRetry is the pause after which adding an index is retried if its source failed, while the sync continues.
const buildRetry = time.Minute

// NewSession returns a session of a database, which answers the requests of other processes from now on unless the file
// system of the database has no sockets. blocks appends blocks; nil: the session only changes indexes.
func (h *Host) NewSession(set *config.Chain, db *Database, blocks func(context.Context) error) *Session {
	s := &Session{Host: h, set: set, db: db, blocks: blocks, requests: make(chan request)}
	err := os.MkdirAll(db.Dir, 0o755) // of the database of a URL
	var server *control.Server
	if err == nil {
		server, err = control.Serve(db.Dir, s.ask)
	}
	if err != nil {
		h.Log.Warn("cannot create the control socket: birthmark index add and drop will not work while this process runs", "error", err)
	}
	s.server = server
	return s
}

// Close stops answering requests.
func (s *Session) Close() error {
	if s.server == nil {
		return nil
	}
	return s.server.Close()
}

// ask hands a request to Run and returns its reply.
func (s *Session) ask(ctx context.Context, r control.Request) (control.Reply, error) {
	a := request{r, make(chan response, 1)}
	select {
	case s.requests <- a:
	case <-ctx.Done():
		return control.Reply{}, ctx.Err()
	}
	select {
	case done := <-a.reply:
		return done.Reply, done.err
	case <-ctx.Done():
		return control.Reply{}, ctx.Err()
	}
}

// Run returns when there are no more blocks and no index is left to add or drop, or when ctx ends. It restarts the sync
// whenever the set of indexes changes.
func (s *Session) Run(ctx context.Context) (err error) {
	var on tasks
	defer func() { err = errors.Join(err, on.end()) }()
	if s.blocks != nil {
		if err := s.logPending(ctx); err != nil {
			return err
		}
	}
	defer s.publish(ctx)()
	if err := s.begin(ctx, &on); err != nil {
		return err
	}
	var retry <-chan time.Time
	for on.blocks != nil || on.build != nil {
		select {
		case err := <-on.blocks:
			on.blocks = nil
			if errors.Is(err, core.ErrIndexesChange) {
				on.blocks = on.start(ctx, s.blocks)
			} else if err != nil {
				return err
			}
		case err := <-on.build:
			on.build = nil
			requested := on.requested
			if s.failed = err; err == nil || requested && ctx.Err() == nil {
				// A change that was requested after the build ended, and before its end was received here, is pending.
				if err := s.beginBuild(ctx, &on); err != nil {
					return err
				}
				break
			}
			if ctx.Err() != nil || on.blocks == nil {
				return err
			}
			s.Log.Error("changing an index failed, retrying", "error", err, "in", buildRetry)
			retry = time.After(buildRetry)
		case <-retry:
			if err := s.begin(ctx, &on); err != nil {
				return err
			}
		case a := <-s.requests:
			if a.Do == control.Add && a.Definition != nil && !s.knows(*a.Definition) {
				if err := on.end(); err != nil {
					return err // the client gets control.ErrNobody
				}
			}
			reply, err := s.Do(context.WithoutCancel(ctx), a.Request)
			a.reply <- response{reply, err}
			if a.Do == control.State || a.Do == control.Checkpoint {
				break
			}
			on.requested = on.build != nil
			if err := s.begin(ctx, &on); err != nil {
				return err
			}
		}
	}
	return s.failed
}

// begin starts the tasks that are needed and not running.
func (s *Session) begin(ctx context.Context, on *tasks) error {
	if err := s.beginBuild(ctx, on); err != nil {
		return err
	}
	if s.blocks != nil && on.blocks == nil {
		on.blocks = on.start(ctx, s.blocks)
	}
	return nil
}

// beginBuild starts the change of indexes if one is pending and none is running.
func (s *Session) beginBuild(ctx context.Context, on *tasks) error {
	if on.build != nil {
		return nil
	}
	pending, err := s.pending(ctx)
	if err != nil || !pending {
		return err
	}
	on.requested = false
	on.build = on.start(ctx, s.build)
	return nil
}

// tasks are the running tasks of a session. Each channel delivers the task's error; nil: the task is not running.
type tasks struct {
	blocks, build chan error

	requested bool // a change of the indexes, since the build began

	ctx    context.Context // of both
	cancel context.CancelFunc
}

func (g *tasks) start(ctx context.Context, do func(context.Context) error) chan error {
	if g.cancel == nil {
		g.ctx, g.cancel = context.WithCancel(ctx)
	}
	ended, in := make(chan error, 1), g.ctx
	go func() { ended <- guard.Call(func() error { return do(in) }) }()
	return ended
}

// end cancels both tasks and waits for them.
func (g *tasks) end() (err error) {
	if g.cancel == nil {
		return nil
	}
	g.cancel()
	g.cancel = nil
	for _, c := range []*chan error{&g.blocks, &g.build} {
		if *c == nil {
			continue
		}
		ended := <-*c
		if kind, _ := model.KindOf(ended); kind == model.BadSource || errors.Is(ended, context.Canceled) || errors.Is(ended, core.ErrIndexesChange) {
			ended = nil // a canceled source may return any error
		}
		err = errors.Join(err, ended)
		*c = nil
	}
	return err
}

// Do carries out a request.
func (s *Session) Do(ctx context.Context, r control.Request) (reply control.Reply, err error) {
	switch r.Do {
	case control.Add:
		err = s.add(ctx, r)
	case control.Drop:
		err = s.drop(ctx, r.Index)
	case control.Checkpoint:
		return reply, checkpoint(ctx, s.db.Store, s.db.Dir)
	}
	if err != nil {
		return reply, err
	}
	if r.Do != control.State {
		s.failed = nil
	}
	if r.Do != control.State && s.blocks != nil { // otherwise this process was started for it
		s.Log.Info("another process requested: "+r.Do+" an index", "index", r.Index)
	}
	if s.failed != nil {
		reply.Failed = s.failed.Error()
	}
	if s.SyncProgress != nil {
		at := s.SyncProgress()
		reply.Sync = &control.Sync{Height: at.Height, Target: at.Target}
	}
	reply.States, err = s.db.IndexStatesWithRaw(ctx)
	return reply, err
}

// add registers an index, or new options of an existing one. It resumes an index that is already being added.
func (s *Session) add(ctx context.Context, r control.Request) error {
	if s.blocks != nil && Derives(s.db.Chain(), r.Index) {
		return usageError("busy", "assets cannot be added while another process syncs or serves the database: "+
			"stop it, run birthmark index add %s again, and start it again afterwards", r.Index)
	}
	if r.Definition != nil && !s.knows(*r.Definition) {
		if err := s.define(ctx, *r.Definition); err != nil {
			return err
		}
	}
	err := s.db.AddIndex(ctx, r.Index, r.Keep)
	if err == nil {
		s.source = r.Source // that of an earlier request no longer applies
	}
	return err
}

// Derives reports whether a chain has rules with a name, which derive assets.
func Derives(c model.Chain, name string) bool {
	tokens, ok := c.(model.TokenChain)
	return ok && slices.Contains(tokens.Tokens(), name)
}

// knows reports whether the chain has a custom index with exactly this definition.
func (s *Session) knows(d model.Definition) bool {
	return slices.ContainsFunc(s.db.Chain().Indexes(), func(x model.Index) bool {
		known, own := x.Definition()
		return own && known == d
	})
}

// drop registers that an index is dropped. It resumes an index that is already being dropped.
func (s *Session) drop(ctx context.Context, name string) error {
	states, err := s.db.IndexStatesWithRaw(ctx)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(states, func(x query.IndexState) bool { return x.Name == name && x.Dropping }) {
		return nil
	}
	return s.db.DropIndex(ctx, name)
}

// define opens the database again with a custom index. No task may be running.
func (s *Session) define(ctx context.Context, d model.Definition) error {
	id, known, err := core.Identify(ctx, s.db.Store)
	if err != nil {
		return err
	}
	set := *s.set
	set.Indexes, set.Stored = nil, []model.Definition{d}
	chain, err := s.chainFor(&set, id, known)
	if err != nil {
		return err
	}
	db, err := core.Open(ctx, s.db.Store, core.Options{Chain: chain, CacheBytes: config.Divide(s.set.Memory).Caches,
		Room: s.set.Memory.Room(chain.Traits().Pointers == model.WidePointers)})
	if err != nil {
		return err
	}
	db.SetRawAccess(pointers.RawAccess{Folder: s.set.RawFolder, Node: s.db.raws, Ask: asksNode(s.set, db)})
	s.db.DB = db
	if s.handle != nil {
		s.handle.replace(db) // running requests finish on the old one
	}
	runtime.GC() // free the caches of the old one before the new one fills its own
	return nil
}

// pending reports whether an index is being added or dropped. A session that syncs does not add assets: its queries and
// its source are those of the chain without them.
func (s *Session) pending(ctx context.Context) (bool, error) {
	states, err := s.db.IndexStatesWithRaw(ctx)
	return slices.ContainsFunc(states, func(x query.IndexState) bool {
		return x.Dropping || len(x.Adding) > 0 && (s.blocks == nil || x.Kind != query.AssetsKind)
	}), err
}

// logPending logs which index changes are resumed.
func (s *Session) logPending(ctx context.Context) error {
	states, err := s.db.IndexStatesWithRaw(ctx)
	for _, x := range states {
		switch {
		case len(x.Adding) > 0 && x.Kind == query.AssetsKind:
			s.Log.Warn("the assets are not complete: stop the sync and run birthmark index add", "assets", x.Name)
		case x.Dropping:
			s.Log.Info("resuming to drop an index while syncing", "index", x.Name)
		case len(x.Adding) > 0:
			s.Log.Info("resuming to add an index while syncing", "index", x.Name, "adding", oneOf(x.Adding))
		}
	}
	return err
}

// build adds and drops indexes until nothing is pending, and reports the progress.
func (s *Session) build(ctx context.Context) error {
	if s.built != nil {
		defer s.built()
	}
	logged := time.Time{}
	return s.db.Build(ctx, s.openForBuild, backfill.Options{
		Weight: s.Step,
		Progress: func(now backfill.Progress) {
			if s.BuildProgress != nil {
				s.BuildProgress(&now)
				return
			}
			what := "adding an index"
			if now.Dropping {
				what = "dropping an index"
			}
			if at := s.Now(); !now.Done && at.Sub(logged) >= progress.LogEvery { // core logs the end
				logged = at
				s.Log.Info(what, append([]any{"index", now.Index}, BuildReading(&now).Attrs()...)...)
			}
		},
		Log: s.Log,
	})
}

// openForBuild opens the source that provides what is being added.
func (s *Session) openForBuild(ctx context.Context, x *schema.Index, known []model.Point) (model.Source, error) {
	set := *s.set
	if set.Source = cmp.Or(s.source, set.Source); set.Source == "" {
		return nil, MissingSource(x.Name)
	}
	o, chain := model.SourceOptions{Known: known, Header: s.db.Header}, s.db.Chain()
	switch {
	case x.IsRules():
		var err error
		if chain, err = chain.(model.TokenChain).WithTokens(x.Name); err != nil {
			return nil, err
		}
		o.Indexes = []string{}
	case x.IsPlaces():
		if scheme, _, found := strings.Cut(set.Source, "://"); found && scheme != "file" {
			return nil, usageError("missing_flag", "the places of raw transactions come from the block files of the node: "+
				"run birthmark index add raw --source file:///path/to/blocks")
		}
		o.Places = true
	case x.IsRaw():
		o.Raw = true
	default:
		o.Indexes = []string{x.Name}
	}
	if s.blocks != nil { // the sync has a source open too
		o.Memory = config.Divide(s.set.Memory).Source / 2
	}
	return s.OpenSource(ctx, &set, chain, o)
}

// MissingSource is the error if an index cannot be added without a source.
func MissingSource(index string) error {
	return usageError("missing_flag", "missing --source URI, which provides the values of %s (or source in the settings, or BIRTHMARK_SOURCE)", index)
}

// BuildReading returns the progress of adding or dropping an index; nil: nothing is known yet.
func BuildReading(now *backfill.Progress) progress.Reading {
	if now == nil {
		return progress.Reading{}
	}
	return progress.Reading{Done: uint64(now.Height), Total: uint64(max(now.Target, now.Height))}
}

// LogSettings logs two consequences of the settings of a sync: a crash without a write-ahead log loses recent blocks,
// and indexes of the database that the settings omit are kept.
func (h *Host) LogSettings(ctx context.Context, set *config.Chain, db *Database) error {
	if !set.WAL {
		h.Log.Warn("the write-ahead log is off: faster, but a crash or power failure takes the database back to an earlier block, from which the next sync resumes")
	}
	if set.Indexes == nil {
		return nil
	}
	states, err := db.IndexStatesWithRaw(ctx)
	for _, x := range states {
		always := slices.ContainsFunc(db.Chain().Indexes(), func(offered model.Index) bool { return offered.Name == x.Name && offered.Always })
		if !always && !x.Dropping && x.Name != schema.RawName && !slices.Contains(set.IndexNames(), x.Name) {
			h.Log.Info(fmt.Sprintf("an index that is not in the settings is still kept up to date; birthmark index drop %s removes it", x.Name), "index", x.Name)
		}
	}
	return err
}
