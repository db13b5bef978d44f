package rocks_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"birthmark/storage"
	"birthmark/storage/rocks"
)

func writeNote(s *rocks.Store, name, text string) error {
	return s.WriteSideFile(name, func(w io.Writer) error {
		_, err := io.WriteString(w, text)
		return err
	})
}

func wantNote(t *testing.T, s *rocks.Store, name, want string) {
	t.Helper()
	err := s.ReadSideFile(name, func(r io.Reader) error {
		got, err := io.ReadAll(r)
		if string(got) != want {
			t.Errorf("note %s has %d bytes, want the %d of %.20q…", name, len(got), len(want), want)
		}
		return err
	})
	if err != nil {
		t.Errorf("note %s: %v", name, err)
	}
}

func wantNoNote(t *testing.T, s *rocks.Store, name string) {
	t.Helper()
	err := s.ReadSideFile(name, func(io.Reader) error {
		t.Errorf("note %s is readable", name)
		return nil
	})
	if !errors.Is(err, storage.ErrNotFound) {
		t.Errorf("note %s: %v, want %v", name, err, storage.ErrNotFound)
	}
}

func TestSideFilesSurviveReopening(t *testing.T) {
	dir, long := t.TempDir(), strings.Repeat("a note that fills buffers ", 100_000)
	s := open(t, dir, small(true))
	wantNoNote(t, s, "one")
	for _, n := range [][2]string{{"one", "first"}, {"two", long}, {"one", "second"}, {"empty", ""}} {
		if err := writeNote(s, n[0], n[1]); err != nil {
			t.Fatal(err)
		}
		wantNote(t, s, n[0], n[1])
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	for _, readOnly := range []bool{false, true} {
		o := small(true)
		o.ReadOnly = readOnly
		s := open(t, dir, o)
		wantNote(t, s, "one", "second")
		wantNote(t, s, "two", long)
		wantNote(t, s, "empty", "")
		wantNoNote(t, s, "none")
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestFailedSideFileKeepsPreviousOne(t *testing.T) {
	dir, own := t.TempDir(), errors.New("own")
	s := open(t, dir, small(true))
	if err := writeNote(s, "one", "before"); err != nil {
		t.Fatal(err)
	}
	err := s.WriteSideFile("one", func(w io.Writer) error {
		if _, err := w.Write(make([]byte, 1<<20)); err != nil {
			return err
		}
		return own
	})
	if !errors.Is(err, own) {
		t.Errorf("WriteNote: %v, want %v", err, own)
	}
	wantNote(t, s, "one", "before")
	if left := names(t, filepath.Join(dir, "notes")); len(left) != 1 {
		t.Errorf("the notes are %q", left)
	}
	if err := s.ReadSideFile("one", func(io.Reader) error { return own }); err != own {
		t.Errorf("ReadNote: %v, want %v", err, own)
	}
}

// A file that a killed process did not complete.
func TestUnfinishedNoteIsClearedAway(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, small(true))
	if err := writeNote(s, "one", "whole"); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "notes", "one~"), []byte("hal"), 0o644); err != nil {
		t.Fatal(err)
	}
	s = open(t, dir, small(true))
	wantNote(t, s, "one", "whole")
	if left := names(t, filepath.Join(dir, "notes")); len(left) != 1 {
		t.Errorf("the notes are %q", left)
	}
}

func TestReadOnlyStoreRejectsSideFiles(t *testing.T) {
	dir := t.TempDir()
	w := open(t, dir, small(true))
	if err := writeNote(w, "one", "1"); err != nil {
		t.Fatal(err)
	}
	o := small(true)
	o.ReadOnly = true
	r := open(t, dir, o)
	if err := writeNote(r, "one", "2"); !errors.Is(err, storage.ErrReadOnly) {
		t.Errorf("WriteNote: %v, want %v", err, storage.ErrReadOnly)
	}
	wantNote(t, r, "one", "1")
}

func TestSideFilesOfClosedStore(t *testing.T) {
	s := open(t, t.TempDir(), small(true))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	read := s.ReadSideFile("one", func(io.Reader) error { return nil })
	for name, err := range map[string]error{"WriteNote": writeNote(s, "one", ""), "ReadNote": read} {
		if !errors.Is(err, storage.ErrClosed) {
			t.Errorf("%s: %v, want %v", name, err, storage.ErrClosed)
		}
	}
}

func TestNoteHasAPlainName(t *testing.T) {
	s := open(t, t.TempDir(), small(true))
	for _, name := range []string{"", ".", "..", "../CURRENT", "a/b", "a~", "a b"} {
		err := writeNote(s, name, "x")
		if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("%q", name)) {
			t.Errorf("a note called %q: %v, want an error that names it", name, err)
		}
	}
}

// A side file may contain secrets. Only the owner can read it, even if it replaces a file with another mode.
func TestSideFilesArePrivate(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, small(true))
	folder := filepath.Join(dir, "notes")
	if err := os.Mkdir(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"one", "one~", "two~"} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte("of an earlier version"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"one", "two", "three"} {
		if err := writeNote(s, name, "secret"); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(filepath.Join(folder, name))
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode().Perm() != 0o600 {
			t.Errorf("note %s has mode %v", name, info.Mode())
		}
	}
}
