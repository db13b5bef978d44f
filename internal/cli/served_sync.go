package cli

import (
	"context"
	"errors"
	"time"

	"birthmark/core"
	"birthmark/internal/config"

	"github.com/urfave/cli/v2"
)

// How long a sync that failed waits until it tries again: each time twice as long, from the beginning where blocks came.
const (
	tryAgain     = time.Second
	tryAgainMost = time.Minute
)

// syncing is a chain that this process syncs while it serves it. What its sync fails for is tried again, and takes neither the
// server nor other chains down.
type syncing struct {
	*shown
	p       *program
	db      *database
	blocks  *blockSync
	session *session
}

// openSyncing opens the database of a chain that is to be synced and served, or makes it: it is served from the first moment on,
// whatever its source is at. A source that cannot be one is wrong use all the same.
func (p *program) openSyncing(c *cli.Context, set *config.Chain) (*syncing, error) {
	b := &blockSync{program: p, set: set, follow: true, patient: true}
	if err := b.open(c); err != nil {
		return nil, err
	}
	db := b.db
	if err := p.tellOfSettings(c.Context, set, db); err != nil {
		return nil, errors.Join(err, b.Close(), db.Close())
	}
	s := &syncing{p: p, shown: b.show(), db: db, blocks: b}
	s.session = p.newSession(c, set, db, s.keepOn)
	s.session.shown = s.shown
	return s, nil
}

// watch tells how far the sync is.
func (s *syncing) watch(alone bool) (stop func()) {
	read := func() reading { return syncReading(s.blocks.last.Load()) }
	if alone {
		return s.p.watch("sync", read)
	}
	return s.p.report("sync of "+s.db.chain.Name()+" "+s.db.chain.Network(), read)
}

// run syncs until ctx ends.
func (s *syncing) run(ctx context.Context) {
	for {
		if err := s.again(ctx, s.session.run(ctx), tryAgainMost); err != nil {
			return
		}
	}
}

// keepOn brings blocks until ctx ends, or the database is wanted for its indexes.
func (s *syncing) keepOn(ctx context.Context) error {
	for pause := tryAgain; ; pause = min(2*pause, tryAgainMost) {
		err := s.blocks.run(ctx)
		if errors.Is(err, core.ErrIndexesChange) {
			return err
		}
		if s.blocks.last.Load().Blocks > 0 {
			pause = tryAgain
		}
		if err := s.again(ctx, err, pause); err != nil {
			return err
		}
	}
}

// again tells of what failed and waits until it may be tried again. An error only where ctx has ended.
func (s *syncing) again(ctx context.Context, failed error, pause time.Duration) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if failed != nil {
		s.fails(failed)
		s.p.log.Error("a chain cannot be synced for now; it is tried again", "chain", s.db.chain.Name(), "network", s.db.chain.Network(), "error", failed, "in", pause)
	}
	select {
	case <-time.After(pause):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// close closes the database, when nobody asks it any more. The sync has ended.
func (s *syncing) close() error {
	s.show(nil)()
	return errors.Join(s.session.Close(), s.blocks.Close(), s.db.Close())
}
