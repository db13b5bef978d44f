package bench

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/binary"
	"io"
	"os"
	"path/filepath"
	"strings"

	"birthmark/chains/adapter"
	"birthmark/chains/cardano/immutable"
	"birthmark/chains/ergo/jsonstream"
	"birthmark/model"
)

// ReadBlocks reads serialized blocks of a chain from a path or file URI in the format of [Decode]: at least one, and at
// limit limit bytes. The path is a block file (Bitcoin), an immutable database or a chunk (Cardano), or a file of full
// blocks as JSON, which may be compressed with gzip (Ergo).
func ReadBlocks(ctx context.Context, chain, path string, limit int64) ([][]byte, error) {
	s, err := chainNamed(chain)
	if err != nil {
		return nil, err
	}
	if rest, ok := strings.CutPrefix(path, "file://"); ok {
		path = adapter.FilePath(rest)
	}
	return s.read(ctx, path, limit)
}

// maxJSON is the maximum size in bytes of a full block of Ergo as JSON.
const maxJSON = 64 << 20

func readFullBlocks(_ context.Context, path string, limit int64) (blocks [][]byte, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, model.Errorf(model.BadSource, "no_file", "%w", err)
	}
	defer f.Close()
	in := io.Reader(f)
	if filepath.Ext(path) == ".gz" {
		if in, err = gzip.NewReader(bufio.NewReader(f)); err != nil {
			return nil, model.Errorf(model.BadSource, "bad_block", "%s: %w", path, err)
		}
	}
	for split := jsonstream.New(in, maxJSON); ; {
		raw, err := split.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, model.Errorf(model.BadSource, "bad_block", "%s: %w", path, err)
		}
		if limit -= int64(len(raw)); limit < 0 && len(blocks) > 0 {
			break
		}
		blocks = append(blocks, append(bytes.Clone(raw), '\n'))
	}
	if len(blocks) == 0 {
		return nil, model.Errorf(model.BadSource, "source_empty", "%s contains no blocks", path)
	}
	return blocks, nil
}

func readChunks(ctx context.Context, path string, limit int64) (blocks [][]byte, err error) {
	db, err := immutable.Open(path)
	if err != nil {
		return nil, err
	}
	r := db.Reader()
	defer r.Close()
	for e, err := range db.Entries(ctx, immutable.Position{}) {
		if err != nil {
			return nil, err
		}
		if limit -= int64(e.Size); limit < 0 && len(blocks) > 0 {
			break
		}
		raw, err := r.Read(e, nil)
		if err != nil {
			return nil, err
		}
		blocks = append(blocks, raw)
	}
	return blocks, nil
}

// blockFileHead is the number of bytes before a block in a block file: the network's magic and the block's size.
const blockFileHead = 8

func readBlockFile(_ context.Context, path string, limit int64) (records [][]byte, err error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, model.Errorf(model.BadSource, "no_file", "%w", err)
	}
	for at := 0; len(raw)-at >= blockFileHead; {
		record := raw[at:]
		if bytes.Equal(record[:4], make([]byte, 4)) {
			break // space that the node has preallocated
		}
		size := blockFileHead + int64(binary.LittleEndian.Uint32(record[4:]))
		if size > int64(len(record)) {
			return nil, model.Errorf(model.BadSource, "bad_block", "%s: the block at offset %d has %d bytes, only %d are left", path, at, size, len(record))
		}
		if limit -= size; limit < 0 && len(records) > 0 {
			break
		}
		records = append(records, record[:size:size])
		at += int(size)
	}
	if len(records) == 0 {
		return nil, model.Errorf(model.BadSource, "source_empty", "%s contains no blocks", path)
	}
	return records, nil
}
