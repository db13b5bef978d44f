package daemon

import (
	"context"
	"errors"

	"birthmark/api/served"
	"birthmark/core"
	"birthmark/internal/config"
	"birthmark/internal/guard"
)

// serve returns a handle of the database, which follows the progress of the sync.
func (b *BlockSync) serve() *handle {
	s := newHandle(b.Host, b.DB.DB)
	s.segments = b.DB.segments()
	s.rates = new(served.Rates)
	s.advance(*b.last.Load())
	s.prepare(b.preparation.Load())
	b.handle.Store(s)
	return s
}

// ServeDuring runs the session of a sync and serves its database until the session ends.
func (s *Server) ServeDuring(ctx context.Context, session *Session, blocks *BlockSync) (err error) {
	h := blocks.serve()
	session.handle = h
	defer func() { h.replace(nil)() }()
	if err := h.openNode(ctx, session.set, session.db); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, h.closeNode()) }()
	chain := h.chain(session.db.Chain())
	s.Protocols = map[string]*config.Chain{chain.Name: session.set}
	return s.during(ctx, []*served.Chain{chain}, func(ctx context.Context) error {
		defer h.followMempool(ctx)()
		if err := s.Announce(); err != nil {
			return err
		}
		return session.Run(ctx)
	})
}

// ServeDatabases serves open databases until do returns.
func (s *Server) ServeDatabases(ctx context.Context, dbs []*core.DB, do func(context.Context) error) error {
	var chains []*served.Chain
	for _, db := range dbs {
		h := newHandle(s.h, db)
		defer func() { h.replace(nil)() }()
		chains = append(chains, h.chain(db.Chain()))
	}
	return s.during(ctx, chains, do)
}

// during serves chains until do returns. If the server fails, the context of do is canceled.
func (s *Server) during(ctx context.Context, chains []*served.Chain, do func(context.Context) error) error {
	if err := s.h.checkServed(ctx, chains, s.Protocols); err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	if err := s.wire(ctx, chains); err != nil {
		return err
	}
	answered := make(chan error, 1)
	go func() {
		defer stop()
		answered <- guard.Call(func() error { return s.answer(ctx) })
	}()
	err := do(ctx)
	stop()
	if failed := <-answered; failed != nil {
		return errors.Join(failed, err)
	}
	return err
}
