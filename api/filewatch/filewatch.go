package filewatch

import (
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// lookEvery is how old what was read from a file may be, once the file has changed.
const lookEvery = 2 * time.Second

// File is what was read from files, and is read again when they change. A change that cannot be read is logged, and what
// was read before stays.
type File[T any] struct {
	files []string
	read  func() (T, error)
	log   *slog.Logger

	value  atomic.Pointer[T]
	looked atomic.Int64 // when, in nanoseconds

	mu    sync.Mutex
	stamp []stamp
	fault string // the last that was logged
}

// stamp tells one state of a file from another.
type stamp struct {
	changed time.Time
	size    int64
	file    os.FileInfo
}

// Watch reads the files for the first time.
func Watch[T any](log *slog.Logger, read func() (T, error), files ...string) (*File[T], error) {
	w := &File[T]{files: files, read: read, log: log}
	w.stamp = w.stamps() // before they are read: what changes meanwhile is seen later
	v, err := read()
	if err != nil {
		return nil, err
	}
	w.value.Store(&v)
	w.looked.Store(time.Now().UnixNano())
	return w, nil
}

// Value is what the files say, or said last.
func (w *File[T]) Value() T {
	if at := time.Now().UnixNano(); at-w.looked.Load() > int64(lookEvery) && w.mu.TryLock() {
		w.look()
		w.looked.Store(at)
		w.mu.Unlock()
	}
	return *w.value.Load()
}

// look reads the files again where they have changed. mu is held.
func (w *File[T]) look() {
	now := w.stamps()
	if same(now, w.stamp) {
		return
	}
	v, err := w.read()
	if err != nil {
		// Perhaps one of two files was written so far: it is tried again until they can be read.
		if text := err.Error(); text != w.fault {
			w.fault = text
			w.log.Error("a changed file cannot be used: what it said before counts", "error", err)
		}
		return
	}
	w.stamp, w.fault = now, ""
	w.value.Store(&v)
	w.log.Info("a file has changed and was read again", "file", w.files[0])
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
		if a[i].file != nil && (!a[i].changed.Equal(b[i].changed) || a[i].size != b[i].size || !os.SameFile(a[i].file, b[i].file)) {
			return false
		}
	}
	return true
}
