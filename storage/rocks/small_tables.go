package rocks

import (
	"context"

	"birthmark/internal/guard"
)

// The rows of a family whose keys ascend never overlap older ones, so RocksDB moves each flushed table to the last level
// as it is. Snapshots, restarts and full logs flush all families, also those with few new rows. Without merges of these
// tables, their number, and the files and the memory that they need, would grow for ever. A merge begins when the database
// is opened, after a snapshot, and at the tip.
const (
	smallTable = 1 << 20 // bytes; those of a first sync are larger, except in small families
	mostMerged = 512     // tables at once: one block of each is in memory
	mostMerges = 64      // of a family; the next merges do the rest

	updatesBetweenMerges = 64 // at the tip
)

// smallTables is the state of the merges of small tables, which run beside everything else.
type smallTables struct {
	ctx  context.Context // until the store is closed
	stop context.CancelFunc
	turn chan struct{} // of the merge that runs
}

func newSmallTables() smallTables {
	ctx, stop := context.WithCancel(context.Background())
	return smallTables{ctx, stop, make(chan struct{}, 1)}
}

// mergeSmallTables begins to merge small tables, unless a merge is running. An error of RocksDB makes the next write fail.
func (s *Store) mergeSmallTables() {
	select {
	case s.smallTables.turn <- struct{}{}:
	default:
		return
	}
	if s.gate.Enter() != nil {
		return
	}
	go func() {
		defer s.gate.Leave()
		defer func() { <-s.smallTables.turn }()
		_ = guard.Call(s.mergeAllSmall)
	}()
}

// mergeAllSmall merges the small tables of all families. Drop waits for the merge of one series of tables at most.
func (s *Store) mergeAllSmall() error {
	s.mu.RLock()
	var names []string
	for name := range s.columns {
		names = append(names, name)
	}
	s.mu.RUnlock()
	for _, name := range names {
		for range mostMerges {
			if merged, err := s.mergeSmallOf(name); err != nil {
				return err
			} else if !merged {
				break
			}
		}
	}
	return nil
}

func (s *Store) mergeSmallOf(column string) (merged bool, err error) {
	s.viewMu.RLock() // the family is not dropped meanwhile
	defer s.viewMu.RUnlock()
	s.mu.RLock()
	h := s.columns[column]
	s.mu.RUnlock()
	if h == nil {
		return false, nil
	}
	return mergeSmall(s.smallTables.ctx, s.db, h, smallTable, maxTables, mostMerged)
}
