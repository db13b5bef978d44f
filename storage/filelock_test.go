package storage

import (
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// A child process that is started during Close has a copy of the descriptor until it executes its program.
func TestLockIsReleasedDespiteInheritedDescriptor(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	l, err := LockFile(path, "a", "first")
	if err != nil {
		t.Fatal(err)
	}
	copied, err := unix.Dup(int(l.f.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(copied)
	if err := l.Release(); err != nil {
		t.Fatal(err)
	}
	if l, err = LockFile(path, "a", "second"); err != nil {
		t.Fatal(err)
	}
	if err := l.Release(); err != nil {
		t.Fatal(err)
	}
}
