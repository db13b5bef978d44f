package cardano

import (
	"birthmark/chains/cardano/immutable"
	"birthmark/model"
)

// placed is a block, or a boundary block, which has no height of its own.
type placed struct {
	*model.Block
	boundary bool
	entry    immutable.Entry
}

// chunkReader reads and decodes the blocks of chunks, for one goroutine.
type chunkReader struct {
	*immutable.Reader
	decoder *decoder
	raw     []byte
}

func (s *chunkSource) reader() *chunkReader {
	return &chunkReader{Reader: s.db.Reader(), decoder: s.decoder.clone()}
}

// block is the one an entry is of. The error is of kind [model.BadSource] and names chunk and offset.
func (r *chunkReader) block(e immutable.Entry) (p placed, err error) {
	if r.raw, err = r.Read(e, r.raw); err != nil {
		return placed{}, err
	}
	b, boundary, err := r.decoder.block(r.raw)
	if err != nil {
		_, code := model.KindOf(err)
		if code == "internal" {
			code = "bad_block"
		}
		return placed{}, model.Errorf(model.BadSource, code, "chunk %05d at offset %d: %w", e.Chunk, e.Offset, err)
	}
	if b.Hash != e.Hash {
		return placed{}, model.Errorf(model.BadSource, "bad_index", "chunk %05d at offset %d: the index says block %s, there is %s", e.Chunk, e.Offset, e.Hash, b.Hash)
	}
	return placed{b, boundary, e}, nil
}
