package blockfile

import (
	"cmp"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"time"

	"birthmark/chains/adapter"
	"birthmark/model"
)

// blockFile is a block file and the state of its last scan.
type blockFile struct {
	path string

	size     int64 // at the last scan, -1 before the first
	modified time.Time
	end      int64 // where the next scan begins
	cut      error // the error of the data at end that are not a record
	fault    error // the first error of all scans
}

// unchanged reports whether a file has not changed since the last scan. A file that no longer exists was deleted by a
// pruning node; the headers of its blocks are still in the tree.
func (f *blockFile) unchanged() bool {
	if f.size < 0 {
		return false
	}
	info, err := os.Stat(f.path)
	return err != nil || info.Size() == f.size && info.ModTime().Equal(f.modified)
}

var blockFileName = regexp.MustCompile(`^blk(\d+)\.dat$`)

// listFiles returns the block files of a folder by number, or path if it is a file.
func listFiles(path string) ([]string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, adapter.PathError(path, err)
	}
	if !info.IsDir() {
		return []string{path}, nil
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil, adapter.PathError(path, err)
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
			continue // not a node's file
		}
		files = append(files, numbered{number, filepath.Join(path, e.Name())})
	}
	if len(files) == 0 {
		hint := ""
		if inside, err := os.Stat(filepath.Join(path, "blocks")); err == nil && inside.IsDir() {
			hint = "; try its subfolder blocks"
		}
		return nil, model.Errorf(model.BadSource, "source_empty", "no blk*.dat in folder %s%s", path, hint)
	}
	slices.SortFunc(files, func(a, b numbered) int { return cmp.Compare(a.number, b.number) })
	paths := make([]string, len(files))
	for i, f := range files {
		paths[i] = f.path
	}
	return paths, nil
}
