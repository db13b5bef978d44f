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
	of         scope
}

// scope is how the value of a property is made.
type scope int

const (
	sumOfFamilies scope = iota
	maxOfFamilies
	wholeDatabase
)

// None of the properties requires RocksDB's statistics, which would slow down every read and write.
var properties = []property{
	{"memtable_bytes", "Bytes of rows in memtables.", "rocksdb.cur-size-all-mem-tables", sumOfFamilies},
	{"live_table_bytes", "Bytes on disk of the tables of the newest state.", "rocksdb.live-sst-files-size", sumOfFamilies},
	{"table_bytes", "Bytes on disk of all tables, including old ones that snapshots still read.",
		"rocksdb.total-sst-files-size", sumOfFamilies},
	{"pending_compaction_bytes", "Estimated bytes that compaction has to rewrite.",
		"rocksdb.estimate-pending-compaction-bytes", sumOfFamilies},
	{"running_compactions", "Compactions in progress.", "rocksdb.num-running-compactions", wholeDatabase},
	{"running_flushes", "Flushes of memtables in progress.", "rocksdb.num-running-flushes", wholeDatabase},
	{"snapshots", "Snapshots held by queries and by the sync.", "rocksdb.num-snapshots", wholeDatabase},
	{"write_stopped", "1 while writes are stopped until compactions have caught up.", "rocksdb.is-write-stopped", wholeDatabase},
	{"background_errors", "Flushes and compactions that failed since the database was opened.",
		"rocksdb.background-errors", wholeDatabase},
	{"level0_files", "Tables at level 0 of the family with the most: a lookup may have to read each of them.",
		"rocksdb.num-files-at-level0", maxOfFamilies},
}

// Metrics implements [storage.MetricsProvider].
func (s *Store) Metrics() ([]storage.Metric, error) {
	if err := s.gate.Enter(); err != nil {
		return nil, err
	}
	defer s.gate.Leave()
	s.mu.RLock()
	defer s.mu.RUnlock()
	cache := s.settings.cache
	ms := []storage.Metric{
		{Name: "block_cache_bytes", Help: "Bytes of table blocks, indexes and filters in the block cache.", Value: float64(cache.GetUsage())},
		{Name: "block_cache_pinned_bytes", Help: "Bytes of the block cache that are in use and cannot be evicted.", Value: float64(cache.GetPinnedUsage())},
	}
	for _, p := range properties {
		v, err := s.valueOf(p)
		if err != nil {
			return nil, err
		}
		ms = append(ms, storage.Metric{Name: p.name, Help: p.help, Value: float64(v)})
	}
	return ms, nil
}

// valueOf returns the value of a property. mu must be held.
func (s *Store) valueOf(p property) (value int64, err error) {
	if p.of == wholeDatabase {
		return s.parseProperty(p.rocksName, s.db.GetProperty(p.rocksName))
	}
	for _, h := range s.columns {
		v, err := s.propertyOf(h, p.rocksName)
		if err != nil {
			return 0, err
		}
		if p.of == sumOfFamilies {
			value += v
		} else {
			value = max(value, v)
		}
	}
	return value, nil
}

func (s *Store) propertyOf(h *grocksdb.ColumnFamilyHandle, name string) (int64, error) {
	return s.parseProperty(name, s.db.GetPropertyCF(name, h))
}

func (s *Store) parseProperty(name, text string) (int64, error) {
	v, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		err = s.failed("measure", fmt.Errorf("property %s: %w", name, err))
	}
	return v, err
}
