package rocks

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"birthmark/storage"
)

const lockName = "birthmark.lock"

// lock is held by the process that has the database open for writing. The file contains [Options.Holder] and remains
// after the lock is released. The kernel releases the lock when the process ends.
type lock struct{ f *os.File }

func takeLock(dir, holder string) (*lock, error) {
	path := filepath.Join(dir, lockName)
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, fmt.Errorf("database folder is not writable: %w", err)
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		defer f.Close()
		if errors.Is(err, unix.EWOULDBLOCK) {
			text, _ := io.ReadAll(io.LimitReader(f, 1024))
			return nil, &storage.LockedError{Path: dir, Holder: strings.TrimSpace(string(text))}
		}
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	err = f.Truncate(0)
	if err == nil {
		_, err = f.WriteAt([]byte(holder+"\n"), 0)
	}
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("write %s: %w", path, err)
	}
	return &lock{f}, nil
}

func (l *lock) release() error {
	if l == nil {
		return nil
	}
	// Close alone releases the lock only after all copies of the descriptor are closed, and a child process that is
	// being started may have one.
	return errors.Join(unix.Flock(int(l.f.Fd()), unix.LOCK_UN), l.f.Close())
}
