// Package filewatch reads configuration files, such as API keys and certificates, again when they change, and warns about
// secrets that other users can read.
package filewatch

import (
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// checkInterval is the time between two checks for changes.
const checkInterval = 2 * time.Second

// File is a value read from files. It is read again when one of them changes; if that fails, the error is logged and the
// previous value stays.
type File[T any] struct {
	files []string
	read  func() (T, error)
	log   *slog.Logger

	value   atomic.Pointer[T]
	checked atomic.Int64 // Unix nanoseconds

	mu     sync.Mutex
	state  string // of the files when they were read
	logged string // the last error
}

// Watch reads the files.
func Watch[T any](log *slog.Logger, read func() (T, error), files ...string) (*File[T], error) {
	w := &File[T]{files: files, read: read, log: log}
	w.state = w.stat() // before reading, so that a change during it is detected later
	v, err := read()
	if err != nil {
		return nil, err
	}
	w.value.Store(&v)
	w.checked.Store(time.Now().UnixNano())
	return w, nil
}

// Value returns the value of the files.
func (w *File[T]) Value() T {
	if at := time.Now().UnixNano(); at-w.checked.Load() > int64(checkInterval) && w.mu.TryLock() {
		w.check()
		w.checked.Store(at)
		w.mu.Unlock()
	}
	return *w.value.Load()
}

// check reads the files again if they have changed. mu is held.
func (w *File[T]) check() {
	now := w.stat()
	if now == w.state {
		return
	}
	v, err := w.read()
	if err != nil {
		// Perhaps only one of two files has been written: retry until both can be read.
		if text := err.Error(); text != w.logged {
			w.logged = text
			w.log.Error("cannot reload file; keeping the previous version", "error", err)
		}
		return
	}
	w.state, w.logged = now, ""
	w.value.Store(&v)
	w.log.Info("file reloaded", "file", w.files[0])
}

// stat returns the times, sizes and inodes of the files.
func (w *File[T]) stat() string {
	var b strings.Builder
	for _, name := range w.files {
		var inode uint64
		if info, err := os.Stat(name); err == nil {
			if is, ok := info.Sys().(*syscall.Stat_t); ok {
				inode = is.Ino
			}
			fmt.Fprint(&b, info.ModTime().UnixNano(), info.Size(), inode)
		}
		b.WriteByte('\n')
	}
	return b.String()
}
