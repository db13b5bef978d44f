package cli

import (
	"context"
	"sync"
	"time"

	"birthmark/api/served"
	"birthmark/core"
	"birthmark/model"
)

// shown is the database that a chain is served from. Another one may take its place at any time: whoever asks the old one
// is answered by it.
type shown struct {
	p *program

	mu     sync.Mutex
	at     *held
	moved  chan struct{}   // what was handed out last; closed where the tip is another by now
	follow <-chan struct{} // the database's own, which moved stands for

	progress *core.Progress // of the sync in this process, nil: there is none
	rates    *served.Rates  // of it
	failed   string
	since    time.Time
}

// held is a database and those who ask it.
type held struct {
	db    *core.DB
	users sync.WaitGroup
	left  chan struct{} // closed when another one took its place, or none
}

func newShown(p *program, db *core.DB) *shown {
	return &shown{p: p, at: hold(db)}
}

func hold(db *core.DB) *held { return &held{db: db, left: make(chan struct{})} }

// chain is s as the parts of the server know it.
func (s *shown) chain(chain model.Chain) *served.Chain {
	return &served.Chain{
		Name: servedName(chain), Model: chain,
		View: s.view, Moved: s.tip, State: s.state, Measures: s.measures, Rates: s.rates,
	}
}

// enter is the database that is shown, until its users are one less.
func (s *shown) enter() (*held, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.at == nil {
		return nil, model.Errorf(model.Refused, "stopping", "the server is being stopped")
	}
	s.at.users.Add(1)
	return s.at, nil
}

func (s *shown) view(ctx context.Context, fn func(*core.View) error) error {
	at, err := s.enter()
	if err != nil {
		return err
	}
	defer at.users.Done()
	return at.db.View(ctx, fn)
}

func (s *shown) measures() (core.Measures, error) {
	at, err := s.enter()
	if err != nil {
		return core.Measures{}, err
	}
	defer at.users.Done()
	return at.db.Measures()
}

// tip is the tip, and a channel that is closed when another one may be shown, or none any more.
func (s *shown) tip() (model.Point, <-chan struct{}) {
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

// await closes told when what is shown is another database, or it has moved.
func (s *shown) await(at *held, moved <-chan struct{}, told chan struct{}) {
	defer close(told)
	select {
	case <-moved:
	case <-at.left:
	}
}

// show puts db in the place of what was shown, or nothing where it is nil. Leave waits until nobody asks the old one any more.
func (s *shown) show(db *core.DB) (leave func()) {
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

// state is how far the chain is. A sync tells now and then; the tip is known at any time.
func (s *shown) state() served.State {
	s.mu.Lock()
	defer s.mu.Unlock()
	state := served.State{Failed: s.failed, Since: s.since}
	if s.progress != nil {
		now := *s.progress
		if s.at != nil {
			now.Height = s.at.db.Tip().Height
		}
		now.Target = max(now.Target, now.Height)
		state.Sync = &now
	}
	return state
}

// came says how far the sync is. That it goes on is the end of what was in its way.
func (s *shown) came(now core.Progress) {
	s.rates.Note(now)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.progress = &now; !now.Done {
		s.failed, s.since = "", time.Time{}
	}
}

// fails says why the sync stands still; nil: it does not any more.
func (s *shown) fails(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case err == nil:
		s.failed, s.since = "", time.Time{}
		return
	case s.failed == "":
		s.since = s.p.now()
	}
	s.failed = s.p.masked(oneLine(err.Error()))
}
