package rocks

import (
	"fmt"
	"strconv"

	"github.com/linxGnu/grocksdb"

	"birthmark/storage"
)

// property is one of RocksDB's, for which it has an integer.
type property struct {
	name, help string
	rocksName  string // RocksDB's name
	wholeDB    bool   // of the database, not the sum over its families
}

// None of them needs statistics, which would cost every read and write something.
var properties = []property{
	{"memtable_bytes", "Bytes of rows that are not in tables yet.", "rocksdb.cur-size-all-mem-tables", false},
	{"live_table_bytes", "Bytes on disk of the tables that the newest state has.", "rocksdb.live-sst-files-size", false},
	{"table_bytes", "Bytes on disk of all tables: more than the live ones where something still reads old ones.", "rocksdb.total-sst-files-size", false},
	{"pending_compaction_bytes", "Bytes that have to be merged until the tables are in their final shape, estimated.", "rocksdb.estimate-pending-compaction-bytes", false},
	{"running_compactions", "Merges of tables that run.", "rocksdb.num-running-compactions", true},
	{"running_flushes", "Memtables that are being written.", "rocksdb.num-running-flushes", true},
	{"snapshots", "Snapshots that are held: answers that are being made, and blocks that are being resolved.", "rocksdb.num-snapshots", true},
	{"write_stopped", "1 while nothing can be written until merges have caught up.", "rocksdb.is-write-stopped", true},
	{"background_errors", "Flushes and merges that failed since the database was opened.", "rocksdb.background-errors", true},
}

// filesAtTop has no integer: RocksDB gives it as text.
const filesAtLevel0 = "rocksdb.num-files-at-level0"

// Measures implements [storage.Meter].
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
		{Name: "block_cache_bytes", Help: "Bytes of blocks, indexes and filters of tables in memory.", Value: float64(cache.GetUsage())},
		{Name: "block_cache_pinned_bytes", Help: "Bytes of the block cache that are in use and cannot be given up.", Value: float64(cache.GetPinnedUsage())},
	}
	for _, p := range properties {
		v, err := s.sumOver(p)
		if err != nil {
			return nil, err
		}
		ms = append(ms, storage.Metric{Name: p.name, Help: p.help, Value: float64(v)})
	}
	top, err := s.maxOver(filesAtLevel0)
	return append(ms, storage.Metric{Name: "level0_files", Help: "Tables at level 0 of the family that has most of them: a lookup may have to ask each.", Value: float64(top)}), err
}

// sum is a property of the database. mu is held.
func (s *Store) sumOver(p property) (sum uint64, err error) {
	if p.wholeDB {
		v, ok := s.db.GetIntProperty(p.rocksName)
		if !ok {
			return 0, s.failed("measure", fmt.Errorf("RocksDB does not know %s", p.rocksName))
		}
		return v, nil
	}
	for _, h := range s.columns {
		v, ok := s.db.GetIntPropertyCF(p.rocksName, h)
		if !ok {
			return 0, s.failed("measure", fmt.Errorf("RocksDB does not know %s", p.rocksName))
		}
		sum += v
	}
	return sum, nil
}

// most is the highest value that a property has in a family. mu is held.
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
		return 0, fmt.Errorf("RocksDB does not know %s: %w", of, err)
	}
	return n, nil
}
