package snapshot

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync/atomic"
	"syscall"

	"golang.org/x/sys/unix"

	"birthmark/internal/humanize"
	"birthmark/model"
	"birthmark/storage"
)

// UnfinishedSuffix is appended to the folder of a database while it is restored.
const UnfinishedSuffix = ".restoring"

// RestoreOptions are the options of [Repository.Restore].
type RestoreOptions struct {
	Lock     string // the name of the lock file of databases, so that no process opens the folder
	Holder   string // describes this process
	Jobs     int    // 0: Jobs
	Progress func(done, total uint64)

	// Check opens the complete database in a folder and compares it with the manifest.
	Check func(folder string) error
}

// Restored is the result of [Repository.Restore].
type Restored struct {
	DownloadedFiles int
	DownloadedBytes int64
}

// Restore writes a snapshot into dir, which must not exist or be empty. It uses the files that an
// interrupted Restore of any snapshot left in the folder beside it. dir appears as a whole, after Check.
func (r *Repository) Restore(ctx context.Context, s *Snapshot, dir string, o RestoreOptions) (*Restored, error) {
	if err := mustBeEmpty(dir); err != nil {
		return nil, err
	}
	folder := filepath.Clean(dir) + UnfinishedSuffix
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return nil, err
	}
	lock, err := storage.LockFile(filepath.Join(folder, o.Lock), folder, o.Holder)
	if locked, ok := errors.AsType[*storage.LockedError](err); ok {
		return nil, model.Errorf(model.Refused, "locked", "%s is being restored by %s", dir, locked.Holder)
	}
	if err != nil {
		return nil, err
	}
	defer lock.Release()
	u := &restoration{repository: r, snapshot: s, folder: folder, o: o}
	if err := u.prepare(); err != nil {
		return nil, err
	}
	jobs := o.Jobs
	if jobs == 0 {
		jobs = Jobs
	}
	if err := parallel(ctx, len(s.Files), jobs, u.fetch); err != nil {
		return nil, err
	}
	if err := u.complete(); err != nil {
		return nil, err
	}
	if err := o.Check(folder); err != nil {
		// The folder must not be a database that somebody opens.
		return nil, errors.Join(err, os.Remove(filepath.Join(folder, currentName)))
	}
	if err := unix.Rename(folder, dir); err != nil { // os.Rename does not replace an empty folder
		return nil, fmt.Errorf("the snapshot is complete in %s and was not moved: %w", folder, err)
	}
	return &Restored{int(u.files.Load()), u.bytes.Load()}, storage.SyncFolder(filepath.Dir(filepath.Clean(dir)))
}

func mustBeEmpty(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil && len(entries) > 0 {
		err = model.Errorf(model.Refused, "not_empty", "%s is not empty (%s): restore into a new folder", dir, entries[0].Name())
	}
	return err
}

// restoration is a running Restore.
type restoration struct {
	repository *Repository
	snapshot   *Snapshot
	folder     string
	o          RestoreOptions

	done, bytes, files atomic.Int64
}

// unfinishedCurrent is the name of CURRENT until all other files are complete.
const unfinishedCurrent = currentName + storage.UnfinishedSuffix

// path returns the path that a file is fetched to.
func (u *restoration) path(f File) string {
	if f.Name == currentName {
		return filepath.Join(u.folder, unfinishedCurrent)
	}
	return filepath.Join(u.folder, f.Name)
}

// prepare removes files that do not belong to the snapshot, and checks the free room.
func (u *restoration) prepare() error {
	wanted := map[string]File{}
	for _, f := range u.snapshot.Files {
		wanted[filepath.Base(u.path(f))] = f
	}
	entries, err := os.ReadDir(u.folder)
	if err != nil {
		return err
	}
	need := u.snapshot.Bytes
	for _, e := range entries {
		f, ok := wanted[e.Name()]
		info, err := e.Info()
		if err != nil {
			return err
		}
		switch {
		case e.Name() == u.o.Lock:
		case !ok || !info.Mode().IsRegular():
			if err := os.RemoveAll(filepath.Join(u.folder, e.Name())); err != nil {
				return err
			}
		default:
			need -= min(info.Size(), f.Size)
		}
	}
	var fs unix.Statfs_t
	if err := unix.Statfs(u.folder, &fs); err == nil {
		if free := int64(fs.Bavail) * int64(fs.Bsize); free < need {
			return fmt.Errorf("restoring snapshot %s needs %s more, and %s has %s free: %w", u.snapshot.Name, humanize.Bytes(need),
				u.folder, humanize.Bytes(free), syscall.ENOSPC)
		}
	}
	return nil
}

// fetch brings file i into the folder. A part of it that is there already is not read again.
func (u *restoration) fetch(ctx context.Context, i int) (err error) {
	f := u.snapshot.Files[i]
	file, err := os.OpenFile(u.path(f), os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	d := &download{file: file, sum: sha256.New(), of: f}
	if err := d.resume(ctx); err != nil {
		return err
	}
	kept := d.size
	u.advance(d.size)
	for {
		err = retry(ctx, func() error { return u.download(ctx, d) })
		if err != nil {
			return err
		}
		if d.complete() {
			break
		}
		if kept == 0 {
			return damaged("file %s of snapshot %s (%s) has SHA-256 %x with %d bytes, expected %s with %d", f.Name, u.snapshot.Name,
				f.stored(), d.sum.Sum(nil), d.size, f.SHA256, f.Size)
		}
		u.advance(-d.size) // the part that was there belonged to another file
		if err := d.reset(); err != nil {
			return err
		}
		kept = 0
	}
	if d.size > kept {
		u.files.Add(1)
	}
	return file.Sync()
}

// download reads the rest of a file.
func (u *restoration) download(ctx context.Context, d *download) error {
	if d.size == d.of.Size {
		return nil
	}
	r, err := u.repository.storage.Open(ctx, u.repository.prefix+d.of.stored(), d.size)
	if errors.Is(err, fs.ErrNotExist) {
		return damaged("file %s of snapshot %s is missing (%s)", d.of.Name, u.snapshot.Name, d.of.stored())
	}
	if err != nil {
		return err
	}
	defer r.Close()
	_, err = io.Copy(writerFunc(func(b []byte) (int, error) {
		n, err := d.Write(b)
		u.advance(int64(n))
		u.bytes.Add(int64(n))
		return n, err
	}), io.LimitReader(reader{ctx, r}, d.of.Size-d.size))
	return err
}

func (u *restoration) advance(n int64) {
	done := u.done.Add(n)
	if u.o.Progress != nil {
		u.o.Progress(uint64(max(0, min(done, u.snapshot.Bytes))), uint64(u.snapshot.Bytes))
	}
}

// complete makes the folder a database: all files are there and checked.
func (u *restoration) complete() error {
	if err := storage.SyncFolder(u.folder); err != nil {
		return err
	}
	if err := os.Rename(filepath.Join(u.folder, unfinishedCurrent), filepath.Join(u.folder, currentName)); err != nil {
		return err
	}
	return storage.SyncFolder(u.folder)
}

// download is a file whose first bytes are written.
type download struct {
	file *os.File
	sum  hash.Hash
	size int64 // written and hashed
	of   File
}

// resume hashes the content of the file. It starts over if that cannot be a part of the file.
func (d *download) resume(ctx context.Context) error {
	n, err := io.Copy(d.sum, reader{ctx, io.LimitReader(d.file, d.of.Size+1)})
	if d.size = n; err != nil {
		return err
	}
	if n > d.of.Size || n == d.of.Size && !d.complete() {
		return d.reset()
	}
	return nil
}

func (d *download) reset() error {
	d.sum.Reset()
	d.size = 0
	_, err := d.file.Seek(0, io.SeekStart)
	return errors.Join(err, d.file.Truncate(0))
}

// Write implements [io.Writer].
func (d *download) Write(b []byte) (int, error) {
	n, err := d.file.Write(b)
	d.sum.Write(b[:n])
	d.size += int64(n)
	return n, err
}

func (d *download) complete() bool {
	return d.size == d.of.Size && hex.EncodeToString(d.sum.Sum(nil)) == d.of.SHA256
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(b []byte) (int, error) { return f(b) }
