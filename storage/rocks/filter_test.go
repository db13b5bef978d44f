package rocks

import (
	"context"
	"encoding/binary"
	"strconv"
	"testing"

	"birthmark/internal/testrun"
	"birthmark/storage"
)

// The filters of compacted tables stay in the block cache: a lookup that they answer adds nothing to it.
func TestFiltersOfLargeTablesAreKept(t *testing.T) {
	testrun.Slow(t)                         // writes 1,200,000 rows, so that a filter is large
	const rows, cache = 1_200_000, 64 << 20 // a filter of 1.5 MB, more than 1/64 of the cache
	s, err := Open(t.TempDir(), Options{WAL: true, BlockCache: cache})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.Declare(storage.Declaration{Family: 1, Name: "heads", Access: storage.Hashed, Incompressible: true}); err != nil {
		t.Fatal(err)
	}
	head := func(i int) []byte { return binary.BigEndian.AppendUint64(nil, uint64(i)*0x9e3779b97f4a7c15) }
	err = s.UpdateBulk(context.Background(), func(_ storage.Reader, b storage.Batch) error {
		for i := range rows {
			b.Put(1, append(head(i), "tail"...), nil)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	h, err := s.column(1)
	if err != nil {
		t.Fatal(err)
	}
	err = s.View(context.Background(), func(r storage.Reader) error {
		_, err := r.Suffixes(1, [][]byte{head(0), head(rows)})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	kept, err := strconv.Atoi(s.db.GetPropertyCF("rocksdb.block-cache-usage", h))
	if err != nil {
		t.Fatal(err)
	}
	if least := rows * 10 / 8; kept < least {
		t.Errorf("the block cache keeps %d bytes after a look-up, want the filter's %d at least", kept, least)
	}
}
