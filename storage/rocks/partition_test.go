package rocks

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/linxGnu/grocksdb"

	"birthmark/internal/testseed"
	"birthmark/storage"
)

// Tables with one filter, of a large block cache or of an earlier version, give the same answers as tables with
// partitions, alone, together and after they were compacted.
func TestPartitionedFiltersGiveSameAnswers(t *testing.T) {
	const most = 20_000 // filters of several partitions
	random := testseed.Rand(t)
	d := storage.Declaration{Family: 1, Name: "spends", Access: storage.Lookup, DeferCompaction: true}
	dir, ctx := filepath.Join(t.TempDir(), "db"), context.Background()
	key := func(i int) []byte { return binary.BigEndian.AppendUint64(nil, uint64(i)*0x9e3779b97f4a7c15) }
	rows := map[int][]byte{}
	change := func(put func(i int, value []byte), remove func(i int)) {
		for range most / 2 {
			if i := random.IntN(most); random.IntN(4) > 0 {
				rows[i] = binary.BigEndian.AppendUint32(nil, random.Uint32())
				put(i, rows[i])
			} else {
				delete(rows, i)
				remove(i)
			}
		}
	}

	o, table := grocksdb.NewDefaultOptions(), grocksdb.NewDefaultBlockBasedTableOptions()
	defer o.Destroy()
	defer table.Destroy()
	table.SetFilterPolicy(grocksdb.NewBloomFilterFull(10))
	o.SetBlockBasedTableFactory(table)
	o.SetCreateIfMissing(true)
	o.SetCreateIfMissingColumnFamilies(true)
	old, handles, err := grocksdb.OpenDbColumnFamilies(o, dir, []string{defaultColumn, columnName(d)}, []*grocksdb.Options{o, o})
	if err != nil {
		t.Fatal(err)
	}
	w, flush := grocksdb.NewDefaultWriteOptions(), grocksdb.NewDefaultFlushOptions()
	defer w.Destroy()
	defer flush.Destroy()
	change(func(i int, value []byte) { err = errors.Join(err, old.PutCF(w, handles[1], key(i), value)) },
		func(i int) { err = errors.Join(err, old.DeleteCF(w, handles[1], key(i))) })
	if err := errors.Join(err, old.FlushCF(handles[1], flush)); err != nil {
		t.Fatal(err)
	}
	for _, h := range handles {
		h.Destroy()
	}
	old.Close()

	check := func(what string, o Options, divided bool) *Store {
		t.Helper()
		o.WAL = true
		s, err := Open(dir, o)
		if err == nil {
			t.Cleanup(func() { s.Close() })
			err = s.Declare(d)
		}
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		h, err := s.column(1)
		if err != nil {
			t.Fatal(err)
		}
		if p := s.db.GetPropertyCF("rocksdb.aggregated-table-properties", h); strings.Contains(p, "# index partitions=") != divided {
			t.Errorf("%s: partitions expected: %v, but the tables have %s", what, divided, p)
		}
		err = s.View(ctx, func(r storage.Reader) error {
			keys := make([][]byte, 2*most)
			for i := range keys {
				keys[i] = key(i)
			}
			found, err := r.GetMany(1, keys)
			for i := range found {
				if want, has := rows[i]; has != (found[i] != nil) || !bytes.Equal(found[i], want) {
					t.Errorf("%s: row %d is %x, expected %x", what, i, found[i], want)
				}
			}
			return err
		})
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		return s
	}
	check("old tables, read-only", Options{ReadOnly: true}, false)
	s := check("old tables", Options{}, false)
	update := func() error {
		return s.UpdateBulk(ctx, func(_ storage.Reader, b storage.Batch) error {
			change(func(i int, value []byte) { b.Put(1, key(i), value) }, func(i int) { b.Delete(1, key(i)) })
			return nil
		})
	}
	if err := errors.Join(update(), s.Close()); err != nil {
		t.Fatal(err)
	}
	s = check("old and new tables", Options{}, true)
	if err := errors.Join(s.Compact(ctx), s.Close()); err != nil {
		t.Fatal(err)
	}
	large := Options{BlockCache: partitionsBelow}
	s = check("new tables, large block cache", large, true)
	if err := errors.Join(update(), s.Compact(ctx), s.Close()); err != nil {
		t.Fatal(err)
	}
	s = check("tables written with a large block cache", large, false)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	check("the same, small block cache", Options{}, false)
}
