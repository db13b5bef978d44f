package rocks_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"birthmark/internal/testrun"
	"birthmark/storage"
	"birthmark/storage/rocks"
)

// breakDatabase creates a folder that looks like a database.
func breakDatabase(t *testing.T, dir string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, "CURRENT"), []byte("MANIFEST-000099\n"), 0o644); err != nil {
		t.Fatal(err)
	}
}

// wantRefused checks that both ways of opening return an error with all texts.
func wantRefused(t *testing.T, dir string, texts ...string) {
	t.Helper()
	for _, readOnly := range []bool{false, true} {
		o := small(true)
		o.ReadOnly = readOnly
		s, err := rocks.Open(dir, o)
		if err == nil {
			s.Close()
			t.Errorf("read-only %t: %s opens", readOnly, dir)
			continue
		}
		for _, text := range texts {
			if !strings.Contains(err.Error(), text) {
				t.Errorf("read-only %t: %q does not name %q", readOnly, err, text)
			}
		}
	}
}

func names(t *testing.T, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func TestFolderWithOtherFilesIsRefused(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "letter.txt"), []byte("dear"), 0o644); err != nil {
		t.Fatal(err)
	}
	wantRefused(t, dir, dir, "letter.txt")
	if got := names(t, dir); len(got) != 1 || got[0] != "letter.txt" {
		t.Errorf("the folder now has %q", got)
	}
}

func TestPathUnderAFileIsRefused(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{file, filepath.Join(file, "db"), filepath.Join(file, "db", "deeper")} {
		wantRefused(t, path, path)
	}
}

func TestBrokenDatabaseIsRefused(t *testing.T) {
	testrun.Slow(t)
	dir := t.TempDir()
	breakDatabase(t, dir)
	wantRefused(t, dir, dir)
}

func TestOpenMakesTheFolder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "not", "there", "yet")
	s := open(t, dir, small(true))
	if err := declare(s, families); err != nil {
		t.Fatal(err)
	}
	if err := write(s, 1, families); err != nil {
		t.Fatal(err)
	}
}

// Files that a process may leave if it is killed while it creates a database.
func TestOpenGoesOnWithABeginning(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"LOCK", "LOG", "LOG.old.1700000000000000", "IDENTITY", "MANIFEST-000001", "000001.dbtmp", "birthmark.lock"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	open(t, dir, small(true))
}

func TestReadOnlyOfAMissingFolderLeavesItMissing(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "missing")
	_, err := rocks.Open(dir, rocks.Options{ReadOnly: true})
	if !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), dir) {
		t.Errorf("%v, want an error that names %s and is fs.ErrNotExist", err, dir)
	}
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the folder was created (%v)", err)
	}
}

func TestReadOnlyOfAnEmptyFolderLeavesItEmpty(t *testing.T) {
	dir := t.TempDir()
	if _, err := rocks.Open(dir, rocks.Options{ReadOnly: true}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v, want an error that is fs.ErrNotExist", err)
	}
	if got := names(t, dir); len(got) != 0 {
		t.Errorf("the folder has %q", got)
	}
}

func TestReadOnlyStoreCannotBeWritten(t *testing.T) {
	dir := t.TempDir()
	w := open(t, dir, small(true))
	if err := declare(w, families); err != nil {
		t.Fatal(err)
	}
	s := open(t, dir, rocks.Options{ReadOnly: true})
	ran := false
	err := s.Update(context.Background(), func(storage.Reader, storage.Batch) error {
		ran = true
		return nil
	})
	if !errors.Is(err, storage.ErrReadOnly) || ran {
		t.Errorf("Update: %v, ran %t; want storage.ErrReadOnly without running", err, ran)
	}
	if err := s.Compact(context.Background()); !errors.Is(err, storage.ErrReadOnly) {
		t.Errorf("Compact: %v, want storage.ErrReadOnly", err)
	}
}
