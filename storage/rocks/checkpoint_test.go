package rocks_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"birthmark/storage"
	"birthmark/storage/rocks"
)

// A checkpoint copies no table, and has no files other than rows: no lock, side files, or tables of an unfinished
// update.
func TestACheckpointLinksTables(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "db")
	s := open(t, dir, rocks.Options{WAL: true, Holder: "test"})
	if err := declare(s, 3); err != nil {
		t.Fatal(err)
	}
	if err := writeNote(s, "caches", "the key"); err != nil {
		t.Fatal(err)
	}
	put := func(_ storage.Reader, b storage.Batch) error {
		for f := range storage.Family(3) {
			b.Put(f, rowKey(1), []byte("value"))
		}
		return nil
	}
	if err := s.Update(context.Background(), put); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "snapshot", "checkpoint")
	if err := os.Mkdir(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := s.Checkpoint(context.Background(), path); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		t.Fatal(err)
	}
	tables := 0
	for _, e := range entries {
		if ok, _ := filepath.Match("[0-9]*.sst", e.Name()); ok {
			tables++
			a, errA := os.Stat(filepath.Join(path, e.Name()))
			b, errB := os.Stat(filepath.Join(dir, e.Name()))
			if err := errors.Join(errA, errB); err != nil || !os.SameFile(a, b) {
				t.Errorf("%s is a copy: %v", e.Name(), err)
			}
			continue
		}
		known := false
		for _, pattern := range []string{"CURRENT", "MANIFEST-[0-9]*", "[0-9]*.log"} {
			ok, _ := filepath.Match(pattern, e.Name())
			known = known || ok
		}
		if !known {
			t.Errorf("the checkpoint has %s", e.Name())
		}
	}
	if tables != 3 {
		t.Errorf("%d tables, want one per family: rows are in a log", tables)
	}
	reading := open(t, path, rocks.Options{ReadOnly: true})
	if err := reading.Checkpoint(context.Background(), filepath.Join(dir, "other")); !errors.Is(err, storage.ErrReadOnly) {
		t.Errorf("a checkpoint of a read-only store: %v", err)
	}
}
