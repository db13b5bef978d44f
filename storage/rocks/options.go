package rocks

import (
	"fmt"
	"math/bits"
	"os"
	"path/filepath"

	"github.com/linxGnu/grocksdb"
	"golang.org/x/sys/unix"

	"birthmark/storage"
)

// Options say how a database is opened.
type Options struct {
	ReadOnly     bool
	WAL          bool   // every Update is on disk when it returns; without, only Flush and Close make it so
	BlockCache   int64  // bytes for blocks read from tables, their indexes and filters
	Cache        *Cache // in place of a block cache of its own
	WriteBuffers int64  // bytes for rows not yet in tables
	Holder       string // what others are told who find the database locked
	Compression  storage.Compression
}

const (
	// Rows that arrive in order are put behind the last one, whatever there is before.
	memtableSize = 16 << 20

	// Rows in random order are put between those that are there: sorted within their batch they lie the closer together the
	// fewer those are, and in the processor's caches too. Of the CPU of windows of 100,000 entries, 32 MiB take 20 µs a
	// transaction, 16 17, 8 16, 4 13 and 2 11, more flushes and merges included.
	memtableSizeRandom = 2 << 20

	// Logs of more than 1 GiB made a reader wait half a minute. Less than this makes smaller tables for little gain.
	maxLogs = 256 << 20

	backgroundJobs = 2

	// A key alone is looked for in a block of this size: half of it is 2 bytes a transaction more and more to write.
	lookupBlock = 8 << 10

	minCacheShard = 32 << 20

	minBlockCache   = 1 << 20
	minWriteBuffers = 4 << 20

	spareFiles = 256 // left for sockets, logs and the folders of a sync
	minFiles   = 64  // what RocksDB needs at least, and what a reader needs beside its tables
)

// settings are the C objects of a database's options.
type settings struct {
	options      map[layout]*grocksdb.Options
	tables       []*grocksdb.BlockBasedTableOptions
	cache        *grocksdb.Cache
	shared       bool // the cache is Options.Cache, which others have too
	write        *grocksdb.WriteOptions
	readonlyOpen *readonlyOpen // of a reader; nil
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

// database are the options of the database as a whole. RocksDB takes them from the same object as a family's.
func (s *settings) databaseOptions() *grocksdb.Options { return s.options[layout{}] }

func newSettings(dir string, o Options) (*settings, error) {
	files, err := maxOpenFiles(dir, o.ReadOnly)
	if err != nil {
		return nil, err
	}
	s := &settings{
		options: map[layout]*grocksdb.Options{},
		write:   grocksdb.NewDefaultWriteOptions(),
	}
	if s.shared = o.Cache != nil; s.shared {
		s.cache = o.Cache.c
	} else {
		s.cache = newCache(max(o.BlockCache, minBlockCache))
	}
	s.write.SetSync(o.WAL)
	s.write.DisableWAL(!o.WAL)
	// The rows of a batch are sorted: the place of the last one is where to begin to look for the next.
	s.write.SetMemtableInsertHintPerBatch(true)
	for _, l := range layouts() {
		opts := grocksdb.NewDefaultOptions()
		s.options[l] = opts
		setDatabaseOptions(opts, o, files)
		s.setFamilyOptions(opts, o, l)
	}
	if o.ReadOnly {
		s.readonlyOpen = newReadonlyOpen(s.databaseOptions())
	}
	return s, nil
}

// Cache is a block cache for a database that is opened to be read again and again: a block that one opening has read from a
// table is there for the next one, while the table is.
type Cache struct{ c *grocksdb.Cache }

// NewCache makes a cache of so many bytes.
func NewCache(bytes int64) *Cache { return &Cache{newCache(max(bytes, minBlockCache))} }

// Used is how many bytes are in it.
func (c *Cache) Used() int64 { return int64(c.c.GetUsage()) }

// Close gives the memory back, at the latest when the last store that has the cache is closed.
func (c *Cache) Close() { c.c.Destroy() }

// newCache makes the block cache of a size in parts, each with a lock of its own. By default they are 64, and what is larger
// than a part is not kept: the filter of a table of 64 MiB has up to 5 MiB, and would be read anew for every lookup.
func newCache(size int64) *grocksdb.Cache {
	o := grocksdb.NewLRUCacheOptions()
	defer o.Destroy()
	o.SetCapacity(uint(size))
	o.SetNumShardBits(min(6, max(0, bits.Len64(uint64(size/minCacheShard))-1)))
	return grocksdb.NewLRUCacheWithOptions(o)
}

func setDatabaseOptions(opts *grocksdb.Options, o Options, files int) {
	opts.SetCreateIfMissing(true)
	opts.SetMaxOpenFiles(files)
	// One thread flushes while another compacts; more would take the processors from decoding.
	opts.SetMaxBackgroundJobs(backgroundJobs)
	buffers := uint64(max(o.WriteBuffers, minWriteBuffers))
	opts.SetDbWriteBufferSize(buffers)
	// Families that seldom change must not hold on to old logs for ever: whoever opens the database, a reader beside the
	// writer too, reads all of them, 30 to 100 MB a second.
	opts.SetMaxTotalWalSize(min(4*buffers, maxLogs))
	// Without a WAL all families have to go to disk together, or a crash would leave them at different moments.
	opts.SetAtomicFlush(!o.WAL)
	// Dirty pages leave in small pieces instead of one long stall.
	opts.SetBytesPerSync(1 << 20)
	opts.SetWALBytesPerSync(1 << 20)
	disableInfoLog(opts)
	trackLogs(opts)
	opts.SetStatsDumpPeriodSec(0)
	opts.SetStatsPersistPeriodSec(0)
}

// family sets what depends on how a family is used.
func (s *settings) setFamilyOptions(opts *grocksdb.Options, o Options, l layout) {
	opts.SetWriteBufferSize(memtableSize)
	if o.WAL && l.access != storage.Ordered { // without a WAL all families are flushed when one is full
		opts.SetWriteBufferSize(memtableSizeRandom)
	}
	// A memtable takes its memory in blocks of this size. By default they are 1 MiB: a row in each of twenty families
	// would then fill small buffers, and every Update be a flush.
	opts.SetArenaBlockSize(64 << 10)
	opts.SetMaxWriteBufferNumber(4)
	opts.SetLevel0FileNumCompactionTrigger(maxTables)
	// First sync writes faster than two processors compact; it must not be stopped before it has to be. Nothing reads the
	// tables that wait meanwhile, or they were postponed: those stop nothing.
	opts.SetLevel0SlowdownWritesTrigger(3 * maxTablesHashed)
	opts.SetLevel0StopWritesTrigger(4 * maxTablesHashed)
	if l.deferCompaction {
		opts.SetLevel0SlowdownWritesTrigger(100 * maxTablesDeferred)
		opts.SetLevel0StopWritesTrigger(100 * maxTablesDeferred)
		opts.SetSoftPendingCompactionBytesLimit(0)
		opts.SetHardPendingCompactionBytesLimit(0)
	}
	opts.SetMaxBytesForLevelBase(256 << 20)
	opts.SetTargetFileSizeBase(64 << 20)
	// Nine tenths of the rows are in the last level from the first day on.
	opts.SetLevelCompactionDynamicLevelBytes(true)
	setCompression(opts, o.Compression, l)

	t := grocksdb.NewDefaultBlockBasedTableOptions()
	s.tables = append(s.tables, t)
	t.SetBlockCache(s.cache)
	t.SetFormatVersion(5)
	// Filters and indexes grow with the chain: in the cache they count against its limit.
	t.SetCacheIndexAndFilterBlocks(true)
	t.SetCacheIndexAndFilterBlocksWithHighPriority(true)
	t.SetPinL0FilterAndIndexBlocksInCache(true)
	switch l.access {
	case storage.Lookup:
		// Most lookups ask for what is not there: the filters answer them.
		t.SetFilterPolicy(grocksdb.NewBloomFilterFull(10))
		t.SetBlockSize(lookupBlock)
		opts.SetMemtableWholeKeyFiltering(true)
		opts.SetMemTablePrefixBloomSizeRatio(0.05)
	case storage.Hashed:
		// The same, for what keys begin with.
		setPrefixExtractor(opts, storage.PrefixSize)
		t.SetFilterPolicy(grocksdb.NewBloomFilterFull(10))
		t.SetWholeKeyFiltering(false)
		t.SetBlockSize(lookupBlock)
		opts.SetMemTablePrefixBloomSizeRatio(0.05)
	default:
		// Keys that share long prefixes, read in runs: larger blocks compress them far better.
		t.SetBlockSize(16 << 10)
	}
	opts.SetBlockBasedTableFactory(t)
}

// compress sets what rows are compressed with. Where they come to rest it is zstd's first level, which takes half the time of
// its usual third for 2% more bytes. Nothing makes hashes smaller, but much of a row is not its hash: the sequence number, what
// pointers have in common. Looking for little more than that, at a level below zero, takes about the time that writing it
// would.
//
// Rows in order rest where they are put first, since tables of them are only moved from level to level. Others are on their
// way for as long as they are above the last level: not worth it in level 0.
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
}

// maxOpenFiles raises the process's limit as far as it may and returns the number of files that RocksDB may open, -1
// for no bound. A reader holds all of the database's tables open, because the writer may remove them.
func maxOpenFiles(dir string, readOnly bool) (int, error) {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		return 0, fmt.Errorf("limit of open files: %w", err)
	}
	if limit.Cur < limit.Max {
		raised := unix.Rlimit{Cur: limit.Max, Max: limit.Max}
		if unix.Setrlimit(unix.RLIMIT_NOFILE, &raised) == nil {
			limit = raised
		}
	}
	if limit.Cur < spareFiles+minFiles {
		return 0, tooFewFiles(limit.Cur, spareFiles+minFiles)
	}
	if !readOnly {
		return int(min(limit.Cur-spareFiles, 1<<20)), nil
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return 0, fmt.Errorf("database folder: %w", err)
	}
	tables := 0
	for _, e := range entries {
		if filepath.Ext(e.Name()) == ".sst" {
			tables++
		}
	}
	if need := uint64(tables + minFiles); limit.Cur < need {
		return 0, fmt.Errorf("%s has %d tables, and a reader opens all of them: %w", dir, tables, tooFewFiles(limit.Cur, need))
	}
	return -1, nil
}

func tooFewFiles(limit, need uint64) error {
	return fmt.Errorf("the process may open %d files, at least %d are needed: raise the limit (ulimit -n %d, or LimitNOFILE= "+
		"of the service)", limit, need, need)
}
