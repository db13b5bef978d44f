package blockfile

import (
	"encoding/binary"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"birthmark/chains/adapter"
	"birthmark/model"
)

const xorKeySize = 8

// xorKey returns the XOR key of a folder's block files, nil if they are plain.
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
		return nil, adapter.PathError(path, err)
	case len(key) != xorKeySize:
		return nil, model.Errorf(model.BadSource, "bad_block", "%s has %d bytes: expected %d", path, len(key), xorKeySize)
	case string(key) == string(make([]byte, xorKeySize)):
		return nil, nil
	}
	return key, nil
}

// unmask reverses the XOR of bytes at an offset of a file.
func unmask(b, key []byte, offset int64) {
	if len(key) != xorKeySize {
		return
	}
	var turned [xorKeySize]byte
	for i := range turned {
		turned[i] = key[(offset+int64(i))%xorKeySize]
	}
	word := binary.LittleEndian.Uint64(turned[:])
	for ; len(b) >= xorKeySize; b = b[xorKeySize:] {
		binary.LittleEndian.PutUint64(b, binary.LittleEndian.Uint64(b)^word)
	}
	for i := range b {
		b[i] ^= turned[i]
	}
}
