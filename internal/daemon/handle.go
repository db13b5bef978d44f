package daemon

import (
	"context"
	"sync"
	"time"

	"birthmark/api/served"
	"birthmark/api/watchlist"
	"birthmark/core"
	"birthmark/core/pending"
	"birthmark/core/query"
	"birthmark/core/segment"
	"birthmark/model"
)

// handle is the database that a chain is served from. It can be replaced at any time; requests that began on the old
// database end on it.
type handle struct {
	h *Host

	mu     sync.Mutex
	at     *held
	moved  chan struct{}   // the channel that tip returned last; closed when the tip changes
	follow <-chan struct{} // the database's own channel, which closes moved

	progress    *core.Progress         // of the sync in this process; nil: none
	preparation *served.Preparation    // of its source; nil: the source has a tip
	rates       *served.Rates          // of that sync
	node        model.Source           // for submitting and fees; nil: none
	mempool     *pending.Follower      // nil: none
	release     func()                 // frees the memory of mempool; nil: none
	segments    *segment.Log           // for replicas; nil: none
	replica     func() *served.Replica // nil: this process does not write a replica
	watchLists  *watchlist.Lists       // nil: none
	tables      tableState             // of the export in this process
	failed      string
	since       time.Time
}

// held is a database and the number of its users.
type held struct {
	db    *core.DB
	users sync.WaitGroup
	left  chan struct{} // closed when the database is replaced or withdrawn
}

func newHandle(h *Host, db *core.DB) *handle {
	return &handle{h: h, at: hold(db)}
}

func hold(db *core.DB) *held { return &held{db: db, left: make(chan struct{})} }

// chain returns s as the packages of the server use it.
func (s *handle) chain(chain model.Chain) *served.Chain {
	c := &served.Chain{
		Name: ServedName(chain), Model: chain,
		View: s.view, Moved: s.tip, State: s.state, Measures: s.measures, Rates: s.rates, Mempool: s.mempool,
		Segments: s.segments, Tables: s.tables.state,
		Watch: s.watchLists,
	}
	c.Node = s.node
	c.Submitter, _ = s.node.(model.Submitter)
	c.Fees, _ = s.node.(model.FeeEstimator)
	return c
}

// enter returns the current database and counts the caller as its user, until the caller calls users.Done.
func (s *handle) enter() (*held, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.at == nil {
		return nil, model.Errorf(model.Refused, "shutting_down", "the server is shutting down")
	}
	s.at.users.Add(1)
	return s.at, nil
}

func (s *handle) view(ctx context.Context, fn func(*query.View) error) error {
	at, err := s.enter()
	if err != nil {
		return err
	}
	defer at.users.Done()
	return at.db.View(ctx, fn)
}

func (s *handle) measures() (core.Stats, error) {
	at, err := s.enter()
	if err != nil {
		return core.Stats{}, err
	}
	defer at.users.Done()
	return at.db.Stats()
}

// tip returns the tip, and a channel that is closed when the tip may have changed or the database is withdrawn.
func (s *handle) tip() (model.Point, <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.at == nil {
		gone := make(chan struct{})
		close(gone)
		return model.Point{}, gone
	}
	tip, moved := s.at.db.Moved()
	if moved != s.follow {
		s.follow, s.moved = moved, make(chan struct{})
		go s.await(s.at, moved, s.moved)
	}
	return tip, s.moved
}

// await closes changed when the database's tip moves or the database is replaced.
func (s *handle) await(at *held, moved <-chan struct{}, changed chan struct{}) {
	defer close(changed)
	select {
	case <-moved:
	case <-at.left:
	}
}

// replace serves db instead of the current database; nil withdraws the chain. wait returns when the old database has no
// more users.
func (s *handle) replace(db *core.DB) (wait func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	old := s.at
	if old == nil {
		return func() {}
	}
	if s.at = nil; db != nil {
		s.at = hold(db)
	}
	close(old.left)
	return old.users.Wait
}

// state returns the progress of the sync. A sync reports at intervals; the tip is always current.
func (s *handle) state() served.State {
	s.mu.Lock()
	defer s.mu.Unlock()
	state := served.State{Failed: s.failed, Since: s.since, Preparation: s.preparation}
	if s.progress != nil {
		now := *s.progress
		if s.at != nil {
			tip, _ := s.at.db.Moved()
			now.Height = tip.Height
		}
		now.Target = max(now.Target, now.Height)
		state.Sync = &now
	}
	if s.replica != nil {
		state.Replica = s.replica()
	}
	return state
}

// advance records the progress of the sync. Progress clears an earlier failure.
func (s *handle) advance(now core.Progress) {
	s.rates.Add(now)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.preparation = nil
	if s.progress = &now; !now.Done {
		s.failed, s.since = "", time.Time{}
	}
}

// prepare records the work of the source before it has a tip.
func (s *handle) prepare(p *served.Preparation) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.preparation = p
}

// fail records why the sync does not progress; nil clears it.
func (s *handle) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case err == nil:
		s.failed, s.since = "", time.Time{}
		return
	case s.failed == "":
		s.since = s.h.Now()
	}
	s.failed = s.h.ErrorText(err)
}
