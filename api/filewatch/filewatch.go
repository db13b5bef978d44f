// Package filewatch reads configuration files, such as API keys and certificates, again when they change, and warns about
// secrets that other users can read.
package filewatch

import (
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
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
	stamp  []stamp
	logged string // the last error
}

// stamp identifies the state of a file.
type stamp struct {
	modified time.Time
	size     int64
	file     os.FileInfo
}

// Watch reads the files.
func Watch[T any](log *slog.Logger, read func() (T, error), files ...string) (*File[T], error) {
	w := &File[T]{files: files, read: read, log: log}
	w.stamp = w.stamps() // before reading, so that a change during it is detected later
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
	now := w.stamps()
	if same(now, w.stamp) {
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
	w.stamp, w.logged = now, ""
	w.value.Store(&v)
	w.log.Info("file reloaded", "file", w.files[0])
}

func (w *File[T]) stamps() []stamp {
	all := make([]stamp, len(w.files))
	for i, name := range w.files {
		if info, err := os.Stat(name); err == nil {
			all[i] = stamp{info.ModTime(), info.Size(), info}
		}
	}
	return all
}

func same(a, b []stamp) bool {
	for i := range a {
		if (a[i].file == nil) != (b[i].file == nil) {
			return false
		}
		if a[i].file != nil && (!a[i].modified.Equal(b[i].modified) || a[i].size != b[i].size || !os.SameFile(a[i].file, b[i].file)) {
			return false
		}
	}
	return true
}
