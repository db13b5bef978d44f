package immutable

import (
	"fmt"
	"strings"

	"birthmark/chains/cardano/ledger"
	"birthmark/model"
)

type storedBlock struct {
	ledger.Decoded
	entry Entry
}

// link is [ledger.Linker.Link]; its errors of kind [model.BadSource] name the chunk.
func (d *storedBlock) link(l *ledger.Linker) (*model.Block, error) {
	b, err := l.Link(d.Decoded)
	if kind, code := model.KindOf(err); kind == model.BadSource {
		err = model.Errorf(kind, code, "chunk %05d: %w", d.entry.Chunk, err)
	}
	return b, err
}

// blockReader reads and decodes blocks, for one goroutine.
type blockReader struct {
	*Reader
	decoder *ledger.Decoder
	raw     []byte
}

func (s *Source) reader() *blockReader {
	return &blockReader{Reader: s.db.Reader(), decoder: s.decoder.Clone()}
}

// block returns the block of an entry. The error is of kind [model.BadSource] and names chunk, offset, slot and hash.
func (r *blockReader) block(e Entry) (d storedBlock, err error) {
	if r.raw, err = r.Read(e, r.raw); err != nil {
		return storedBlock{}, err
	}
	b, boundary, err := r.decoder.Block(r.raw)
	if err != nil {
		_, code := model.KindOf(err)
		if code == "internal" {
			code = "bad_block"
		}
		what := "" // unless the error has it already
		if !strings.Contains(err.Error(), e.Hash.String()) {
			what = fmt.Sprintf(" (slot %d, %s)", e.Slot, e.Hash)
		}
		return storedBlock{}, model.Errorf(model.BadSource, code, "chunk %05d at offset %d%s: %w", e.Chunk, e.Offset, what, err)
	}
	if b.Hash != e.Hash {
		return storedBlock{}, model.Errorf(model.BadSource, "bad_index", "chunk %05d at offset %d: the index has block %s at slot %d, the chunk has %s at slot %d",
			e.Chunk, e.Offset, e.Hash, e.Slot, b.Hash, b.Slot)
	}
	return storedBlock{ledger.Decoded{Block: b, Boundary: boundary}, e}, nil
}
