package rocks

import (
	"testing"

	"golang.org/x/sys/unix"
)

// A child process that is started during Close has a copy of the descriptor until it executes its program.
func TestLockIsGivenBackDespiteCopiesOfTheDescriptor(t *testing.T) {
	dir := t.TempDir()
	l, err := takeLock(dir, "first")
	if err != nil {
		t.Fatal(err)
	}
	copied, err := unix.Dup(int(l.f.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(copied)
	if err := l.release(); err != nil {
		t.Fatal(err)
	}
	if l, err = takeLock(dir, "second"); err != nil {
		t.Fatal(err)
	}
	if err := l.release(); err != nil {
		t.Fatal(err)
	}
}
