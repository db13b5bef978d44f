package rocks

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/linxGnu/grocksdb"

	"birthmark/storage"
)

// Store implements [storage.Store] and all optional interfaces of that package on one RocksDB database.
type Store struct {
	dir      string
	options  Options
	settings *settings
	db       *grocksdb.DB
	lock     *storage.FileLock
	gate     storage.Gate

	mu       sync.RWMutex
	columns  map[string]*grocksdb.ColumnFamilyHandle         // by name, all of the database
	families map[storage.Family]*grocksdb.ColumnFamilyHandle // declared; nil if a read-only database lacks it

	updateMu  sync.Mutex // serialises updates
	batch     batch
	sortBufs  []sortBuffer // one per goroutine that writes tables
	unflushed bool         // an update may exist in memtables only, without a log
	logged    uint64       // sequence number of the last change in the log; 0: none by this process

	manifest manifest // guarded by updateMu

	writes atomic.Uint64 // number of writes begun plus ended: odd during a write

	compactionDelay compactionDelay // of families declared with DeferCompaction or Hashed
	smallTables     smallTables
	lookups         atomic.Int64 // of prefixes in hashed families since the last bulk update
	waiting         atomic.Bool  // the last large read waited for the disk

	sideFileMu sync.Mutex // serialises writes of side files

	viewMu     sync.RWMutex // read-locked by View, so that Drop waits for readers
	snapshotMu sync.RWMutex // no snapshot is taken while tables of several families are ingested
}

// existing returns the column family of a family name, whatever layout it was created with, or nil.
func (s *Store) existing(name string) *grocksdb.ColumnFamilyHandle {
	for column, h := range s.columns {
		if familyOf(column) == name {
			return h
		}
	}
	return nil
}

// Has implements [storage.FamilyLister].
func (s *Store) Has(name string) bool {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.existing(name) != nil
}

// Declare implements [storage.Store].
func (s *Store) Declare(ds ...storage.Declaration) error {
	if err := s.gate.Enter(); err != nil {
		return err
	}
	defer s.gate.Leave()
	s.mu.Lock()
	defer s.mu.Unlock()
	var missing []string
	var options []*grocksdb.Options
	for _, d := range ds {
		if s.existing(d.Name) == nil && !s.options.ReadOnly {
			column := columnName(d)
			missing, options = append(missing, column), append(options, s.settings.options[layoutOf(column)])
		}
	}
	created, err := createFamilies(s.db, missing, options)
	for i, h := range created {
		s.columns[missing[i]] = h
	}
	if err != nil {
		return s.failed("create families "+strings.Join(missing[len(created):], ", "), err)
	}
	for _, d := range ds {
		s.families[d.Family] = s.existing(d.Name)
	}
	return nil
}

// Drop implements [storage.Store]. The families' files are deleted when it returns.
func (s *Store) Drop(ctx context.Context, ds ...storage.Declaration) error {
	if s.options.ReadOnly {
		return storage.ErrReadOnly
	}
	if err := s.gate.Enter(); err != nil {
		return err
	}
	defer s.gate.Leave()
	s.updateMu.Lock()
	defer s.updateMu.Unlock()
	// TryLock instead of Lock: a waiting Lock would block new Views until the running ones end.
	for !s.viewMu.TryLock() {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(time.Millisecond):
		}
	}
	defer s.viewMu.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.writes.Add(2)
	for _, d := range ds {
		delete(s.families, d.Family)
		for column, h := range s.columns {
			if familyOf(column) != d.Name {
				continue
			}
			if err := s.db.DropColumnFamily(h); err != nil {
				return s.failed("drop family "+d.Name, err)
			}
			h.Destroy()
			delete(s.columns, column)
		}
	}
	return nil
}

func (s *Store) failed(doing string, err error) error {
	return fmt.Errorf("%s in database %s: %w", doing, s.dir, damage(plain(err), "Corruption: "))
}

// ioError matches RocksDB's error of a failed system call: what was being done, the file and the reason. An error about
// space gives the reason twice.
var ioError = regexp.MustCompile(`^IO error: (?:[^:]+: )?While ([^:]+): (.+)$`)

// plain returns RocksDB's error of a failed system call in the form of those of Go.
func plain(err error) error {
	if m := ioError.FindStringSubmatch(err.Error()); m != nil {
		return errors.New(m[1] + " " + m[2])
	}
	return err
}

// damage wraps [storage.ErrDamaged] if RocksDB's error contains one of texts.
func damage(err error, texts ...string) error {
	is := func(text string) bool { return strings.Contains(err.Error(), text) }
	if !errors.Is(err, storage.ErrDamaged) && slices.ContainsFunc(texts, is) {
		return fmt.Errorf("%w: %w", storage.ErrDamaged, err)
	}
	return err
}

// column returns the column family of a declared family; nil without an error if a read-only database lacks it.
func (s *Store) column(f storage.Family) (*grocksdb.ColumnFamilyHandle, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	h, declared := s.families[f]
	if !declared {
		return nil, fmt.Errorf("family %d is not declared", f)
	}
	return h, nil
}

// View implements [storage.Store].
func (s *Store) View(ctx context.Context, fn func(storage.Reader) error) error {
	if err := s.gate.Enter(); err != nil {
		return err
	}
	defer s.gate.Leave()
	if err := ctx.Err(); err != nil {
		return err
	}
	s.viewMu.RLock()
	defer s.viewMu.RUnlock()
	r := s.newReader()
	defer r.release()
	return fn(r)
}

// Update implements [storage.Store].
func (s *Store) Update(ctx context.Context, fn func(storage.Reader, storage.Batch) error) error {
	return s.update(ctx, fn, &s.batch, func(ctx context.Context) error {
		if err := s.countUpdate(); err != nil {
			return err
		}
		return s.write(ctx)
	})
}

// update runs fn with a view of the store's batch, and then apply, which writes it. Updates run one at a time.
func (s *Store) update(ctx context.Context, fn func(storage.Reader, storage.Batch) error, b storage.Batch,
	apply func(context.Context) error,
) error {
	if s.options.ReadOnly {
		return storage.ErrReadOnly
	}
	if err := s.gate.Enter(); err != nil {
		return err
	}
	defer s.gate.Leave()
	s.updateMu.Lock()
	defer s.updateMu.Unlock()
	s.batch.reset()
	r := s.newReader()
	err := fn(r, b)
	r.release()
	if err != nil {
		return err
	}
	defer func() { s.manifest.observe(time.Now(), false) }()
	s.writes.Add(1)
	defer s.writes.Add(1)
	return apply(ctx)
}

// write applies the batch as a WriteBatch.
func (s *Store) write(ctx context.Context) error {
	data, err := s.batch.encode(s.logged, func(f storage.Family) (uint32, error) {
		h, err := s.column(f)
		if err != nil {
			return 0, err
		}
		return h.ID(), nil
	})
	if err != nil || data == nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	wb := grocksdb.WriteBatchFrom(data)
	defer wb.Destroy()
	if err := s.db.Write(s.settings.write, wb); err != nil {
		return s.failed("write", err)
	}
	if s.unflushed = !s.options.WAL; s.options.WAL {
		s.logged = s.db.GetLatestSequenceNumber()
	}
	return nil
}

// Flush implements [storage.Flusher].
func (s *Store) Flush(ctx context.Context) error {
	if err := s.gate.Enter(); err != nil {
		return err
	}
	defer s.gate.Leave()
	if s.options.ReadOnly {
		return ctx.Err()
	}
	if err := s.resumeCompaction(); err != nil {
		return err
	}
	if s.options.WAL {
		return ctx.Err() // every Update is durable when it returns
	}
	return s.flush()
}

func (s *Store) flush() error {
	s.mu.RLock()
	defer s.mu.RUnlock()
	all := make([]*grocksdb.ColumnFamilyHandle, 0, len(s.columns))
	for _, h := range s.columns {
		all = append(all, h)
	}
	if err := flushAll(s.db, all); err != nil {
		return s.failed("flush", err)
	}
	return nil
}

// Close implements [storage.Store].
func (s *Store) Close() error {
	s.smallTables.stop()
	if !s.gate.Close() {
		return nil
	}
	var err error
	if !s.options.ReadOnly && !s.options.WAL {
		err = s.flush()
	}
	s.closeDatabase()
	if !s.options.ReadOnly {
		s.manifest.observe(time.Now(), true)
	}
	s.settings.destroy()
	s.releaseBuffers()
	return errors.Join(err, s.lock.Release())
}

func (s *Store) closeDatabase() {
	for _, h := range s.columns {
		h.Destroy()
	}
	clear(s.columns)
	s.db.Close()
}
