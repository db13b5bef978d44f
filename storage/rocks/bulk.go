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

	"birthmark/internal/guard"
	"birthmark/storage"
)

// stagingName is the subfolder of the database where tables are written, so that ingesting them is a rename.
const stagingName = "staging"

// clearStaging removes tables that were written and not ingested.
func (s *Store) clearStaging() error {
	if err := os.RemoveAll(filepath.Join(s.dir, stagingName)); err != nil {
		return fmt.Errorf("remove tables of an unfinished update: %w", err)
	}
	return nil
}

// UpdateBulk implements [storage.BulkUpdater]. It writes the rows of each family as one table and adds all tables to
// the database by one manifest entry, without logs and memtables. Tables whose rows follow all existing rows are never
// rewritten.
func (s *Store) UpdateBulk(ctx context.Context, fn func(storage.Reader, storage.Batch) error) error {
	return s.update(ctx, fn, bulkBatch{&s.batch}, func(ctx context.Context) error {
		if err := s.deferCompaction(); err != nil {
			return err
		}
		return s.ingest(ctx)
	})
}

// table is a table to be written and ingested.
type table struct {
	rows   *changes
	column *grocksdb.ColumnFamilyHandle
	layout layout
	path   string
}

// ingest writes the batch as tables and ingests them.
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
	// A table that a failed update left may be hard-linked into the database: it is removed, never overwritten.
	if err := s.clearStaging(); err != nil {
		return err
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return s.failed("create the staging folder", err)
	}
	if err := s.writeTables(ctx, tables); err != nil {
		return err
	}
	// Earlier updates that are only in memtables must not be lost if these tables survive a crash.
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
		return s.failed("ingest tables", err)
	}
	return nil
}

// writeTables writes the tables on all processors. The largest comes first, so that all processors finish at about the
// same time.
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
			return guard.Call(func() error {
				for t := range queue {
					if err := ctx.Err(); err != nil {
						return err
					}
					t.rows.sort(&s.sortBufs[worker])
					// A table in chain order is never rewritten, whatever its family: it is compressed for the last level.
					final := t.layout.access == storage.Ordered || !t.rows.listed
					if err := writeTable(s.settings.options[t.layout], t.path, t.rows, final); err != nil {
						return s.failed("write a table", err)
					}
				}
				return nil
			})
		})
	}
	return g.Wait()
}
