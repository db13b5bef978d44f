package rocks

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/linxGnu/grocksdb"

	"birthmark/storage"
)

const (
	// A window in bulk is a table of some MiB in each family. Merging every eighth of them into the level below writes that
	// again and again: of a first sync's CPU a fifth. A filter for each table keeps lookups cheap meanwhile.
	maxTables = 24

	// Families that nothing reads meanwhile are not merged before there are so many. Were it never, the thousands of windows of
	// a large chain would have to be merged at one go, with as much room again on disk and a buffer for each. So a family has
	// at most this many tables that overlap, whatever the chain, and its rows are written again once for each such number.
	// Tables are opened when they are read: opening a database does not cost more for them.
	maxTablesDeferred = 512

	// Families read by heads are asked seldom meanwhile, for what filters in memory could not tell.
	maxTablesHashed = 64

	// A sync alternates between windows in bulk and others where the source is slow. So many others in a row are the tip.
	ordinaryUpdatesAtTip = 8
)

// postponement is whether families that are seldom read meanwhile, or not at all, are left uncompacted.
type compactionDelay struct {
	sync.Mutex
	on              bool
	ordinaryUpdates int // ordinary Updates since one in bulk
}

// postpone leaves the tables of such families as they are, until resume.
func (s *Store) deferCompaction() error {
	s.compactionDelay.Lock()
	defer s.compactionDelay.Unlock()
	s.compactionDelay.ordinaryUpdates = 0
	return s.setDeferred(true)
}

// writing notes an ordinary Update.
func (s *Store) countUpdate() error {
	s.compactionDelay.Lock()
	defer s.compactionDelay.Unlock()
	if s.compactionDelay.ordinaryUpdates++; s.compactionDelay.ordinaryUpdates < ordinaryUpdatesAtTip {
		return nil
	}
	return s.setDeferred(false)
}

// resume lets RocksDB merge in the background what was postponed. A database that is opened begins so.
func (s *Store) resumeCompaction() error {
	s.compactionDelay.Lock()
	defer s.compactionDelay.Unlock()
	return s.setDeferred(false)
}

// postponed is how many tables a family may have while merging them is postponed.
func (l layout) maxDeferredTables() int {
	switch {
	case l.deferCompaction:
		return maxTablesDeferred
	case l.access == storage.Hashed:
		return maxTablesHashed
	}
	return maxTables
}

func (s *Store) setDeferred(on bool) error {
	if s.compactionDelay.on == on {
		return nil
	}
	s.compactionDelay.on = on
	s.mu.RLock()
	defer s.mu.RUnlock()
	for name, h := range s.columns {
		postponed := layoutOf(name).maxDeferredTables()
		if postponed == maxTables {
			continue // each setting is a file to be written and synced
		}
		tables := maxTables
		if on {
			tables = postponed
		}
		if err := s.db.SetOptionsCF(h, []string{"level0_file_num_compaction_trigger"}, []string{strconv.Itoa(tables)}); err != nil {
			return s.failed("set when tables are merged", err)
		}
	}
	return nil
}

const (
	// A merge has a block of each of up to 512 tables, and the hash of each key of the table that it writes.
	mergeBytes = 64 << 20

	// Merges may have so much beyond the memory of the store: windows are written, and their memory is free.
	mergeHeadroom = 128 << 20
)

// mostMerges is how many families may be compacted at once, so that their buffers fit the memory.
func (o *Options) maxMerges() int {
	return int((o.BlockCache + o.WriteBuffers + mergeHeadroom) / mergeBytes)
}

// Compact implements [storage.Compactor]. Families are compacted on all processors that the memory allows, the largest first. What lies in the
// last level already, and under no newer rows, is not written again.
func (s *Store) Compact(ctx context.Context) (err error) {
	if s.options.ReadOnly {
		return storage.ErrReadOnly
	}
	if err := s.gate.Enter(); err != nil {
		return err
	}
	defer s.gate.Leave()
	defer func() { err = cmp.Or(err, s.resumeCompaction()) }()
	s.releaseBuffers()
	if err := s.flush(); err != nil {
		return err
	}
	all, err := s.bySize()
	if err != nil {
		return err
	}
	// Two families at once need two threads, beside the one that flushes.
	workers := min(runtime.GOMAXPROCS(0), s.options.maxMerges())
	if err := setBackgroundJobs(s.db, backgroundJobs+workers); err != nil {
		return s.failed("compact", err)
	}
	defer func() {
		err = cmp.Or(err, setBackgroundJobs(s.db, backgroundJobs))
	}()
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(workers)
	for _, h := range all {
		g.Go(func() error {
			if err := gctx.Err(); err != nil {
				return err
			}
			if err := compact(gctx, s.db, h); err != nil {
				return cmp.Or(gctx.Err(), s.failed("compact", err))
			}
			return nil
		})
	}
	return cmp.Or(ctx.Err(), g.Wait())
}

// giveBack frees what large windows needed: after them come small ones.
func (s *Store) releaseBuffers() {
	s.updateMu.Lock()
	defer s.updateMu.Unlock()
	s.batch.release()
	for i := range s.sortBufs {
		s.sortBufs[i].release()
	}
}

// bySize are the declared families, the largest first.
func (s *Store) bySize() ([]*grocksdb.ColumnFamilyHandle, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	var all []*grocksdb.ColumnFamilyHandle
	sizes := map[*grocksdb.ColumnFamilyHandle]int64{}
	for _, h := range s.families {
		n, err := s.sizeOf(h)
		if err != nil {
			return nil, err
		}
		if _, seen := sizes[h]; !seen {
			all = append(all, h)
		}
		sizes[h] = n
	}
	slices.SortFunc(all, func(a, b *grocksdb.ColumnFamilyHandle) int { return cmp.Compare(sizes[b], sizes[a]) })
	return all, nil
}

// Size implements [storage.Sizer]: tables and memtables.
func (s *Store) Size(f storage.Family) (int64, error) {
	if err := s.gate.Enter(); err != nil {
		return 0, err
	}
	defer s.gate.Leave()
	h, err := s.column(f)
	if err != nil || h == nil {
		return 0, err
	}
	return s.sizeOf(h)
}

func (s *Store) sizeOf(h *grocksdb.ColumnFamilyHandle) (total int64, err error) {
	for _, property := range []string{"rocksdb.live-sst-files-size", "rocksdb.size-all-mem-tables"} {
		n, err := strconv.ParseInt(s.db.GetPropertyCF(property, h), 10, 64)
		if err != nil {
			return 0, s.failed("size", fmt.Errorf("property %s: %w", property, err))
		}
		total += n
	}
	return total, nil
}
