package daemon

import (
	"context"
	"errors"
	"time"

	"birthmark/core"
	"birthmark/internal/config"
	"birthmark/internal/progress"
)

// A sync that failed is retried after retryFirst. The pause doubles up to retryMost and starts over when blocks arrive.
const (
	retryFirst = time.Second
	retryMost  = time.Minute
)

// syncedChain is a served chain that this process syncs. A failing sync is retried and affects neither the server nor
// other chains.
type syncedChain struct {
	*handle
	db      *Database
	blocks  *BlockSync
	session *Session
}

// openSynced opens or creates the database of a chain that is synced and served. The database is served at once, even if
// the source is unreachable. An invalid source URI is an error.
func (h *Host) openSynced(ctx context.Context, set *config.Chain) (*syncedChain, error) {
	b := h.NewBlockSync(set, nil, true)
	b.patient, b.Served = true, true
	if err := b.Open(ctx); err != nil {
		return nil, err
	}
	if err := h.LogSettings(ctx, set, b.DB); err != nil {
		return nil, errors.Join(err, b.Close(), b.DB.Close())
	}
	s := &syncedChain{handle: b.serve(), db: b.DB, blocks: b}
	if err := s.openNode(ctx, set, b.DB); err != nil {
		return nil, errors.Join(err, b.Close(), b.DB.Close())
	}
	s.session = h.NewSession(set, b.DB, s.sync)
	s.session.handle, s.session.SyncProgress = s.handle, b.Progress
	return s, nil
}

// watch reports the progress of the sync until stop is called; only: of the only chain of the process.
func (s *syncedChain) watch(only bool) (stop func()) {
	if only {
		return s.h.Console.Watch(s.h.Log, "sync", s.blocks.Reading)
	}
	return progress.Report(s.h.Log, "sync of "+nameOf(s.db), s.blocks.Reading)
}

// run syncs until ctx ends.
func (s *syncedChain) run(ctx context.Context) {
	defer s.followMempool(ctx)()
	defer s.h.createSnapshots(ctx, s.session.set, s.handle)()
	defer s.h.exportTables(ctx, s.session.set, s.handle)()
	for {
		if err := s.retry(ctx, s.session.Run(ctx), retryMost); err != nil {
			return
		}
	}
}

// sync appends blocks until ctx ends or the indexes change.
func (s *syncedChain) sync(ctx context.Context) error {
	for pause := retryFirst; ; pause = min(2*pause, retryMost) {
		err := s.blocks.Run(ctx)
		if errors.Is(err, core.ErrIndexesChange) {
			return err
		}
		if s.blocks.last.Load().Blocks > 0 {
			pause = retryFirst
		}
		if err := s.retry(ctx, err, pause); err != nil {
			return err
		}
	}
}

// retry records and logs a failure, if there is one, and waits. It returns an error only if ctx ends.
func (s *syncedChain) retry(ctx context.Context, failed error, pause time.Duration) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if failed != nil {
		s.fail(failed)
		s.h.Log.Error("sync failed, retrying", "chain", s.db.Chain().Name(), "network", s.db.Chain().Network(), "error", failed, "in", pause)
	}
	select {
	case <-time.After(pause):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// close closes the database after its last user left. run has returned.
func (s *syncedChain) close() error {
	s.replace(nil)()
	return errors.Join(s.session.Close(), s.blocks.Close(), s.closeNode(), s.db.Close())
}
