// Package linked copies databases with hard links.
package linked

import (
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Copy copies the folder of a closed database. Both have the same tables and overflow runs, which never change, as hard
// links, so that a copy takes no time. The snapshot of the caches and the overflow runs are in subfolders of the database
// and are left out if caches is false.
func Copy(from, to string, caches bool) error {
	return filepath.WalkDir(from, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		switch target, folder := filepath.Join(to, name), filepath.Base(filepath.Dir(path)); {
		case e.IsDir() && name != "." && !caches:
			return fs.SkipDir
		case e.IsDir():
			return os.MkdirAll(target, 0o755)
		case filepath.Ext(name) == ".sst" || folder == "overflow":
			return os.Link(path, target)
		default:
			return copyFile(path, target)
		}
	})
}

func copyFile(from, to string) error {
	source, err := os.Open(from)
	if err != nil {
		return err
	}
	defer source.Close()
	target, err := os.Create(to)
	if err != nil {
		return err
	}
	_, err = io.Copy(target, source)
	if closed := target.Close(); err == nil {
		err = closed
	}
	return err
}
