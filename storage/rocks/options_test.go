package rocks

import (
	"testing"

	"golang.org/x/sys/unix"
)

// The limit of open files is that of the process, raised to its maximum, minus the files that the rest of the process
// needs.
func TestOpenFilesFollowTheProcessLimit(t *testing.T) {
	var was unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &was); err != nil {
		t.Fatal(err)
	}
	if was.Max < 2*spareFiles {
		t.Skipf("the limit of open files is %d, the test needs %d", was.Max, 2*spareFiles)
	}
	set := func(limit unix.Rlimit) {
		t.Helper()
		if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
			t.Skipf("cannot set the limit of open files: %v", err)
		}
	}
	defer set(was)

	set(unix.Rlimit{Cur: spareFiles, Max: was.Max})
	n, caches, err := maxOpenFiles("", 0, false)
	if want := min(was.Max-spareFiles-uint64(caches), 1<<20); err != nil || uint64(n) != want {
		t.Errorf("%d open files (%v) with a limit of %d, expected %d", n, err, was.Max, want)
	}
	var now unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &now); err != nil || now.Cur != was.Max {
		t.Errorf("the limit is %d (%v), it could be raised to %d", now.Cur, err, was.Max)
	}
	if n, _, err := maxOpenFiles("", 3, true); err != nil || n != -1 {
		t.Errorf("a reader may open %d files (%v), expected all", n, err)
	}
}
