package bitcoin

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"time"

	"birthmark/model"
)

// blockFile is one file of records and how far it was looked at.
type blockFile struct {
	path string

	size     int64 // when it was looked at, -1 before
	modified time.Time
	end      int64 // where the next record would begin
	cut      error // what stands there is no whole record
}

// settled reports whether a file was looked at and has not changed since. One that is gone was deleted by a node that
// prunes, after its blocks were known.
func (f *blockFile) settled() bool {
	if f.size < 0 || f.cut != nil {
		return false
	}
	info, err := os.Stat(f.path)
	return err != nil || info.Size() == f.size && info.ModTime().Equal(f.modified)
}

var blockFileName = regexp.MustCompile(`^blk(\d+)\.dat$`)

// listFiles is the block files of a folder in the order they were begun, or the one file the path names.
func listFiles(path string) ([]string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, pathError(path, err)
	}
	if !info.IsDir() {
		return []string{path}, nil
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil, pathError(path, err)
	}
	type numbered struct {
		number uint64
		path   string
	}
	var files []numbered
	for _, e := range entries {
		m := blockFileName.FindStringSubmatch(e.Name())
		if m == nil {
			continue
		}
		number, err := strconv.ParseUint(m[1], 10, 64)
		if err != nil {
			continue // more digits than any node counts to
		}
		files = append(files, numbered{number, filepath.Join(path, e.Name())})
	}
	if len(files) == 0 {
		hint := ""
		if inside, err := os.Stat(filepath.Join(path, "blocks")); err == nil && inside.IsDir() {
			hint = "; its subfolder blocks may be meant"
		}
		return nil, model.Errorf(model.BadSource, "source_empty", "folder %s holds no blk*.dat%s", path, hint)
	}
	slices.SortFunc(files, func(a, b numbered) int {
		if a.number < b.number {
			return -1
		}
		return 1
	})
	paths := make([]string, len(files))
	for i, f := range files {
		paths[i] = f.path
	}
	return paths, nil
}

// xorKey is the key a folder's block files are XORed with, nil where they are plain.
func xorKey(path string) ([]byte, error) {
	if info, err := os.Stat(path); err == nil && !info.IsDir() {
		path = filepath.Dir(path)
	}
	path = filepath.Join(path, "xor.dat")
	key, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, pathError(path, err)
	case len(key) != xorKeySize:
		return nil, model.Errorf(model.BadSource, "bad_block", "%s has %d bytes, a key has %d", path, len(key), xorKeySize)
	case string(key) == string(make([]byte, xorKeySize)):
		return nil, nil
	}
	return key, nil
}

// pathError is an error of the file system about a path.
func pathError(path string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return model.Errorf(model.BadSource, "source_missing", "there is no file or folder %s", path)
	}
	return model.Errorf(model.BadSource, "source_unreadable", "%w", err)
}
