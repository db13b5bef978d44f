package export

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"birthmark/storage"
)

// Folder holds the files of an export. Names are relative, with slashes. A file appears under its name as a whole.
type Folder interface {
	// Read returns a file. The error wraps [fs.ErrNotExist] if it is absent.
	Read(ctx context.Context, name string) ([]byte, error)

	// Replace durably stores what write writes. If it fails, the earlier file remains.
	Replace(ctx context.Context, name string, write func(io.Writer) error) error

	// Remove removes a file; it ignores an absent one.
	Remove(ctx context.Context, name string) error

	// List returns the names and sizes of all files, also of unfinished ones.
	List(ctx context.Context) (map[string]int64, error)
}

// LocalFolder is a folder of this machine.
type LocalFolder string

func (d LocalFolder) path(name string) string {
	return filepath.Join(string(d), filepath.FromSlash(name))
}

// lockName is the file that a process locks while it exports to a folder.
const lockName = ".lock"

// Lock creates the folder if needed and locks it until the lock is released. The error is of kind [model.Refused] (locked)
// if another process has the lock. holder is the name of this process.
func (d LocalFolder) Lock(holder string) (*storage.FileLock, error) {
	if err := os.MkdirAll(string(d), 0o755); err != nil {
		return nil, err
	}
	return storage.LockFile(d.path(lockName), string(d), fmt.Sprintf("pid %d, %s", os.Getpid(), holder))
}

// Read implements [Folder].
func (d LocalFolder) Read(_ context.Context, name string) ([]byte, error) {
	return os.ReadFile(d.path(name))
}

// Replace implements [Folder].
func (d LocalFolder) Replace(_ context.Context, name string, write func(io.Writer) error) error {
	path := d.path(name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return storage.ReplaceFile(path, 0o644, write)
}

// Remove implements [Folder]. It also removes the folder of the file if it is empty.
func (d LocalFolder) Remove(_ context.Context, name string) error {
	path := d.path(name)
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if dir := filepath.Dir(path); dir != filepath.Clean(string(d)) {
		_ = os.Remove(dir) // fails if it has other files
	}
	return nil
}

// List implements [Folder].
func (d LocalFolder) List(context.Context) (map[string]int64, error) {
	files := map[string]int64{}
	err := filepath.WalkDir(string(d), func(path string, e fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil || e.IsDir() {
			return err
		}
		info, err := e.Info()
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		name, relative := filepath.Rel(string(d), path)
		if err = errors.Join(err, relative); err == nil {
			files[filepath.ToSlash(name)] = info.Size()
		}
		return err
	})
	return files, err
}

// fileForm is the form of the names of finished files.
var fileForm = regexp.MustCompile(`^(` + strings.Join(Tables, "|") + `)/from=\d{9}/part(-\d{9})?\.(` + strings.Join(Formats, "|") + `)$`)

// IsFile reports whether a name is that of a finished file of an export.
func IsFile(name string) bool { return fileForm.MatchString(name) }

// owns reports whether a file is one of an export, finished or not, so that it can be removed.
func owns(name string) bool { return IsFile(strings.TrimSuffix(name, storage.UnfinishedSuffix)) }
