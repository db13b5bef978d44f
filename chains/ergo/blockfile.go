package ergo

import (
	"bufio"
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"birthmark/chains/adapter"
	"birthmark/chains/ergo/jsonstream"
	"birthmark/model"
)

// maxBlockJSON is the most bytes of one block in a file.
const maxBlockJSON = 64 << 20

// blockFile is a file of full blocks that is read sequentially: one per line or as an array, plain or gzipped.
type blockFile struct {
	path string
	file *os.File
	gz   bool
	s    *jsonstream.Splitter
}

// openBlockFile opens a file at its beginning, or a plain file at a position.
func openBlockFile(path string, at jsonstream.Position) (*blockFile, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, adapter.PathError(path, err)
	}
	f := &blockFile{path: path, file: file}
	if err := f.begin(at); err != nil {
		_ = file.Close()
		return nil, err
	}
	return f, nil
}

func (f *blockFile) begin(at jsonstream.Position) error {
	info, err := f.file.Stat()
	if err != nil {
		return adapter.PathError(f.path, err)
	}
	if info.IsDir() {
		return model.Errorf(model.BadSource, "source_unreadable", "%s is a folder: expected a file of full blocks as the node's REST API returns them, one JSON document per line, plain or gzipped", f.path)
	}
	if at.Offset > 0 {
		if _, err := f.file.Seek(at.Offset, io.SeekStart); err != nil {
			return adapter.PathError(f.path, err)
		}
		f.s = jsonstream.Resume(f.file, maxBlockJSON, at)
		return nil
	}
	head := make([]byte, 4)
	n, err := f.file.ReadAt(head, 0)
	if err != nil && err != io.EOF {
		return adapter.PathError(f.path, err)
	}
	head = head[:n]
	var r io.Reader = f.file
	switch {
	case bytes.HasPrefix(head, []byte{0x1f, 0x8b}):
		f.gz = true
		// gzip reads single bytes from a reader without a buffer.
		if r, err = gzip.NewReader(bufio.NewReaderSize(f.file, 1<<20)); err != nil {
			return f.errorf("source_unreadable", "%w", err)
		}
	case bytes.HasPrefix(head, []byte{0x28, 0xb5, 0x2f, 0xfd}), bytes.HasPrefix(head, []byte("PK")), bytes.HasPrefix(head, []byte("BZh")), bytes.HasPrefix(head, []byte{0xfd, '7', 'z', 'X'}):
		return f.errorf("source_unreadable", "unsupported compression: expected gzip")
	}
	f.s = jsonstream.New(r, maxBlockJSON)
	return nil
}

func (f *blockFile) close() { _ = f.file.Close() }

func (f *blockFile) errorf(code, format string, args ...any) error {
	return model.Errorf(model.BadSource, code, "%s: %w", f.path, fmt.Errorf(format, args...))
}

// next returns the JSON of the next block, valid until the next call. The error is [io.EOF] at the end of the file, and
// [io.ErrUnexpectedEOF] if it ends within a block: call next again after a plain file has grown.
func (f *blockFile) next() ([]byte, error) {
	raw, err := f.s.Next()
	if err == nil && raw[0] != '{' {
		return nil, f.lineError("bad_block", errors.New("expected a full block as the node's REST API returns it, a JSON object"))
	}
	_, isSyntax := errors.AsType[*jsonstream.SyntaxError](err)
	switch {
	case err == nil, err == io.EOF, err == io.ErrUnexpectedEOF:
		return raw, err
	case isSyntax:
		return nil, f.errorf("bad_block", "not JSON of blocks: %w", err)
	case err == jsonstream.ErrTooLarge:
		return nil, f.lineError("bad_block", fmt.Errorf("more than the %d bytes a block can have", maxBlockJSON))
	case f.gz:
		return nil, f.lineError("source_unreadable", err)
	}
	return nil, adapter.PathError(f.path, err)
}

// header returns the header of the next block and the block's JSON, as next does. The error is [io.EOF] also if the file
// ends within a block.
func (f *blockFile) header(ctx context.Context) (h stored, raw []byte, err error) {
	if err := ctx.Err(); err != nil {
		return h, nil, err
	}
	raw, err = f.next()
	switch {
	case err == io.ErrUnexpectedEOF:
		return h, nil, io.EOF
	case err != nil:
		return h, nil, err
	}
	if h, err = peek(raw); err != nil {
		err = f.lineError("bad_block", err)
	}
	return h, raw, err
}

// cut returns the error of a file that ends within a block.
func (f *blockFile) cut() error {
	return f.lineError("bad_block", errors.New("the file ends in the middle of a block"))
}

// lineError adds the line of the block that next returned or failed to return.
func (f *blockFile) lineError(code string, err error) error {
	return lineError(f.path, f.s.Line(), code, err)
}

func lineError(path string, line int, code string, err error) error {
	return model.Errorf(model.BadSource, code, "%s, line %d: %w", path, line, err)
}

// stored has the fields of a block that are read without decoding it. They are not verified.
type stored struct {
	model.Point
	parent model.Hash
}

// peek reads only the header of a full block.
func peek(raw []byte) (h stored, err error) {
	s := scanner{b: raw}
	if !s.member("header") {
		return h, cmp.Or(s.err, errors.New("a block without a header"))
	}
	for o := s.object("a header", linkMembers); o.next(); {
		switch string(o.name) {
		case "id":
			s.hex(h.Hash[:], "header id")
		case "parentId":
			s.hex(h.parent[:], "parent id")
		case "height":
			h.Height = model.HeightPk(s.uint(model.MaxHeight, "height"))
		default:
			s.skip()
		}
	}
	if s.err == nil && h.Height == 0 {
		s.fail("a header without a height")
	}
	return h, s.err
}
