package ergotest

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"birthmark/chains/ergo/jsonstream"
	"birthmark/model"
)

// Block is a full block as a node returns it, with the fields that a node needs.
type Block struct {
	Height model.HeightPk
	ID     model.Hash
	Parent model.Hash
	JSON   []byte
}

// Point returns the position of the block.
func (b *Block) Point() model.Point { return model.Point{Height: b.Height, Hash: b.ID} }

// ParseBlock reads the header fields of a full block without verifying them.
func ParseBlock(raw []byte) (Block, error) {
	var block struct {
		Header struct {
			ID, ParentID string
			Height       uint32
		}
	}
	if err := json.Unmarshal(raw, &block); err != nil {
		return Block{}, err
	}
	h := block.Header
	b := Block{Height: model.HeightPk(h.Height), JSON: raw}
	var err error
	if b.ID, err = parseID(h.ID); err == nil {
		b.Parent, err = parseID(h.ParentID)
	}
	return b, err
}

func parseID(text string) (h model.Hash, err error) {
	if n, err := hex.Decode(h[:], []byte(text)[:min(len(text), 2*len(h))]); err != nil || n != len(h) || len(text) != 2*len(h) {
		return h, fmt.Errorf("%q is not an id", text)
	}
	return h, nil
}

// maxBlock is the maximum size in bytes of a block in a file.
const maxBlock = 64 << 20

// ReadFile reads the full blocks of a file: one per line or a list, plain or gzipped.
func ReadFile(path string) ([]Block, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	in := bufio.NewReader(file)
	var r io.Reader = in
	if head, _ := in.Peek(2); bytes.Equal(head, []byte{0x1f, 0x8b}) {
		if r, err = gzip.NewReader(in); err != nil {
			return nil, err
		}
	}
	var blocks []Block
	s := jsonstream.New(r, maxBlock)
	for {
		raw, err := s.Next()
		if err == io.EOF {
			return blocks, nil
		}
		if err != nil {
			return nil, fmt.Errorf("%s, line %d: %w", path, s.Line(), err)
		}
		b, err := ParseBlock(bytes.Clone(raw))
		if err != nil {
			return nil, fmt.Errorf("%s, line %d: %w", path, s.Line(), err)
		}
		blocks = append(blocks, b)
	}
}

// WriteFile writes blocks one per line, gzipped if the name ends in .gz.
func WriteFile(path string, blocks []Block) (err error) {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	out := bufio.NewWriter(file)
	defer func() { err = errors.Join(err, out.Flush()) }()
	var w io.Writer = out
	if strings.HasSuffix(path, ".gz") {
		gz := gzip.NewWriter(out)
		defer func() { err = errors.Join(err, gz.Close()) }()
		w = gz
	}
	for _, b := range blocks {
		if _, err := w.Write(append(b.JSON[:len(b.JSON):len(b.JSON)], '\n')); err != nil {
			return err
		}
	}
	return nil
}
