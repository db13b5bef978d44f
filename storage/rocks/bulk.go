package rocks

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/linxGnu/grocksdb"

	"birthmark/storage"
)

// stagingName is the folder in a database's own in which tables are made, so that taking them in is a rename.
const stagingName = "staging"

// clearStaging removes tables that were made and not taken in.
func (s *Store) clearStaging() error {
	if err := os.RemoveAll(filepath.Join(s.dir, stagingName)); err != nil {
		return fmt.Errorf("clear what an update left behind: %w", err)
	}
	return nil
}

// UpdateBulk implements [storage.BulkUpdater]: the rows of each family become a table, and all tables become part of the
// database by one entry in its manifest. Nothing goes through logs and memtables, and tables whose rows lie behind all
// others are never written again.
func (s *Store) UpdateBulk(ctx context.Context, fn func(storage.Reader, storage.Batch) error) error {
	return s.update(ctx, fn, func(ctx context.Context) error {
		if err := s.deferCompaction(); err != nil {
			return err
		}
		return s.ingest(ctx)
	})
}

// table is the rows of a family on their way into the database.
type table struct {
	rows   *changes
	column *grocksdb.ColumnFamilyHandle
	layout layout
	path   string
}

// ingest applies the batch as tables.
func (s *Store) ingest(ctx context.Context) error {
	var tables []table
	folder := filepath.Join(s.dir, stagingName)
	for f, c := range s.batch.families {
		if c == nil || c.n == 0 {
			continue
		}
		h, err := s.column(storage.Family(f))
		if err != nil {
			return err
		}
		tables = append(tables, table{c, h, layoutOf(h.Name()), filepath.Join(folder, fmt.Sprintf("%d.sst", f))})
	}
	if len(tables) == 0 {
		return nil
	}
	// What an update left that failed may be linked into the database by now: it is removed, never written over.
	if err := s.clearStaging(); err != nil {
		return err
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return s.failed("make a folder for tables", err)
	}
	if err := s.writeTables(ctx, tables); err != nil {
		return err
	}
	// What is in memory alone came before, and must not be lost where this is kept.
	if s.unflushed {
		if err := s.flush(); err != nil {
			return err
		}
		s.unflushed = false
	}
	s.snapshotMu.Lock()
	defer s.snapshotMu.Unlock()
	columns, paths := make([]*grocksdb.ColumnFamilyHandle, len(tables)), make([]string, len(tables))
	for i, t := range tables {
		columns[i], paths[i] = t.column, t.path
	}
	if err := ingest(s.db, columns, paths); err != nil {
		return s.failed("take in tables", err)
	}
	return nil
}

// build writes the tables, as many at once as there are processors, the largest first, so that none is left to one
// processor at the end.
func (s *Store) writeTables(ctx context.Context, tables []table) error {
	slices.SortFunc(tables, func(a, b table) int { return cmp.Compare(len(b.rows.data), len(a.rows.data)) })
	queue := make(chan table, len(tables))
	for _, t := range tables {
		queue <- t
	}
	close(queue)
	g, ctx := errgroup.WithContext(ctx)
	for len(s.sortBufs) < runtime.GOMAXPROCS(0) {
		s.sortBufs = append(s.sortBufs, sortBuffer{})
	}
	for worker := range s.sortBufs {
		g.Go(func() error {
			for t := range queue {
				if err := ctx.Err(); err != nil {
					return err
				}
				t.rows.sort(&s.sortBufs[worker])
				// Rows in the order of the chain come to rest where they are put, whatever their family; all others are merged with
				// those there.
				final := t.layout.access == storage.Ordered || !t.rows.listed
				if err := writeTable(s.settings.options[t.layout], t.path, t.rows, final); err != nil {
					return s.failed("write a table", err)
				}
			}
			return nil
		})
	}
	return g.Wait()
}
