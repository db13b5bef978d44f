package storage

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// FileLock is a lock that a process holds on a file. The file contains a description of the holder and remains after
// the lock is released. The kernel releases the lock when the process ends.
type FileLock struct{ f *os.File }

// LockFile locks a file, and creates it if needed. The error is a [*LockedError] of the name if another process holds
// the lock.
func LockFile(path, name, holder string) (*FileLock, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, fmt.Errorf("folder %s is not writable: %w", filepath.Dir(path), err)
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		defer f.Close()
		if errors.Is(err, unix.EWOULDBLOCK) {
			text, _ := io.ReadAll(io.LimitReader(f, 1024))
			return nil, &LockedError{Path: name, Holder: strings.TrimSpace(string(text))}
		}
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	l := &FileLock{f}
	if err = f.Truncate(0); err == nil {
		_, err = f.WriteAt([]byte(holder+"\n"), 0)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("write %s: %w", path, err), l.Release())
	}
	return l, nil
}

// Release releases the lock, which may be nil.
func (l *FileLock) Release() error {
	if l == nil {
		return nil
	}
	// Close alone releases the lock only after all copies of the descriptor are closed, and a child process that is
	// being started may have one.
	return errors.Join(unix.Flock(int(l.f.Fd()), unix.LOCK_UN), l.f.Close())
}
