package cli

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"time"

	"birthmark/core"
	"birthmark/internal/config"
	"birthmark/internal/control"
	"birthmark/model"

	"github.com/urfave/cli/v2"
)

// session is a database that this process writes, and what goes on in it until it ends: the blocks that come, beside them
// the indexes that are added or dropped, and what other processes ask for meanwhile.
type session struct {
	*program
	c      *cli.Context
	set    *config.Chain
	db     *database
	blocks func(context.Context) error // brings blocks until there are no more; nil: none are wanted

	building func(*core.BuildProgress) // is told how far adding or dropping is; nil: the log is
	shown    *shown                    // where the database is served; nil: nowhere

	asked  chan asked
	server *control.Server // nil: there is none
	failed error           // why what is added or dropped does not go on for now
}

// asked is a request of another process, or of this one's user.
type asked struct {
	control.Request
	reply chan answered
}

type answered struct {
	control.Reply
	err error
}

// buildAgain is when what could not be built, for a source that failed, is tried again beside a sync that goes on.
const buildAgain = time.Minute

// newSession makes the session of a database, and answers other processes from then on, unless its folder is on a file
// system that has no sockets.
func (p *program) newSession(c *cli.Context, set *config.Chain, db *database, blocks func(context.Context) error) *session {
	s := &session{program: p, c: c, set: set, db: db, blocks: blocks, asked: make(chan asked)}
	server, err := control.Serve(db.dir, s.ask)
	if err != nil {
		p.log.Warn("other processes cannot have indexes added or dropped while this one runs", "error", err)
	}
	s.server = server
	return s
}

// Close ends answering.
func (s *session) Close() error {
	if s.server == nil {
		return nil
	}
	return s.server.Close()
}

// ask has the session do what a request says, and returns when it is done.
func (s *session) ask(ctx context.Context, r control.Request) (control.Reply, error) {
	a := asked{r, make(chan answered, 1)}
	select {
	case s.asked <- a:
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

// run goes on until there are no more blocks and nothing is left to add or drop, or until ctx ends. Blocks are asked for anew
// whenever the indexes have changed.
func (s *session) run(ctx context.Context) (err error) {
	var on goingOn
	defer func() { err = errors.Join(err, on.end()) }()
	if s.blocks != nil {
		if err := s.tellOfWork(ctx); err != nil {
			return err
		}
	}
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
			if s.failed = err; err == nil {
				break
			}
			if ctx.Err() != nil || on.blocks == nil {
				return err
			}
			s.log.Error("what is done to an index failed; it is tried again", "error", err, "in", buildAgain)
			retry = time.After(buildAgain)
		case <-retry:
			if err := s.begin(ctx, &on); err != nil {
				return err
			}
		case a := <-s.asked:
			if a.Do == control.Add && a.Definition != nil && !s.knows(*a.Definition) {
				if err := on.end(); err != nil {
					return err // who asked is told that nobody is there
				}
			}
			reply, err := s.do(context.WithoutCancel(ctx), a.Request)
			a.reply <- answered{reply, err}
			if a.Do == control.State {
				break
			}
			if err := s.begin(ctx, &on); err != nil {
				return err
			}
		}
	}
	return s.failed
}

// begin starts what is to be done and is not being done.
func (s *session) begin(ctx context.Context, on *goingOn) error {
	pending, err := s.pending(ctx)
	if err != nil {
		return err
	}
	if pending && on.build == nil {
		on.build = on.start(ctx, s.build)
	}
	if s.blocks != nil && on.blocks == nil {
		on.blocks = on.start(ctx, s.blocks)
	}
	return nil
}

// goingOn is what a session does at a time, each with the channel it tells its end through; nil: it is not being done.
type goingOn struct {
	blocks, build chan error

	ctx    context.Context // of both
	cancel context.CancelFunc
}

func (g *goingOn) start(ctx context.Context, do func(context.Context) error) chan error {
	if g.cancel == nil {
		g.ctx, g.cancel = context.WithCancel(ctx)
	}
	ended, in := make(chan error, 1), g.ctx
	go func() { ended <- do(in) }()
	return ended
}

// end tells both to end and waits until they have.
func (g *goingOn) end() (err error) {
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
			ended = nil // a source that was interrupted says what it likes
		}
		err = errors.Join(err, ended)
		*c = nil
	}
	return err
}

// do does what a request says.
func (s *session) do(ctx context.Context, r control.Request) (reply control.Reply, err error) {
	switch r.Do {
	case control.Add:
		err = s.add(ctx, r)
	case control.Drop:
		err = s.drop(ctx, r.Index)
	}
	if err != nil {
		return reply, err
	}
	if r.Do != control.State {
		s.failed = nil
	}
	if r.Do != control.State && s.blocks != nil { // else it is what this process was called for
		s.log.Info("asked to "+r.Do+" an index", "index", r.Index)
	}
	if s.failed != nil {
		reply.Failed = s.failed.Error()
	}
	reply.States, err = s.db.IndexStates(ctx)
	return reply, err
}

// add registers an index, or what is to be kept for one that is there. One that is being added already goes on.
func (s *session) add(ctx context.Context, r control.Request) error {
	if r.Definition != nil && !s.knows(*r.Definition) {
		if err := s.define(ctx, *r.Definition); err != nil {
			return err
		}
	}
	return s.db.AddIndex(ctx, r.Index, r.Keep)
}

// knows reports whether the chain has an index of the user's as it is defined now.
func (s *session) knows(d model.Definition) bool {
	return slices.ContainsFunc(s.db.chain.Indexes(), func(x model.Index) bool {
		known, own := x.Definition()
		return own && known == d
	})
}

// drop registers that an index goes. One that is going already goes on.
func (s *session) drop(ctx context.Context, name string) error {
	states, err := s.db.IndexStates(ctx)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(states, func(x core.IndexState) bool { return x.Name == name && x.Dropping }) {
		return nil
	}
	return s.db.DropIndex(ctx, name)
}

// define opens the database anew, with an index of the user's. Nothing else may go on in it.
func (s *session) define(ctx context.Context, d model.Definition) error {
	id, known, err := core.Identify(ctx, s.db.store)
	if err != nil {
		return err
	}
	set := *s.set
	set.Indexes, set.Stored = nil, []model.Definition{d}
	chain, err := s.chainFor(&set, id, known)
	if err != nil {
		return err
	}
	db, err := core.Open(ctx, s.db.store, core.Options{Chain: chain, CacheBytes: config.Divide(s.set.Memory).Caches})
	if err != nil {
		return err
	}
	s.db.DB, s.db.chain = db, chain
	if s.shown != nil {
		s.shown.show(db) // who asks the other one goes on with it
	}
	runtime.GC() // what the other one knew goes before this one fills its memory
	return nil
}

// pending reports whether something is being added or dropped.
func (s *session) pending(ctx context.Context) (bool, error) {
	states, err := s.db.IndexStates(ctx)
	return slices.ContainsFunc(states, func(x core.IndexState) bool { return len(x.Adding) > 0 || x.Dropping }), err
}

// tellOfWork says what is gone on with.
func (s *session) tellOfWork(ctx context.Context) error {
	states, err := s.db.IndexStates(ctx)
	for _, x := range states {
		switch {
		case x.Dropping:
			s.log.Info("an index is being dropped; that is gone on with beside the blocks", "index", x.Name)
		case len(x.Adding) > 0:
			s.log.Info("an index is being added; that is gone on with beside the blocks", "index", x.Name, "adding", oneOf(x.Adding))
		}
	}
	return err
}

// build goes on with what is being added or dropped, and tells how far it is.
func (s *session) build(ctx context.Context) error {
	told := time.Time{}
	return s.db.Build(ctx, s.openForBuild, core.BuildOptions{
		Progress: func(now core.BuildProgress) {
			if s.building != nil {
				s.building(&now)
				return
			}
			what := "adding an index"
			if now.Dropping {
				what = "dropping an index"
			}
			if at := s.now(); !now.Done && at.Sub(told) >= logEvery { // that it is done the core says
				told = at
				s.log.Info(what, append([]any{"index", now.Index}, buildReading(&now).attrs()...)...)
			}
		},
		Log: s.log,
	})
}

// openForBuild opens the source for the values of indexes that are added.
func (s *session) openForBuild(ctx context.Context, indexes []string, known []model.Point) (model.Source, error) {
	if s.set.Source == "" {
		return nil, missingSource(oneOf(indexes))
	}
	o := model.SourceOptions{Indexes: indexes, Known: known, Header: s.db.Header}
	if s.blocks != nil { // it is the second one
		o.Memory = config.Divide(s.set.Memory).Source / 2
	}
	return s.openSource(ctx, s.set, s.db.chain, o)
}

func missingSource(index string) error {
	return usageError("missing_flag", "missing --source URI, where the values of %s come from (or source in the settings, or BIRTHMARK_SOURCE)", index)
}

// buildReading is how far a build is; before the first: nothing.
func buildReading(now *core.BuildProgress) reading {
	if now == nil {
		return reading{}
	}
	return reading{done: uint64(now.Height), total: uint64(max(now.Target, now.Height))}
}

// tellOfSettings says what follows from the settings of a sync: that a crash costs more without a log, and which of the
// database's indexes they do not name.
func (p *program) tellOfSettings(ctx context.Context, set *config.Chain, db *database) error {
	if !set.WAL {
		p.log.Warn("the write-ahead log is off: faster, and a crash or a power cut takes the database back to an earlier block, whole, from which the next sync goes on")
	}
	if set.Indexes == nil {
		return nil
	}
	states, err := db.IndexStates(ctx)
	for _, x := range states {
		always := slices.ContainsFunc(db.chain.Indexes(), func(offered model.Index) bool { return offered.Name == x.Name && offered.Always })
		if !always && !x.Dropping && !slices.Contains(set.IndexNames(), x.Name) {
			p.log.Info(fmt.Sprintf("the settings do not name an index: its data stays and is kept up to date; birthmark index drop %s removes it", x.Name), "index", x.Name)
		}
	}
	return err
}
