package rocks

import (
	"context"
	"encoding/binary"
	"slices"
	"strconv"
	"testing"
	"time"

	"birthmark/storage"
)

const (
	soon  storage.Family = 1
	later storage.Family = 2
)

func openBoth(t *testing.T, dir string) *Store {
	t.Helper()
	s, err := Open(dir, Options{WAL: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	err = s.Declare(storage.Declaration{Family: soon, Name: "soon", Access: storage.Grouped}, storage.Declaration{Family: later, Name: "later", Access: storage.Grouped, DeferCompaction: true})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// spreadRows writes rows over the whole range of keys into both families, so that all tables overlap.
func spreadRows(t *testing.T, update func(context.Context, func(storage.Reader, storage.Batch) error) error, round int) {
	t.Helper()
	err := update(context.Background(), func(_ storage.Reader, b storage.Batch) error {
		for i := range 16 {
			key := binary.BigEndian.AppendUint32([]byte{byte(i << 4)}, uint32(round))
			b.Put(soon, key, nil)
			b.Put(later, key, nil)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// waiting returns the number of level 0 tables of a family.
func waiting(t *testing.T, s *Store, f storage.Family) int {
	t.Helper()
	h, err := s.column(f)
	if err != nil {
		t.Fatal(err)
	}
	n, err := strconv.Atoi(s.db.GetPropertyCF("rocksdb.num-files-at-level0", h))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// wantMerged waits until a family has fewer level 0 tables than the compaction trigger.
func wantMerged(t *testing.T, s *Store, f storage.Family) {
	t.Helper()
	for tries := 0; waiting(t, s, f) >= maxTables; tries++ {
		if tries == 2000 {
			t.Fatalf("%d tables of family %d are not merged", waiting(t, s, f), f)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

func TestFamiliesDeclaredLaterAreMergedWhenBulkUpdatesEnd(t *testing.T) {
	const rounds = maxTables + 10
	for name, end := range map[string]func(t *testing.T, s *Store) *Store{
		"Flush": func(t *testing.T, s *Store) *Store {
			if err := s.Flush(context.Background()); err != nil {
				t.Fatal(err)
			}
			return s
		},
		"Compact": func(t *testing.T, s *Store) *Store {
			if err := s.Compact(context.Background()); err != nil {
				t.Fatal(err)
			}
			return s
		},
		"ordinary Updates": func(t *testing.T, s *Store) *Store {
			for i := range ordinaryUpdatesAtTip {
				if n := waiting(t, s, later); n < rounds-1 {
					t.Fatalf("%d tables wait before ordinary Update %d, want %d", n, i, rounds-1)
				}
				spreadRows(t, s.Update, rounds+i)
			}
			return s
		},
		"Close and Open": func(t *testing.T, s *Store) *Store {
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			return openBoth(t, s.dir)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := openBoth(t, t.TempDir())
			for i := range rounds {
				spreadRows(t, s.UpdateBulk, i)
			}
			wantMerged(t, s, soon)
			if n := waiting(t, s, later); n < rounds-1 { // the first one goes to the last level
				t.Fatalf("%d tables of the family declared Later wait, want %d", n, rounds-1)
			}
			wantMerged(t, end(t, s), later)
		})
	}
}

// Tables in the last level are not rewritten.
func TestCompactLeavesWhatIsAtRest(t *testing.T) {
	s := openBoth(t, t.TempDir())
	for i := range 5 {
		spreadRows(t, s.UpdateBulk, i)
	}
	live := func() (names []string) {
		for _, f := range s.db.GetLiveFilesMetaData() {
			names = append(names, f.Name)
		}
		slices.Sort(names)
		return names
	}
	if err := s.Compact(context.Background()); err != nil {
		t.Fatal(err)
	}
	before := live()
	if err := s.Compact(context.Background()); err != nil {
		t.Fatal(err)
	}
	after := live()
	if len(before) != 2 || !slices.Equal(before, after) {
		t.Errorf("the tables were %q and are %q, want the same two", before, after)
	}
}
