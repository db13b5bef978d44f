package snapshot

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"birthmark/internal/snapshot/target"
)

// Jobs is the default number of files that are transferred at the same time.
const Jobs = 8

// A file in the repository that the newest snapshot does not contain is only used again if it is younger than
// reuseWithin, and only removed if it is older than removeAfter. So Prune on another machine does not remove a file that
// a running Create counts on.
const (
	reuseWithin = 12 * time.Hour
	removeAfter = 24 * time.Hour
)

// CreateOptions are the options of [Repository.Create].
type CreateOptions struct {
	Work     *Work       // of the database
	Key      *SigningKey // nil: the snapshot is not signed
	Jobs     int         // 0: Jobs
	Progress func(done, total uint64)
}

// Created is the result of [Repository.Create].
type Created struct {
	Name          string
	Manifest      *Manifest
	UploadedFiles int
	UploadedBytes int64
}

// Create stores the checkpoint of a database. m describes it; its files are added. The snapshot appears as a whole, and
// becomes the latest one.
func (r *Repository) Create(ctx context.Context, checkpoint string, m Manifest, o CreateOptions) (*Created, error) {
	c := &creation{repository: r, folder: checkpoint, o: o}
	var err error
	if c.hashes, err = openHashes(o.Work.hashes()); err != nil {
		return nil, err
	}
	defer c.hashes.close()
	if err := c.list(); err != nil {
		return nil, err
	}
	if err := c.listPresent(ctx); err != nil {
		return nil, err
	}
	jobs := o.Jobs
	if jobs == 0 {
		jobs = Jobs
	}
	if err := parallel(ctx, len(c.files), jobs, c.store); err != nil {
		return nil, err
	}
	m.Version, m.Files, m.Bytes = manifestVersion, c.files, c.total
	name, text, err := m.encode()
	if err != nil {
		return nil, err
	}
	if err := m.check(); err != nil {
		return nil, fmt.Errorf("the checkpoint of the database: %w", err)
	}
	if o.Key != nil {
		signature, err := o.Key.sign(name, text)
		if err != nil {
			return nil, err
		}
		if err := r.write(ctx, snapshotsFolder+"/"+name+signatureSuffix, signature); err != nil {
			return nil, err
		}
	}
	if err := r.write(ctx, snapshotsFolder+"/"+name+manifestSuffix, text); err != nil {
		return nil, err
	}
	if err := c.storeMissing(ctx); err != nil {
		return nil, err
	}
	if err := r.writeLatest(ctx, name); err != nil {
		return nil, err
	}
	if err := c.hashes.keep(checkpoint); err != nil {
		return nil, err
	}
	return &Created{name, &m, int(c.uploadedFiles.Load()), c.uploadedBytes.Load()}, nil
}

// writeLatest makes a snapshot the latest one.
func (r *Repository) writeLatest(ctx context.Context, name string) error {
	names, err := r.names(ctx)
	if err != nil {
		return err
	}
	text, err := (&latest{name, names}).encode()
	if err != nil {
		return err
	}
	return r.write(ctx, latestName, text)
}

// creation is a running Create.
type creation struct {
	repository *Repository
	folder     string // of the checkpoint
	o          CreateOptions
	hashes     *hashes
	files      []File
	total      int64
	present    map[string]int64 // size of files in the repository by SHA-256

	done          atomic.Int64
	uploadedFiles atomic.Int64
	uploadedBytes atomic.Int64
}

// list collects the files of the checkpoint. RocksDB's file of options is left out: it is not needed and has paths of
// this machine.
func (c *creation) list() error {
	entries, err := os.ReadDir(c.folder)
	if err != nil {
		return err
	}
	for _, e := range entries {
		switch name := e.Name(); {
		case strings.HasPrefix(name, "OPTIONS-"):
			continue
		case !fileForm.MatchString(name):
			return fmt.Errorf("the checkpoint has %s, which is not a file of a database", name)
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		c.files = append(c.files, File{Name: e.Name(), Size: info.Size()})
		c.total += info.Size()
	}
	slices.SortFunc(c.files, func(a, b File) int { return strings.Compare(a.Name, b.Name) })
	return nil
}

// listPresent collects the files in the repository that need no upload.
func (c *creation) listPresent(ctx context.Context) error {
	newest := map[string]bool{}
	s, err := c.repository.Find(ctx, "", nil)
	if err == nil {
		for _, f := range s.Files {
			newest[f.SHA256] = true
		}
	}
	c.present = map[string]int64{}
	since := time.Now().Add(-reuseWithin)
	for e, err := range c.repository.storage.List(ctx, c.repository.prefix+filesFolder) {
		if errors.Is(err, target.ErrNoList) {
			return badTarget(c.repository)
		}
		if err != nil {
			return err
		}
		if sum := e.Name[strings.LastIndexByte(e.Name, '/')+1:]; newest[sum] || e.Time.After(since) {
			c.present[sum] = e.Size
		}
	}
	return ctx.Err()
}

// store hashes file i and uploads it if the repository lacks it.
func (c *creation) store(ctx context.Context, i int) error {
	f := &c.files[i]
	size, sum, err := c.hashes.of(ctx, filepath.Join(c.folder, f.Name))
	if err != nil {
		return err
	}
	if size != f.Size {
		return fmt.Errorf("file %s of the checkpoint changed from %d to %d bytes", f.Name, f.Size, size)
	}
	f.SHA256 = sum
	if have, ok := c.present[sum]; ok && have == size {
		c.advance(size)
		return nil
	}
	return c.upload(ctx, f)
}

func (c *creation) upload(ctx context.Context, f *File) error {
	file, err := os.Open(filepath.Join(c.folder, f.Name))
	if err != nil {
		return err
	}
	defer file.Close()
	sum, err := hex.DecodeString(f.SHA256)
	if err != nil {
		return err
	}
	counted := &counting{r: file, add: c.advance}
	err = c.repository.storage.Put(ctx, c.repository.prefix+f.stored(), target.Content{Bytes: counted, Size: f.Size, SHA256: [32]byte(sum)})
	if errors.Is(err, target.ErrChanged) {
		return fmt.Errorf("file %s was read twice with different content: check the disk, and delete %s: %w", f.Name, c.hashes.path, err)
	}
	if err != nil {
		return err
	}
	c.uploadedFiles.Add(1)
	c.uploadedBytes.Add(f.Size)
	return nil
}

func (c *creation) advance(n int64) {
	done := c.done.Add(n)
	if c.o.Progress != nil {
		c.o.Progress(uint64(max(0, min(done, c.total))), uint64(c.total))
	}
}

// storeMissing uploads files of the snapshot that were removed from the repository since they were found or stored.
func (c *creation) storeMissing(ctx context.Context) error {
	have := map[string]int64{}
	for e, err := range c.repository.storage.List(ctx, c.repository.prefix+filesFolder) {
		if err != nil {
			return err
		}
		have[e.Name[strings.LastIndexByte(e.Name, '/')+1:]] = e.Size
	}
	for i := range c.files {
		f := &c.files[i]
		if size, ok := have[f.SHA256]; ok && size == f.Size {
			continue
		}
		if err := c.upload(ctx, f); err != nil {
			return err
		}
	}
	return nil
}

// counting is a reader that counts its bytes. If it starts over, it takes them back.
type counting struct {
	r    io.ReadSeeker
	add  func(int64)
	read int64
}

// Read implements [io.Reader].
func (c *counting) Read(b []byte) (int, error) {
	n, err := c.r.Read(b)
	c.read += int64(n)
	c.add(int64(n))
	return n, err
}

// Seek implements [io.Seeker].
func (c *counting) Seek(offset int64, whence int) (int64, error) {
	at, err := c.r.Seek(offset, whence)
	if err == nil {
		c.add(at - c.read)
		c.read = at
	}
	return at, err
}
