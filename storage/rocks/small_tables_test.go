package rocks

import (
	"encoding/binary"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"birthmark/internal/testrun"
	"birthmark/storage"
)

// tablesOf returns the number of tables of the database.
func tablesOf(t *testing.T, s *Store) int {
	t.Helper()
	tables, err := filepath.Glob(filepath.Join(s.dir, "*.sst"))
	if err != nil {
		t.Fatal(err)
	}
	return len(tables)
}

// The number of tables does not grow with the number of snapshots, or of starts, of a database whose keys ascend. Old
// rows remain, and changes of the newest ones.
func TestSmallTablesAreMerged(t *testing.T) {
	const rounds, perRound, most = 12 * maxTables, 50, 4 * maxTables
	for name, flush := range map[string]func(t *testing.T, s *Store, round int) *Store{
		"snapshots": func(t *testing.T, s *Store, round int) *Store {
			if err := s.Checkpoint(t.Context(), filepath.Join(t.TempDir(), fmt.Sprint(round))); err != nil {
				t.Fatal(err)
			}
			return s
		},
		"starts": func(t *testing.T, s *Store, _ int) *Store {
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			return openOrdered(t, s.dir)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := openOrdered(t, t.TempDir())
			key := func(n int) []byte { return binary.BigEndian.AppendUint32(nil, uint32(n)) }
			for round := range rounds {
				for update := range 8 {
					err := s.Update(t.Context(), func(_ storage.Reader, b storage.Batch) error {
						for i := range perRound {
							b.Put(soon, key(round*perRound+i), fmt.Append(nil, update))
						}
						return nil
					})
					if err != nil {
						t.Fatal(err)
					}
				}
				s = flush(t, s, round)
			}
			for end := time.Now().Add(testrun.Patience); tablesOf(t, s) > most; time.Sleep(10 * time.Millisecond) {
				if time.Now().After(end) {
					t.Fatalf("%d tables after %d flushes, expected at most %d", tablesOf(t, s), rounds, most)
				}
			}
			rows := 0
			err := s.View(t.Context(), func(r storage.Reader) error {
				for kv, err := range r.Scan(soon, nil, nil, false) {
					if err != nil {
						return err
					}
					if string(kv.Key) != string(key(rows)) || string(kv.Value) != "7" {
						return fmt.Errorf("row %d is %x %s", rows, kv.Key, kv.Value)
					}
					rows++
				}
				return nil
			})
			if err != nil || rows != rounds*perRound {
				t.Errorf("%d rows, expected %d: %v", rows, rounds*perRound, err)
			}
		})
	}
}

// A database can be closed while its small tables are merged, and keeps all rows.
func TestCloseEndsMergesOfSmallTables(t *testing.T) {
	dir := t.TempDir()
	s := openOrdered(t, dir)
	const rounds = 3 * maxTables
	for round := range rounds {
		err := s.Update(t.Context(), func(_ storage.Reader, b storage.Batch) error {
			b.Put(soon, binary.BigEndian.AppendUint32(nil, uint32(round)), nil)
			return nil
		})
		if err == nil {
			err = s.flush()
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	s.mergeSmallTables()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s.mergeSmallTables() // does nothing
	rows := 0
	err := openOrdered(t, dir).View(t.Context(), func(r storage.Reader) error {
		for _, err := range r.Scan(soon, nil, nil, false) {
			if err != nil {
				return err
			}
			rows++
		}
		return nil
	})
	if err != nil || rows != rounds {
		t.Errorf("%d rows, expected %d: %v", rows, rounds, err)
	}
}

func openOrdered(t *testing.T, dir string) *Store {
	t.Helper()
	s, err := Open(dir, Options{WAL: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	if err := s.Declare(storage.Declaration{Family: soon, Name: "soon", Access: storage.Ordered}); err != nil {
		t.Fatal(err)
	}
	return s
}
