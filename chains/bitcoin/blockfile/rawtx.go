package blockfile

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"birthmark/model"
)

// TxReader implements [model.RawFileReader]. It keeps the XOR keys of folders, which never change.
type TxReader struct {
	MaxSize int // of a block

	keys sync.Map // by folder
}

// ReadRaw implements [model.RawFileReader].
func (r *TxReader) ReadRaw(path string, offset uint64, size int) ([]byte, error) {
	if size <= 0 || size > r.MaxSize || offset > 1<<62 {
		return nil, model.Errorf(model.BadSource, "bad_block", "%s, offset %d: a transaction of %d bytes", path, offset, size)
	}
	key, err := r.key(path)
	if err != nil {
		return nil, err
	}
	f, err := os.Open(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, model.Errorf(model.NotFound, "no_raw", "block file %s does not exist: the node deleted it (pruning), or the files were "+
			"moved (set raw_folder to their folder)", path)
	case err != nil:
		return nil, model.Errorf(model.BadSource, "source_unreadable", "%w", err)
	}
	defer f.Close()
	raw := make([]byte, size)
	if _, err := f.ReadAt(raw, int64(offset)); err != nil {
		if errors.Is(err, io.EOF) {
			return nil, model.Errorf(model.NotFound, "no_raw", "block file %s ends before offset %d: it was replaced", path, offset+uint64(size))
		}
		return nil, model.Errorf(model.BadSource, "source_unreadable", "%w", err)
	}
	unmask(raw, key, int64(offset))
	return raw, nil
}

// key returns the XOR key of a file, nil if it is plain.
func (r *TxReader) key(path string) ([]byte, error) {
	folder := filepath.Dir(path)
	if key, ok := r.keys.Load(folder); ok {
		return key.([]byte), nil
	}
	if _, err := os.Stat(folder); errors.Is(err, fs.ErrNotExist) {
		return nil, nil // the error of the file says more
	}
	key, err := xorKey(folder)
	if err == nil {
		r.keys.Store(folder, key)
	}
	return key, err
}
