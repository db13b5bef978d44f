package snapshot

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"birthmark/model"
	"birthmark/storage"
)

// workName is the subfolder of a database with the files of Create. It is on the file system of the database, so that
// a checkpoint can be hard links.
const workName = "snapshot"

// Work is the exclusive right to create snapshots of a database.
type Work struct {
	dir  string
	lock *storage.FileLock
}

// BeginWork takes the right for the database in dir, and removes the files of a killed process. The error is of kind
// Refused (snapshot_running) if another process has it.
func BeginWork(dir, holder string) (*Work, error) {
	w := &Work{dir: filepath.Join(dir, workName)}
	if err := os.MkdirAll(w.dir, 0o755); err != nil {
		return nil, err
	}
	var err error
	if w.lock, err = storage.LockFile(filepath.Join(w.dir, "lock"), dir, holder); err != nil {
		if locked, ok := errors.AsType[*storage.LockedError](err); ok {
			return nil, model.Errorf(model.Refused, "snapshot_running", "a snapshot of %s is being created by %s", dir, locked.Holder)
		}
		return nil, err
	}
	if err := w.removeCheckpoint(); err != nil {
		return nil, errors.Join(err, w.lock.Release())
	}
	return w, nil
}

// CheckpointOf returns the path of the checkpoint of the database in dir.
func CheckpointOf(dir string) string { return filepath.Join(dir, workName, "checkpoint") }

// Checkpoint returns the path where the checkpoint of the database belongs.
func (w *Work) Checkpoint() string { return filepath.Join(w.dir, "checkpoint") }

func (w *Work) hashes() string { return filepath.Join(w.dir, "hashes") }

func (w *Work) removeCheckpoint() error {
	return errors.Join(os.RemoveAll(w.Checkpoint()), os.RemoveAll(w.Checkpoint()+".tmp")) // RocksDB renames the second
}

// End removes the checkpoint and releases the lock.
func (w *Work) End() error { return errors.Join(w.removeCheckpoint(), w.lock.Release()) }

// RemoveLeftover removes the checkpoint that a killed process left in the database in dir, which keeps the room of
// replaced tables. It does nothing while a snapshot is being created.
func RemoveLeftover(dir string) error {
	if _, err := os.Stat(CheckpointOf(dir)); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	w, err := BeginWork(dir, fmt.Sprintf("pid %d, since %s", os.Getpid(), time.Now().UTC().Format(time.RFC3339)))
	if _, code := model.KindOf(err); code == "snapshot_running" {
		return nil
	}
	if err != nil {
		return err
	}
	return w.End()
}
