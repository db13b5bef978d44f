package immutable

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/klauspost/compress/zstd"

	"birthmark/chains/adapter"
	"birthmark/model"
)

// maxContent bounds the size of an uncompressed chunk. A chunk of mainnet has about 1,080 blocks of at most 90,112 bytes,
// or 21,600 Byron blocks that mostly have less than 2 kB.
const maxContent = 1 << 30

var zstdMagic = []byte{0x28, 0xb5, 0x2f, 0xfd}

// chunk is a chunk that is open for reading.
type chunk struct {
	io.ReaderAt
	number int
	size   int64 // when it was opened
	close  func() error
}

func (d *DB) open(number int) (*chunk, error) {
	if d.content != nil {
		return &chunk{bytes.NewReader(d.content), number, int64(len(d.content)), func() error { return nil }}, nil
	}
	path := d.file(number, chunkSuffix)
	f, err := os.Open(path)
	if err != nil {
		return nil, adapter.PathError(path, err)
	}
	info, err := f.Stat()
	if err != nil {
		f.Close()
		return nil, adapter.PathError(path, err)
	}
	return &chunk{f, number, info.Size(), f.Close}, nil
}

// era returns the era of the chunk's first block.
func (c *chunk) era() (byte, error) {
	b, err := c.peek(0, 2)
	if err != nil {
		return 0, err
	}
	return eraOf(b)
}

// peek returns n bytes of the chunk from an offset on, fewer at its end.
func (c *chunk) peek(offset int64, n int) ([]byte, error) {
	b := make([]byte, min(int64(n), max(c.size-offset, 0)))
	got, err := c.ReadAt(b, offset)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	return b[:got], nil
}

// unzstd returns the content of a compressed file, nil if it is not compressed.
func unzstd(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, adapter.PathError(path, err)
	}
	defer f.Close()
	magic := make([]byte, len(zstdMagic))
	if _, err := io.ReadFull(f, magic); err != nil || !bytes.Equal(magic, zstdMagic) {
		return nil, nil // not compressed, or an error that the reader reports
	}
	z, err := zstd.NewReader(io.MultiReader(bytes.NewReader(magic), f), zstd.WithDecoderMaxMemory(maxContent), zstd.WithDecoderConcurrency(1))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	defer z.Close()
	var content bytes.Buffer
	n, err := content.ReadFrom(io.LimitReader(z, maxContent+1))
	if err != nil {
		return nil, model.Errorf(model.BadSource, "bad_zstd", "%s is damaged: after %d bytes of the chunk: %w", path, n, err)
	}
	if n > maxContent {
		return nil, model.Errorf(model.BadSource, "bad_zstd", "%s exceeds %d bytes when decompressed: expected a chunk of blocks", path, maxContent)
	}
	if n == 0 {
		return nil, model.Errorf(model.BadSource, "source_empty", "%s is empty when decompressed: expected a chunk of blocks", path)
	}
	return content.Bytes(), nil
}

// index returns the content of a chunk's secondary index, or nil if it is absent.
func (d *DB) index(number int) ([]byte, error) {
	if !d.folder {
		return nil, nil
	}
	path := d.file(number, indexSuffix)
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, adapter.PathError(path, err)
	}
	defer f.Close()
	raw, err := io.ReadAll(io.LimitReader(f, maxEntries*entrySize+1))
	if err != nil {
		return nil, adapter.PathError(path, err)
	}
	if len(raw) > maxEntries*entrySize {
		return nil, model.Errorf(model.BadSource, "bad_index", "%s has more than %d entries: no chunk has as many blocks", path, maxEntries)
	}
	return raw, nil
}
