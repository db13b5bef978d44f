package target

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"birthmark/storage"
)

// unfinishedName is the subfolder with files that are being written.
const unfinishedName = "unfinished"

// unfinishedAge is the age at which such a file is left over: its process was killed.
const unfinishedAge = 24 * time.Hour

// folder is storage in a folder of this machine.
type folder struct {
	root string
	tidy sync.Once
}

func newFolder(path string) (Target, error) {
	if path == "" {
		return nil, badURL("the URL of a snapshot storage is empty: expected a folder, s3://BUCKET/PREFIX or https://HOST/PATH")
	}
	return &folder{root: filepath.Clean(path)}, nil
}

func (d *folder) String() string { return d.root }

func (d *folder) path(name string) (string, error) {
	return filepath.Join(d.root, filepath.FromSlash(name)), checkName(name)
}

// Open implements [Target].
func (d *folder) Open(_ context.Context, name string, from int64) (io.ReadCloser, error) {
	path, err := d.path(name)
	if err != nil {
		return nil, err
	}
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK, 0) // does not wait for the writer of a pipe
	if err != nil {
		return nil, err
	}
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, errors.Join(cmp.Or(err, fmt.Errorf("%s is not a regular file", path)), f.Close())
	}
	if _, err := f.Seek(from, io.SeekStart); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// Put implements [Target]. The file is on disk when it returns.
func (d *folder) Put(ctx context.Context, name string, c Content) error {
	return d.store(ctx, name, c, os.Rename)
}

// Create implements [Target].
func (d *folder) Create(ctx context.Context, name string, c Content) error {
	return d.store(ctx, name, c, func(from, to string) error {
		if err := os.Link(from, to); err != nil {
			return err
		}
		return os.Remove(from)
	})
}

// store writes a file under another name, and moves it.
func (d *folder) store(ctx context.Context, name string, c Content, move func(from, to string) error) (err error) {
	path, err := d.path(name)
	if err != nil {
		return err
	}
	unfinished := filepath.Join(d.root, unfinishedName)
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.MkdirAll(unfinished, 0o755)); err != nil {
		return err
	}
	d.tidy.Do(func() { removeLeftover(unfinished) })
	f, err := os.CreateTemp(unfinished, filepath.Base(path)+"-*") // unique: several processes may store the same file
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(f.Name()))
		}
	}()
	sum := sha256.New()
	_, err = c.Bytes.Seek(0, io.SeekStart)
	if err == nil {
		_, err = io.Copy(io.MultiWriter(f, sum), contextReader{ctx, c.Bytes})
	}
	if err == nil && [32]byte(sum.Sum(nil)) != c.SHA256 {
		err = fmt.Errorf("store %s: %w", name, ErrChanged)
	}
	if err == nil {
		err = f.Chmod(0o644)
	}
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	if err = move(f.Name(), path); err != nil {
		return err
	}
	return storage.SyncFolder(filepath.Dir(path))
}

// removeLeftover removes old files from the folder of unfinished ones. Failures only waste room.
func removeLeftover(unfinished string) {
	entries, _ := os.ReadDir(unfinished)
	for _, e := range entries {
		if info, err := e.Info(); err == nil && time.Since(info.ModTime()) > unfinishedAge {
			_ = os.Remove(filepath.Join(unfinished, e.Name()))
		}
	}
}

// List implements [Target].
func (d *folder) List(ctx context.Context, under string) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		path, err := d.path(under)
		if err != nil {
			yield(Entry{}, err)
			return
		}
		err = filepath.WalkDir(path, func(path string, e fs.DirEntry, err error) error {
			if errors.Is(err, fs.ErrNotExist) {
				return nil // the folder, or a file that was removed in the meantime
			}
			if err != nil || e.IsDir() {
				return errors.Join(err, ctx.Err())
			}
			info, err := e.Info()
			if errors.Is(err, fs.ErrNotExist) {
				return nil
			}
			name := filepath.ToSlash(strings.TrimPrefix(path, d.root+string(filepath.Separator)))
			if err != nil || !yield(Entry{name, info.Size(), info.ModTime()}, nil) {
				return errors.Join(err, fs.SkipAll)
			}
			return nil
		})
		if err != nil && !errors.Is(err, fs.SkipAll) {
			yield(Entry{}, err)
		}
	}
}

// Folders implements [Target].
func (d *folder) Folders(context.Context) (names []string, err error) {
	entries, err := os.ReadDir(d.root)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, e := range entries {
		if e.IsDir() && checkName(e.Name()) == nil {
			names = append(names, e.Name())
		}
	}
	return names, err
}

// Remove implements [Target].
func (d *folder) Remove(_ context.Context, name string) error {
	path, err := d.path(name)
	if err == nil {
		err = os.Remove(path)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// contextReader is a reader that ends with its context.
type contextReader struct {
	ctx context.Context
	r   io.Reader
}

func (r contextReader) Read(b []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.r.Read(b)
}
