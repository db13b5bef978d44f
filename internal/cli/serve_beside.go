package cli

import (
	"context"
	"errors"

	"birthmark/api/served"
	"birthmark/core"
)

// show has what b writes shown.
func (b *blockSync) show() *shown {
	s := newShown(b.program, b.db.DB)
	s.rates = new(served.Rates)
	b.last.Store(&core.Progress{Height: b.db.Tip().Height})
	s.came(*b.last.Load())
	b.shown.Store(s)
	return s
}

// beside runs the session of a sync and serves its database until it ends: because it is told to, is at its end, or fails.
func (s *server) beside(ctx context.Context, on *session, blocks *blockSync) error {
	shown := blocks.show()
	on.shown = shown
	defer func() { shown.show(nil)() }()
	return s.during(ctx, []*served.Chain{shown.chain(on.db.chain)}, func(ctx context.Context) error {
		if err := s.tell(); err != nil {
			return err
		}
		return on.run(ctx)
	})
}

// during serves chains until do has returned. Where the server cannot go on, the context of do ends.
func (s *server) during(ctx context.Context, chains []*served.Chain, do func(context.Context) error) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	if err := s.wire(chains, ctx.Done()); err != nil {
		return err
	}
	answered := make(chan error, 1)
	go func() {
		defer stop()
		answered <- s.answer(ctx)
	}()
	err := do(ctx)
	stop()
	if failed := <-answered; failed != nil {
		return errors.Join(failed, err)
	}
	return err
}
