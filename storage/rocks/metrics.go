package rocks

import (
	"fmt"
	"strconv"

	"github.com/linxGnu/grocksdb"

	"birthmark/storage"
)

// property is an integer property of RocksDB that is exposed as a metric.
type property struct {
	name, help string
	rocksName  string // the property's name
	wholeDB    bool   // of the whole database instead of the sum over its families
}

// None of the properties requires RocksDB's statistics, which would slow down every read and write.
var properties = []property{
	{"memtable_bytes", "Bytes of rows in memtables.", "rocksdb.cur-size-all-mem-tables", false},
	{"live_table_bytes", "Bytes on disk of the tables of the newest state.", "rocksdb.live-sst-files-size", false},
	{"table_bytes", "Bytes on disk of all tables, including old ones that snapshots still read.", "rocksdb.total-sst-files-size", false},
	{"pending_compaction_bytes", "Estimated bytes that compaction has to rewrite.", "rocksdb.estimate-pending-compaction-bytes", false},
	{"running_compactions", "Compactions in progress.", "rocksdb.num-running-compactions", true},
	{"running_flushes", "Flushes of memtables in progress.", "rocksdb.num-running-flushes", true},
	{"snapshots", "Snapshots held by queries and by the sync.", "rocksdb.num-snapshots", true},
	{"write_stopped", "1 while writes are stopped until compactions have caught up.", "rocksdb.is-write-stopped", true},
	{"background_errors", "Flushes and compactions that failed since the database was opened.", "rocksdb.background-errors", true},
}

// filesAtLevel0 is a property that RocksDB returns as text only.
const filesAtLevel0 = "rocksdb.num-files-at-level0"

// Metrics implements [storage.MetricsProvider].
func (s *Store) Metrics() ([]storage.Metric, error) {
	if err := s.gate.Enter(); err != nil {
		return nil, err
	}
	defer s.gate.Leave()
	s.mu.RLock()
	defer s.mu.RUnlock()
	cache := s.settings.cache
	if cache == nil {
		cache = s.options.Cache.c
	}
	ms := []storage.Metric{
		{Name: "block_cache_bytes", Help: "Bytes of table blocks, indexes and filters in the block cache.", Value: float64(cache.GetUsage())},
		{Name: "block_cache_pinned_bytes", Help: "Bytes of the block cache that are in use and cannot be evicted.", Value: float64(cache.GetPinnedUsage())},
	}
	for _, p := range properties {
		v, err := s.sumOver(p)
		if err != nil {
			return nil, err
		}
		ms = append(ms, storage.Metric{Name: p.name, Help: p.help, Value: float64(v)})
	}
	top, err := s.maxOver(filesAtLevel0)
	return append(ms, storage.Metric{
		Name:  "level0_files",
		Help:  "Tables at level 0 of the family with the most: a lookup may have to read each of them.",
		Value: float64(top),
	}), err
}

// sumOver returns the value of a property. mu must be held.
func (s *Store) sumOver(p property) (sum uint64, err error) {
	if p.wholeDB {
		v, ok := s.db.GetIntProperty(p.rocksName)
		if !ok {
			return 0, s.failed("measure", fmt.Errorf("RocksDB has no property %s", p.rocksName))
		}
		return v, nil
	}
	for _, h := range s.columns {
		v, ok := s.db.GetIntPropertyCF(p.rocksName, h)
		if !ok {
			return 0, s.failed("measure", fmt.Errorf("RocksDB has no property %s", p.rocksName))
		}
		sum += v
	}
	return sum, nil
}

// maxOver returns the highest value of a property over all families. mu must be held.
func (s *Store) maxOver(of string) (most uint64, err error) {
	for _, h := range s.columns {
		v, err := integer(s.db, of, h)
		if err != nil {
			return 0, s.failed("measure", err)
		}
		most = max(most, v)
	}
	return most, nil
}

func integer(db *grocksdb.DB, of string, h *grocksdb.ColumnFamilyHandle) (uint64, error) {
	n, err := strconv.ParseUint(db.GetPropertyCF(of, h), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("property %s: %w", of, err)
	}
	return n, nil
}
