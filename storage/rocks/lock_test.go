package rocks_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"birthmark/storage"
	"birthmark/storage/rocks"
)

// holderRole opens the database in a folder, prints a line and keeps it open.
func holderRole(args []string) error {
	o := small(true)
	o.Holder = "another process, called " + args[1]
	s, err := rocks.Open(args[0], o)
	if err != nil {
		return err
	}
	defer s.Close()
	fmt.Println("ready")
	select {}
}

func wantLocked(t *testing.T, dir, holder string) {
	t.Helper()
	s, err := rocks.Open(dir, small(true))
	if err == nil {
		s.Close()
		t.Fatal("a second writer opens the database")
	}
	var locked *storage.LockedError
	if !errors.As(err, &locked) || locked.Path != dir || locked.Holder != holder {
		t.Fatalf("a second writer gets %#v, want a *storage.LockedError with path %q and holder %q", err, dir, holder)
	}
	if text := err.Error(); !strings.Contains(text, dir) || !strings.Contains(text, holder) {
		t.Errorf("%q does not name folder and holder", text)
	}
}

func TestSecondWriterErrorNamesFirst(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, small(true))
	wantLocked(t, dir, "the tests")
	wantLocked(t, dir, "the tests") // a rejected open changes nothing
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	open(t, dir, small(true))
}

func TestLockHoldsBetweenProcessesAndEndsWithThem(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a long name that the next one does not fill", "b"} {
		c := start(t, "holder", dir, name)
		if got := c.line(); got != "ready" {
			t.Fatal(got)
		}
		wantLocked(t, dir, "another process, called "+name)
		c.kill()
		s := open(t, dir, small(true))
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestLockIsGivenBackWhenOpeningFails(t *testing.T) {
	dir := t.TempDir()
	breakDatabase(t, dir)
	for range 2 {
		_, err := rocks.Open(dir, small(true))
		var locked *storage.LockedError
		if err == nil || errors.As(err, &locked) {
			t.Fatalf("opening a broken database: %v, want another error than a lock", err)
		}
	}
}
