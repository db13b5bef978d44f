package rocks_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"birthmark/storage/rocks"
)

// limitedRole tries to open the database in a folder as a process that may open few files, and prints the error. It is
// a process of its own because a hard limit, once lowered, stays: not even root may raise it everywhere.
//
//	limited DIR
func limitedRole(args []string) error {
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: 256, Max: 256}); err != nil {
		return err
	}
	s, err := rocks.Open(args[0], small(true))
	if err == nil {
		return errors.Join(errors.New("the database opens with 256 files"), s.Close())
	}
	fmt.Println(err)
	return nil
}

// Trap 16: a limit of open files too small to work with is an error that says how many are needed.
func TestTooFewOpenFilesIsAnError(t *testing.T) {
	if got := start(t, "limited", t.TempDir()).line(); !strings.Contains(got, "256 files, at least 320") {
		t.Errorf("a limit of 256 files: %s", got)
	}
}
