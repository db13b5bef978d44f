package rocks

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"birthmark/storage"
)

// sideFilesName is the subfolder of the database that contains the side files.
const sideFilesName = "notes"

const (
	sideFileBuffer = 256 << 10
	sideFileMode   = 0o600 // files may contain secrets such as the key of a hash function
)

// CacheFolder implements [storage.CacheFolder].
func (s *Store) CacheFolder() (path string, files int) {
	return filepath.Join(s.dir, "overflow"), s.settings.cacheFiles
}

// WriteSideFile implements [storage.SideFiles].
func (s *Store) WriteSideFile(name string, write func(io.Writer) error) error {
	if s.options.ReadOnly {
		return storage.ErrReadOnly
	}
	if err := s.gate.Enter(); err != nil {
		return err
	}
	defer s.gate.Leave()
	path, err := s.sideFilePath(name)
	if err != nil {
		return err
	}
	s.sideFileMu.Lock()
	defer s.sideFileMu.Unlock()
	if err := s.replaceFile(path, write); err != nil {
		return s.failed("write side file "+name, err)
	}
	return nil
}

// replaceFile durably replaces a file in a subfolder of the database.
func (s *Store) replaceFile(path string, write func(io.Writer) error) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	if err := storage.SyncFolder(s.dir); err != nil {
		return err
	}
	return storage.ReplaceFile(path, sideFileMode, write)
}

// ReadSideFile implements [storage.SideFiles].
func (s *Store) ReadSideFile(name string, read func(io.Reader) error) error {
	if err := s.gate.Enter(); err != nil {
		return err
	}
	defer s.gate.Leave()
	path, err := s.sideFilePath(name)
	if err != nil {
		return err
	}
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("side file %s: %w", name, storage.ErrNotFound)
	}
	if err != nil {
		return s.failed("read side file "+name, err)
	}
	defer f.Close()
	return read(bufio.NewReaderSize(f, sideFileBuffer))
}

func (s *Store) sideFilePath(name string) (string, error) {
	odd := func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '-' && r != '_'
	}
	if name == "" || strings.ContainsFunc(name, odd) {
		return "", fmt.Errorf("invalid name of a side file %q: expected letters, digits, - and _", name)
	}
	return filepath.Join(s.dir, sideFilesName, name), nil
}

// removeUnfinishedSideFiles removes side files that were being written when their process ended.
func (s *Store) removeUnfinishedSideFiles() error {
	folder := filepath.Join(s.dir, sideFilesName)
	files, err := os.ReadDir(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, f := range files {
		if strings.HasSuffix(f.Name(), storage.UnfinishedSuffix) {
			err = errors.Join(err, os.Remove(filepath.Join(folder, f.Name())))
		}
	}
	if err != nil {
		return fmt.Errorf("remove unfinished side files: %w", err)
	}
	return nil
}
