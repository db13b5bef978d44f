package rocks

import (
	"cmp"
	"context"
	"runtime"
	"slices"
	"strconv"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/linxGnu/grocksdb"

	"birthmark/internal/guard"
	"birthmark/storage"
)

const (
	// A bulk update writes one table of a few MiB per family. A compaction trigger of 8 would rewrite the lower level
	// repeatedly and cost 20% of a first sync's CPU. Each table has a filter, so lookups stay cheap with more tables.
	maxTables = 24

	// Trigger for families that bulk updates do not read. Without one, the thousands of tables of a large chain would
	// be compacted at once, which needs as much disk space again and a buffer per table.
	maxTablesDeferred = 512

	// Trigger for hashed families that bulk updates read, because the caches do not answer all lookups.
	maxTablesHashed = 64

	// If fewer prefixes are looked up between two bulk updates, the caches answer nearly all lookups, and the hashed
	// families are compacted as late as families that bulk updates never read.
	fewLookups = 1000

	// A sync with a slow source alternates between bulk and ordinary updates. After this many ordinary updates in a row
	// it is considered to be at the tip.
	ordinaryUpdatesAtTip = 8
)

// compactionDelay is the state of deferred compaction, for families that bulk updates read rarely or never.
type compactionDelay struct {
	sync.Mutex
	on              bool
	read            bool // bulk updates read hashed families
	ordinaryUpdates int  // ordinary Updates since one in bulk
}

// deferCompaction raises the compaction triggers of such families until resumeCompaction.
func (s *Store) deferCompaction() error {
	s.compactionDelay.Lock()
	defer s.compactionDelay.Unlock()
	s.compactionDelay.ordinaryUpdates = 0
	return s.setDeferred(true, s.lookups.Swap(0) >= fewLookups)
}

// countUpdate counts an ordinary update and resumes compaction at the tip.
func (s *Store) countUpdate() error {
	s.compactionDelay.Lock()
	defer s.compactionDelay.Unlock()
	if s.compactionDelay.ordinaryUpdates++; s.compactionDelay.ordinaryUpdates < ordinaryUpdatesAtTip {
		return nil
	}
	if s.compactionDelay.ordinaryUpdates%updatesBetweenMerges == 0 {
		s.mergeSmallTables()
	}
	return s.setDeferred(false, true)
}

// resumeCompaction restores the normal triggers, which are also those of a database just opened.
func (s *Store) resumeCompaction() error {
	s.compactionDelay.Lock()
	defer s.compactionDelay.Unlock()
	return s.setDeferred(false, true)
}

// maxDeferredTables returns the number of level 0 tables that trigger a compaction while compaction is deferred. read
// reports whether bulk updates read hashed families.
func (l layout) maxDeferredTables(read bool) int {
	switch {
	case l.deferCompaction, l.access == storage.Hashed && !read:
		return maxTablesDeferred
	case l.access == storage.Hashed:
		return maxTablesHashed
	}
	return maxTables
}

func (s *Store) setDeferred(on, read bool) error {
	if s.compactionDelay.on == on && (!on || s.compactionDelay.read == read) {
		return nil
	}
	s.compactionDelay.on, s.compactionDelay.read = on, read
	s.mu.RLock()
	defer s.mu.RUnlock()
	for name, h := range s.columns {
		l := layoutOf(name)
		postponed := l.maxDeferredTables(read)
		if postponed == maxTables {
			continue // each SetOptions call writes and syncs a file
		}
		tables := maxTables
		if on {
			tables = postponed
		}
		keys, values := []string{"level0_file_num_compaction_trigger"}, []string{strconv.Itoa(tables)}
		if err := s.db.SetOptionsCF(h, keys, values); err != nil {
			return s.failed("set the compaction trigger", err)
		}
	}
	return nil
}

const (
	// Memory of one compaction: a block of each of up to 512 tables, and a hash per key of the table it writes.
	mergeBytes = 64 << 20

	// Memory that compactions may use in addition to the store's caches. The batches no longer need it: they are
	// written.
	mergeHeadroom = 128 << 20
)

// maxMerges returns the number of families whose concurrent compactions fit into memory.
func (o *Options) maxMerges() int {
	return int((o.BlockCache + o.WriteBuffers + mergeHeadroom) / mergeBytes)
}

// Compact implements [storage.Compactor]. It compacts families concurrently, the largest first, as far as memory
// allows. Tables in the last level that no newer rows overlap are not rewritten.
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
	// Each concurrent compaction needs a thread, in addition to the one that flushes.
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
			if err := guard.Call(func() error { return compact(gctx, s.db, h) }); err != nil {
				return cmp.Or(gctx.Err(), s.failed("compact", err))
			}
			return nil
		})
	}
	return cmp.Or(ctx.Err(), g.Wait())
}

// releaseBuffers frees the buffers of large updates.
func (s *Store) releaseBuffers() {
	s.updateMu.Lock()
	defer s.updateMu.Unlock()
	s.batch.release()
	for i := range s.sortBufs {
		s.sortBufs[i].release()
	}
}

// bySize returns the declared families, the largest first.
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

// Size implements [storage.Sizer]. It counts tables and memtables.
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
		n, err := s.propertyOf(h, property)
		if err != nil {
			return 0, err
		}
		total += n
	}
	return total, nil
}
