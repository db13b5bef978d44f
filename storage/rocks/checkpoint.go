package rocks

import (
	"context"
	"path/filepath"

	"birthmark/storage"
)

// Checkpoint implements [storage.Checkpointer] with hard links to the tables. It writes all rows of memtables to tables,
// so that the checkpoint needs no log; then small tables are merged.
func (s *Store) Checkpoint(ctx context.Context, dir string) error {
	if s.options.ReadOnly {
		return storage.ErrReadOnly
	}
	if err := s.gate.Enter(); err != nil {
		return err
	}
	defer s.gate.Leave()
	s.updateMu.Lock() // no update is half done: families become visible one after the other during an ingestion
	defer s.updateMu.Unlock()
	if err := ctx.Err(); err != nil {
		return err
	}
	c, err := s.db.NewCheckpoint()
	if err != nil {
		return s.failed("create a checkpoint", err)
	}
	defer c.Destroy()
	if err := c.CreateCheckpoint(dir, 0); err != nil {
		return s.failed("create the checkpoint "+dir, err)
	}
	s.unflushed = false
	s.mergeSmallTables()
	return storage.SyncFolder(filepath.Dir(dir))
}
