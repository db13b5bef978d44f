package rocks

import (
	"errors"
	"fmt"
	"io/fs"
	"math/bits"
	"os"
	"path/filepath"

	"github.com/linxGnu/grocksdb"
	"golang.org/x/sys/unix"

	"birthmark/storage"
)

// Options configure how a database is opened.
type Options struct {
	ReadOnly     bool
	WAL          bool   // every Update is on disk when it returns; else only after Flush or Close
	BlockCache   int64  // bytes for cached blocks of tables, their indexes and filters
	Cache        *Cache // shared block cache, used instead of BlockCache; may be nil
	WriteBuffers int64  // bytes of memtables
	Holder       string // identifies this process in a [storage.LockedError] of others
	Locked       bool   // the caller has locked the folder: see [LockName]
	Compression  storage.Compression

	// Warn is called when the database is opened for writing, if updates of its newest log are lost; nil: it is not.
	Warn func(message string)
}

const (
	// Appending a row to a memtable in key order does not depend on the memtable's size.
	memtableSize = 16 << 20

	// Inserting rows in random order is faster into a small memtable, which fits the processor's caches. CPU per
	// transaction in batches of 100,000 entries, including the additional flushes and compactions: 20 µs with 32 MiB,
	// 17 µs with 16, 16 µs with 8, 13 µs with 4, 11 µs with 2.
	memtableSizeRandom = 2 << 20

	// Replaying logs of 1 GiB delays a read-only open by 30 s. A lower limit makes tables smaller for little gain.
	maxLogs = 256 << 20

	backgroundJobs = 2

	// Block size of families read by single keys. 4 KiB would cost 2 bytes per transaction and more writing.
	lookupBlock = 8 << 10

	// Block size of the values and hash prefixes of indexes, and of hashes by pointer. A block at the tip reads thousands
	// of single rows of them, each from another block, and hashes hardly compress better in larger blocks.
	hashBlock = 4 << 10

	// With a smaller block cache, tables whose filters are read for absent keys have partitions. Otherwise whole filters
	// are faster: if they are in the cache, a lookup takes 0.5 to 1 µs less.
	partitionsBelow = 128 << 20

	// Block size of partitions.
	partitionBlock = 4 << 10

	minCacheShard = 32 << 20

	minBlockCache   = 1 << 20
	minWriteBuffers = 4 << 20

	spareFiles = 256 // file descriptors left for sockets, logs and the sync's folders
	minFiles   = 64  // minimum for RocksDB, and what a read-only open needs in addition to its tables

	// Tables per thread that opens the tables of a database. RocksDB's default of 16 threads, which it starts
	// for each family, takes longer than the tables of a small database.
	tablesPerThread = 16
	maxOpenThreads  = 16

	// RocksDB's default of 4 MiB takes 1 ms if the file system is in memory.
	manifestPreallocation = 256 << 10

	// Caches of any size need fewer files: 64 shards with two kinds of up to 15 files each. They have half of a low limit.
	maxCacheFiles = 4096
)

// settings holds the C objects of a database's options.
type settings struct {
	options      map[layout]*grocksdb.Options
	tables       []*grocksdb.BlockBasedTableOptions
	cache        *grocksdb.Cache
	shared       bool // the cache is Options.Cache and is not destroyed here
	write        *grocksdb.WriteOptions
	readonlyOpen *readonlyOpen // nil unless read-only
	cacheFiles   int           // files of the cache folder that may be open
}

func (s *settings) destroy() {
	for _, o := range s.options {
		o.Destroy()
	}
	for _, t := range s.tables {
		t.Destroy()
	}
	if !s.shared {
		s.cache.Destroy()
	}
	s.write.Destroy()
	s.readonlyOpen.free()
}

// databaseOptions returns the options of the whole database, which RocksDB reads from the same object as a family's.
func (s *settings) databaseOptions() *grocksdb.Options { return s.options[layout{}] }

func newSettings(dir string, o Options) (*settings, error) {
	tables, err := countTables(dir)
	if err != nil {
		return nil, err
	}
	files, cacheFiles, err := maxOpenFiles(dir, tables, o.ReadOnly)
	if err != nil {
		return nil, err
	}
	s := &settings{
		options: map[layout]*grocksdb.Options{},
		write:   grocksdb.NewDefaultWriteOptions(),

		cacheFiles: cacheFiles,
	}
	if s.shared = o.Cache != nil; s.shared {
		s.cache = o.Cache.c
	} else {
		s.cache = newCache(max(o.BlockCache, minBlockCache))
	}
	s.write.SetSync(o.WAL)
	s.write.DisableWAL(!o.WAL)
	for _, l := range layouts() {
		opts := grocksdb.NewDefaultOptions()
		s.options[l] = opts
		setDatabaseOptions(opts, o, files, tables)
		s.setFamilyOptions(opts, o, l)
	}
	if o.ReadOnly {
		s.readonlyOpen = newReadonlyOpen(s.databaseOptions())
	} else {
		skipOptionsFile(s.databaseOptions())
	}
	return s, nil
}

// Cache is a block cache that outlives a Store, for a database that is opened read-only repeatedly.
type Cache struct{ c *grocksdb.Cache }

// NewCache creates a cache of that many bytes, at least 1 MiB.
func NewCache(bytes int64) *Cache { return &Cache{newCache(max(bytes, minBlockCache))} }

// Used returns the number of cached bytes.
func (c *Cache) Used() int64 { return int64(c.c.GetUsage()) }

// Close frees the memory once no store uses the cache any more.
func (c *Cache) Close() { c.c.Destroy() }

// newCache creates a block cache with shards of at least 32 MiB. RocksDB's default is 64 shards, and an entry larger
// than its shard is not cached: the filter of a 64 MiB table, up to 5 MiB, would be read again for every lookup.
func newCache(size int64) *grocksdb.Cache {
	o := grocksdb.NewLRUCacheOptions()
	defer o.Destroy()
	o.SetCapacity(uint(size))
	o.SetNumShardBits(min(6, max(0, bits.Len64(uint64(size/minCacheShard))-1)))
	return grocksdb.NewLRUCacheWithOptions(o)
}

func setDatabaseOptions(opts *grocksdb.Options, o Options, files, tables int) {
	opts.SetCreateIfMissing(true)
	opts.SetMaxOpenFiles(files)
	opts.SetMaxFileOpeningThreads(min(1+tables/tablesPerThread, maxOpenThreads))
	opts.SetManifestPreallocationSize(manifestPreallocation)
	// One thread flushes while another compacts; more would compete with decoding for processors.
	opts.SetMaxBackgroundJobs(backgroundJobs)
	buffers := uint64(max(o.WriteBuffers, minWriteBuffers))
	opts.SetDbWriteBufferSize(buffers)
	// Bounds the logs that families with few changes keep alive: every open, a read-only one too, replays all logs at
	// 30 to 100 MB/s.
	opts.SetMaxTotalWalSize(min(4*buffers, maxLogs))
	// Without a WAL all families must be flushed atomically, or a crash would leave them at different states.
	opts.SetAtomicFlush(!o.WAL)
	// Syncs dirty pages in pieces of 1 MiB instead of in one long stall.
	opts.SetBytesPerSync(1 << 20)
	opts.SetWALBytesPerSync(1 << 20)
	disableInfoLog(opts)
	trackLogs(opts)
	endAtGaps(opts)
	opts.SetStatsDumpPeriodSec(0)
	opts.SetStatsPersistPeriodSec(0)
}

// setFamilyOptions sets the options that depend on a family's layout.
func (s *settings) setFamilyOptions(opts *grocksdb.Options, o Options, l layout) {
	opts.SetWriteBufferSize(memtableSize)
	if o.WAL && l.access != storage.Ordered { // without a WAL one full memtable flushes all families
		opts.SetWriteBufferSize(memtableSizeRandom)
	}
	// Memtables allocate in blocks of this size. With the default of 1 MiB one row in each of 20 families would exceed
	// small write buffers, and every update would cause a flush.
	opts.SetArenaBlockSize(64 << 10)
	opts.SetMaxWriteBufferNumber(4)
	opts.SetLevel0FileNumCompactionTrigger(maxTables)
	// A first sync writes faster than two processors compact, and should not be stalled early. Deferred families never
	// stall writes.
	opts.SetLevel0SlowdownWritesTrigger(3 * maxTablesHashed)
	opts.SetLevel0StopWritesTrigger(4 * maxTablesHashed)
	if l.deferCompaction || l.access == storage.Hashed {
		opts.SetLevel0SlowdownWritesTrigger(100 * maxTablesDeferred)
		opts.SetLevel0StopWritesTrigger(100 * maxTablesDeferred)
		opts.SetSoftPendingCompactionBytesLimit(0)
		opts.SetHardPendingCompactionBytesLimit(0)
	}
	opts.SetMaxBytesForLevelBase(256 << 20)
	opts.SetTargetFileSizeBase(64 << 20)
	// Keeps 90% of the rows in the last level, also in small databases.
	opts.SetLevelCompactionDynamicLevelBytes(true)
	setCompression(opts, o.Compression, l)
	setSums(opts)
	// The rows of a batch are sorted.
	hintInserts(opts)

	t := grocksdb.NewDefaultBlockBasedTableOptions()
	s.tables = append(s.tables, t)
	t.SetBlockCache(s.cache)
	t.SetFormatVersion(5)
	// Filters and indexes grow with the chain: in the block cache its limit applies to them.
	t.SetCacheIndexAndFilterBlocks(true)
	t.SetCacheIndexAndFilterBlocksWithHighPriority(true)
	// Pinned blocks exceed the limit of the cache. Families whose compaction waits have hundreds of tables in level 0.
	t.SetPinL0FilterAndIndexBlocksInCache(!l.deferCompaction && l.access != storage.Hashed)
	switch l.access {
	case storage.Lookup:
		// Most lookups are for absent keys, which the filters answer. If keys are present, the last level, which has 90%
		// of the rows, needs none: the filter of a table is one block of megabytes, and would be read again for every
		// lookup if the block cache is too small for it.
		opts.SetOptimizeFiltersForHits(l.present)
		t.SetFilterPolicy(grocksdb.NewBloomFilterFull(10))
		if !l.present && o.Cache == nil && o.BlockCache < partitionsBelow {
			setPartitions(t)
		}
		t.SetBlockSize(lookupBlock)
		opts.SetMemtableWholeKeyFiltering(true)
		opts.SetMemTablePrefixBloomSizeRatio(0.05)
	case storage.Hashed:
		// The same for key prefixes.
		opts.SetOptimizeFiltersForHits(l.present)
		setPrefixExtractor(opts, storage.PrefixSize)
		t.SetFilterPolicy(grocksdb.NewBloomFilterFull(10))
		t.SetWholeKeyFiltering(false)
		t.SetBlockSize(lookupBlock)
		if l.present {
			t.SetBlockSize(hashBlock)
		}
		opts.SetMemTablePrefixBloomSizeRatio(0.05)
	default:
		// Adjacent keys share long prefixes and are read in ranges: larger blocks compress much better.
		t.SetBlockSize(16 << 10)
		if l.incompressible {
			t.SetBlockSize(hashBlock)
		}
	}
	if o.ReadOnly { // memtables have the rows of the logs at most
		opts.SetMemTablePrefixBloomSizeRatio(0)
	}
	opts.SetBlockBasedTableFactory(t)
}

// setPartitions divides the filter and the index of a table into blocks of 4 KiB, so that a lookup needs two of them and
// not megabytes. Only the indexes of these blocks are pinned in the block cache.
func setPartitions(t *grocksdb.BlockBasedTableOptions) {
	t.SetIndexType(grocksdb.KTwoLevelIndexSearchIndexType) // filters are not divided without it
	t.SetPartitionFilters(true)
	t.SetMetadataBlockSize(partitionBlock)
	t.SetPinTopLevelIndexAndFilter(true)
}

// setCompression sets the compression of a family. The last level uses zstd level 1, which takes half the time of the
// default level 3 for 2% more bytes. In families of hashes only sequence numbers and common bytes of pointers compress:
// level -2 finds those in about the time that writing them would take.
//
// Tables of ordered families are only moved between levels, so they are compressed when they are first written. Rows of
// other families are rewritten until they reach the last level: level 0 is not compressed, other levels use LZ4.
func setCompression(opts *grocksdb.Options, c storage.Compression, l layout) {
	rest := grocksdb.NewDefaultCompressionOptions()
	switch {
	case c == storage.CompressionMax:
		rest.Level = 6
	case l.incompressible:
		rest.Level = -2
	default:
		rest.Level = 1
	}
	opts.SetBottommostCompression(grocksdb.ZSTDCompression)
	opts.SetBottommostCompressionOptions(rest, true)
	if l.access == storage.Ordered {
		opts.SetCompression(grocksdb.ZSTDCompression)
		opts.SetCompressionOptions(rest)
		return
	}
	opts.SetCompressionPerLevel([]grocksdb.CompressionType{grocksdb.NoCompression, grocksdb.LZ4Compression})
	if l.present && c != storage.CompressionMax {
		// Sums are read and rewritten for every batch, most of them from the last level: zstd would take half of that time.
		opts.SetBottommostCompression(grocksdb.LZ4Compression)
	}
}

// countTables returns the number of tables in the folder of a database, 0 if it does not exist.
func countTables(dir string) (n int, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return 0, fmt.Errorf("database folder: %w", err)
	}
	for _, e := range entries {
		if filepath.Ext(e.Name()) == ".sst" {
			n++
		}
	}
	return n, nil
}

// maxOpenFiles raises the process's limit of open files and returns the number of files that RocksDB may open, -1 for
// no bound, and the number of files of the cache folder that may be open. A read-only store keeps all tables of the
// database open, because the writer may delete them.
func maxOpenFiles(dir string, tables int, readOnly bool) (files, caches int, err error) {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		return 0, 0, fmt.Errorf("read the limit of open files: %w", err)
	}
	if limit.Cur < limit.Max {
		raised := unix.Rlimit{Cur: limit.Max, Max: limit.Max}
		if unix.Setrlimit(unix.RLIMIT_NOFILE, &raised) == nil {
			limit = raised
		}
	}
	if limit.Cur < spareFiles+minFiles {
		return 0, 0, tooFewFiles(limit.Cur, spareFiles+minFiles)
	}
	if !readOnly {
		caches := min(maxCacheFiles, (limit.Cur-spareFiles-minFiles)/2)
		return int(min(limit.Cur-spareFiles-caches, 1<<20)), int(caches), nil
	}
	if need := uint64(tables + minFiles); limit.Cur < need {
		err := tooFewFiles(limit.Cur, need)
		return 0, 0, fmt.Errorf("cannot open all %d tables of %s for reading: %w", tables, dir, err)
	}
	return -1, 0, nil
}

func tooFewFiles(limit, need uint64) error {
	return fmt.Errorf("the limit of open files is %d, at least %d are needed: raise it "+
		"(ulimit -n %d, or LimitNOFILE= of the service): %w", limit, need, need, unix.EMFILE)
}
