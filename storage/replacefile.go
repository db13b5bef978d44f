package storage

import (
	"bufio"
	"errors"
	"io"
	"os"
	"path/filepath"
)

// UnfinishedSuffix is appended to the name of a file while [ReplaceFile] writes it.
const UnfinishedSuffix = "~"

// ReplaceFile durably writes a file. If it fails or the process ends, the previous file remains.
func ReplaceFile(path string, mode os.FileMode, write func(io.Writer) error) error {
	unfinished := path + UnfinishedSuffix
	f, err := os.OpenFile(unfinished, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, mode)
	if err != nil {
		return err
	}
	b := bufio.NewWriterSize(f, 256<<10)
	if err = f.Chmod(mode); err == nil { // an interrupted write may have left a file with another mode
		err = write(b)
	}
	if err == nil {
		err = b.Flush()
	}
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(unfinished, path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(unfinished))
	}
	return SyncFolder(filepath.Dir(path))
}

// SyncFolder makes creations, renames and deletions in a folder durable.
func SyncFolder(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
