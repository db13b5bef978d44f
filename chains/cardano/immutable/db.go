package immutable

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"sync"

	"birthmark/chains/adapter"
	"birthmark/model"
)

// DB is an immutable database, or one chunk of it. It keeps no file open, and is safe for concurrent use.
type DB struct {
	path    string
	folder  bool
	content []byte                  // of the one chunk, if it was compressed
	walked  func() ([]Entry, error) // entries of the one chunk, which has no index: it reads all of it

	mu          sync.Mutex
	first, last int // numbers of the chunks; none is missing between them
	seen        sizes
}

// sizes are the sizes of the newest chunk's files at the last check.
type sizes struct {
	chunk int
	bytes int64
	index int64 // -1 if there is none
}

var chunkName = regexp.MustCompile(`^(\d{5,})\.chunk$`)

// Open opens a node's folder immutable, or a file that is one chunk, plain or compressed with zstd. Errors are of kind
// [model.BadSource]: source_missing, source_unreadable, source_empty (no chunks), missing_chunk, and for a file
// bad_chunk and bad_zstd.
func Open(path string) (*DB, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, adapter.PathError(path, err)
	}
	d := &DB{path: path, folder: info.IsDir()}
	switch {
	case d.folder:
		if d.first, d.last, err = listChunks(path); err != nil {
			return nil, err
		}
	case info.Mode().IsRegular():
		if m := chunkName.FindStringSubmatch(filepath.Base(path)); m != nil {
			d.first, _ = strconv.Atoi(m[1]) // 0 if it is out of range
		}
		d.last = d.first
		if err := d.openFile(); err != nil {
			return nil, err
		}
		d.walked = sync.OnceValues(func() ([]Entry, error) {
			entries, _, err := d.load(d.first)
			return entries, err
		})
	default:
		return nil, model.Errorf(model.BadSource, "source_unreadable", "%s is neither a folder nor a file", path)
	}
	d.seen, err = d.look(d.last)
	return d, err
}

// openFile opens the file that is the database: it uncompresses it, and checks that it starts with a block.
func (d *DB) openFile() error {
	content, err := unzstd(d.path)
	if err != nil {
		return err
	}
	d.content = content
	c, err := d.open(d.first)
	if err != nil {
		return err
	}
	defer c.close()
	if c.size == 0 {
		return model.Errorf(model.BadSource, "source_empty", "%s is empty: expected a chunk of blocks", d.path)
	}
	if _, err := c.era(); err != nil {
		return model.Errorf(model.BadSource, "bad_chunk", "%s is not a chunk: %w", d.path, err)
	}
	return nil
}

// listChunks returns the first and the last number of the chunks in a folder.
func listChunks(path string) (first, last int, err error) {
	files, err := os.ReadDir(path)
	if err != nil {
		return 0, 0, adapter.PathError(path, err)
	}
	var numbers []int
	for _, f := range files {
		if m := chunkName.FindStringSubmatch(f.Name()); m != nil {
			if n, err := strconv.Atoi(m[1]); err == nil {
				numbers = append(numbers, n)
			}
		}
	}
	if len(numbers) == 0 {
		hint := ""
		for _, sub := range []string{"immutable", filepath.Join("db", "immutable")} {
			if inside, err := os.Stat(filepath.Join(path, sub)); err == nil && inside.IsDir() {
				hint = fmt.Sprintf("; its subfolder %s may be meant", filepath.ToSlash(sub))
			}
		}
		return 0, 0, model.Errorf(model.BadSource, "source_empty", "folder %s holds no *.chunk: expected a node's db/immutable%s", path, hint)
	}
	slices.Sort(numbers)
	for i, n := range numbers[1:] {
		if n != numbers[i]+1 {
			return 0, 0, model.Errorf(model.BadSource, "missing_chunk", "folder %s has %s and %s, but no %s",
				path, fileName(numbers[i], chunkSuffix), fileName(n, chunkSuffix), fileName(numbers[i]+1, chunkSuffix))
		}
	}
	return numbers[0], numbers[len(numbers)-1], nil
}

// Refresh checks whether a node has written since the last call, and reports whether there may be more blocks.
// [DB.Entries] then continues at [Entry.Next] of the last entry.
func (d *DB) Refresh(ctx context.Context) (changed bool, err error) {
	if !d.folder {
		return false, nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	for {
		if err := ctx.Err(); err != nil {
			return false, err
		}
		_, err := os.Stat(d.file(d.last+1, chunkSuffix))
		if errors.Is(err, fs.ErrNotExist) {
			break
		}
		if err != nil {
			return false, adapter.PathError(d.file(d.last+1, chunkSuffix), err)
		}
		d.last++
	}
	now, err := d.look(d.last)
	if err != nil {
		return false, err
	}
	changed = now != d.seen
	d.seen = now
	return changed, nil
}

func (d *DB) look(chunk int) (sizes, error) {
	s := sizes{chunk: chunk, index: -1}
	path := d.file(chunk, chunkSuffix)
	info, err := os.Stat(path)
	if err != nil {
		return s, adapter.PathError(path, err)
	}
	s.bytes = info.Size()
	if !d.folder {
		return s, nil
	}
	path = d.file(chunk, indexSuffix)
	switch info, err := os.Stat(path); {
	case err == nil:
		s.index = info.Size()
	case !errors.Is(err, fs.ErrNotExist):
		return s, adapter.PathError(path, err)
	}
	return s, nil
}

// chunks returns the numbers of the first and the last chunk.
func (d *DB) chunks() (first, last int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.first, d.last
}

const (
	chunkSuffix = "chunk"
	indexSuffix = "secondary"
)

func fileName(chunk int, suffix string) string { return fmt.Sprintf("%05d.%s", chunk, suffix) }

// file returns the path of a chunk or of its index.
func (d *DB) file(chunk int, suffix string) string {
	if !d.folder {
		return d.path
	}
	return filepath.Join(d.path, fileName(chunk, suffix))
}

// chunkSize returns the size of a chunk in bytes, uncompressed.
func (d *DB) chunkSize(number int) (int64, error) {
	if d.content != nil {
		return int64(len(d.content)), nil
	}
	path := d.file(number, chunkSuffix)
	info, err := os.Stat(path)
	if err != nil {
		return 0, adapter.PathError(path, err)
	}
	return info.Size(), nil
}

// errorf returns an error about the block of an entry.
func (d *DB) errorf(code string, e Entry, format string, args ...any) error {
	return model.Errorf(model.BadSource, code, "%s, %s: %w", d.file(e.Chunk, chunkSuffix), e.place(), fmt.Errorf(format, args...))
}
