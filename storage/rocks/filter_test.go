package rocks

import (
	"context"
	"encoding/binary"
	"strconv"
	"strings"
	"testing"

	"birthmark/internal/testrun"
	"birthmark/storage"
)

// The filters of tables stay in the block cache: a lookup that they answer adds nothing to it. Compacted tables of
// families whose lookups mostly find their keys have no filters.
func TestFiltersOfLargeTablesAreKept(t *testing.T) {
	testrun.Slow(t)                         // writes 1,200,000 rows, so that a filter is large
	const rows, cache = 1_200_000, 64 << 20 // a filter of 1.5 MB, more than 1/64 of the cache
	for _, present := range []bool{false, true} {
		s, err := Open(t.TempDir(), Options{WAL: true, BlockCache: cache})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		d := storage.Declaration{Family: 1, Name: "heads", Access: storage.Hashed, Incompressible: true, Present: present}
		if err := s.Declare(d); err != nil {
			t.Fatal(err)
		}
		head := func(i int) []byte { return binary.BigEndian.AppendUint64(nil, uint64(i)*0x9e3779b97f4a7c15) }
		for half := range 2 { // two tables, so that the compaction writes new ones
			err = s.UpdateBulk(context.Background(), func(_ storage.Reader, b storage.Batch) error {
				for i := half; i < rows; i += 2 {
					b.Put(1, append(head(i), "tail"...), nil)
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		if err := s.Compact(context.Background()); err != nil {
			t.Fatal(err)
		}
		h, err := s.column(1)
		if err != nil {
			t.Fatal(err)
		}
		err = s.View(context.Background(), func(r storage.Reader) error {
			found, err := r.Suffixes(1, [][]byte{head(0), head(rows)})
			if err == nil && (string(found[0]) != "tail" || found[1] != nil) {
				t.Errorf("present %v: the suffixes are %q", present, found)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		tables := s.db.GetPropertyCF("rocksdb.aggregated-table-properties", h)
		if without := strings.Contains(tables, "filter block size=0;"); without != present {
			t.Errorf("present %v: %s", present, tables)
		}
		kept, err := strconv.Atoi(s.db.GetPropertyCF("rocksdb.block-cache-usage", h))
		if err != nil {
			t.Fatal(err)
		}
		if least := rows * 10 / 8; !present && kept < least {
			t.Errorf("the block cache has %d bytes after a lookup, want at least the filter's %d", kept, least)
		}
	}
}
