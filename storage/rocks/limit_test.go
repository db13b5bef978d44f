package rocks_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"birthmark/storage/rocks"
)

// limitedRole opens the database in a folder with a limit of n open files and prints the error. It is a separate
// process because a hard limit cannot be raised again.
//
//	limited DIR N to-read|to-write
func limitedRole(args []string) error {
	n, err := strconv.ParseUint(args[1], 10, 64)
	if err != nil {
		return err
	}
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: n, Max: n}); err != nil {
		return err
	}
	o := small(true)
	o.ReadOnly = args[2] == "to-read"
	s, err := rocks.Open(args[0], o)
	if err == nil {
		fmt.Println("it opens")
		return s.Close()
	}
	fmt.Println(err)
	return nil
}

// A limit of open files that is too low is an error that contains the required number.
func TestTooFewOpenFilesIsAnError(t *testing.T) {
	if got := start(t, "limited", t.TempDir(), "256", "to-write").line(); !strings.Contains(got, "is 256, at least 320") {
		t.Errorf("a limit of 256 files: %s", got)
	}
}

// A read-only store opens every table. It counts them before it opens the first one.
func TestAReaderCountsTheTablesItHasToOpen(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, small(true))
	if err := declare(s, 1); err != nil {
		t.Fatal(err)
	}
	fill(t, s, 0, 10)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	for n := range 300 { // RocksDB ignores tables that are not in its manifest
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("9%05d.sst", n)), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	tables, err := filepath.Glob(filepath.Join(dir, "*.sst"))
	if err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf("cannot open all %d tables of %s for reading: the limit of open files is 340, at least %d are needed: "+
		"raise it (ulimit -n %[3]d,", len(tables), dir, len(tables)+64)
	if got := start(t, "limited", dir, "340", "to-read").line(); !strings.Contains(got, want) {
		t.Errorf("got %s, expected %s", got, want)
	}
	if got := start(t, "limited", dir, "400", "to-read").line(); got != "it opens" {
		t.Errorf("a limit of 400 files: %s", got)
	}
}
