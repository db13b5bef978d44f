package blockfile

import (
	"context"
	"fmt"
	"iter"
	"os"

	"birthmark/chains/adapter"
	"birthmark/chains/bitcoin/block"
	"birthmark/chains/blocksource"
	"birthmark/model"
)

// groupSize is how many bytes of blocks a goroutine reads and decodes at a time: many small blocks, or one.
const groupSize = 256 << 10

// BlockAt implements [model.BlockReader]: the best chain is that of the last scan.
func (s *Source) BlockAt(ctx context.Context, h model.HeightPk) (*model.Block, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if int(h) >= len(s.tree.chain) {
		return nil, model.Errorf(model.NotFound, "unknown_block", "no block at height %d in %s: the last is %d", h, s.path, len(s.tree.chain)-1)
	}
	r := &blockReader{source: s, decoder: s.options.Decoder(), file: none}
	defer r.close()
	g := r.read(span{int(h), int(h) + 1})
	if g.err != nil {
		return nil, g.err
	}
	return g.blocks[0], nil
}

// span is a range of heights on the best chain, without end.
type span struct{ from, end int }

// group has the blocks of a span up to the first error.
type group struct {
	blocks []*model.Block
	err    error
}

// read yields the blocks of the best chain from a height, in groups. The chain must not change during the iteration.
func (s *Source) read(ctx context.Context, from int) iter.Seq2[group, error] {
	spans := func(_ context.Context, yield func(span) bool) {
		for at, end := from, s.end(); at < end; {
			next, bytes := at, 0
			for next < end && (next == at || bytes < groupSize) {
				bytes += int(s.tree.nodes[s.tree.chain[next]].size)
				next++
			}
			if !yield(span{at, next}) {
				return
			}
			at = next
		}
	}
	size := func(sp span) (bytes int64) {
		for _, i := range s.tree.chain[sp.from:sp.end] {
			bytes += blocksource.DecodedFactor * int64(s.tree.nodes[i].size)
		}
		return bytes
	}
	worker := func() (func(context.Context, span) (group, error), func()) {
		r := &blockReader{source: s, decoder: s.options.Decoder(), file: none}
		return func(_ context.Context, sp span) (group, error) { return r.read(sp), nil }, r.close
	}
	return blocksource.Ordered(ctx, spans, size, blocksource.Limits{Workers: s.options.Workers, Memory: s.options.Memory}, worker)
}

// blockReader reads and decodes blocks on one goroutine. It keeps the last file open, because neighbours on the chain
// are mostly in the same file.
type blockReader struct {
	source  *Source
	decoder *block.Decoder
	file    int32
	open    *os.File
	raw     []byte
}

func (r *blockReader) read(sp span) group {
	g := group{blocks: make([]*model.Block, 0, sp.end-sp.from)}
	for h := sp.from; h < sp.end && g.err == nil; {
		end := r.run(sp, h)
		raw, err := r.records(h, end)
		if err != nil && end > h+1 {
			// Some blocks are missing: read one at a time to find the first.
			end = h + 1
			raw, err = r.records(h, end)
		}
		if err != nil {
			g.err = r.errorAt(h, err)
			break
		}
		for start := r.node(h).offset; h < end; h++ {
			n := r.node(h)
			b, err := r.block(n, raw[n.offset-start:][:n.size])
			if err != nil {
				g.err = r.errorAt(h, err)
				break
			}
			g.blocks = append(g.blocks, b)
		}
	}
	return g
}

// node returns the header node at a height of the best chain.
func (r *blockReader) node(height int) *node {
	return &r.source.tree.nodes[r.source.tree.chain[height]]
}

// errorAt adds the block and its place to an error.
func (r *blockReader) errorAt(height int, err error) error {
	n := r.node(height)
	return adapter.BadBlock(err, "block %d (%s) in %s at offset %d", height, block.FormatHash(n.hash), r.source.files[n.file].path, n.offset)
}

// run returns the end of the blocks of a span that follow each other in one file, beginning at a height. They are read
// at once: a read takes longer than decoding most blocks of a chain's first years.
func (r *blockReader) run(sp span, from int) (end int) {
	for end = from + 1; end < sp.end; end++ {
		last, n := r.node(end-1), r.node(end)
		if n.file != last.file || n.offset != last.offset+int64(last.size)+RecordHead {
			break
		}
	}
	return end
}

// records reads the bytes of a file from the block at one height to the end of the block before another, without the
// XOR. The result is valid until the next call.
func (r *blockReader) records(from, end int) ([]byte, error) {
	first, last := r.node(from), r.node(end-1)
	if first.file != r.file {
		r.close()
		path := r.source.files[first.file].path
		f, err := os.Open(path)
		if err != nil {
			return nil, adapter.PathError(path, err)
		}
		r.file, r.open = first.file, f
	}
	size := int(last.offset-first.offset) + int(last.size)
	if cap(r.raw) < size {
		r.raw = make([]byte, size)
	}
	raw := r.raw[:size]
	if n, err := r.open.ReadAt(raw, first.offset); n < size {
		return nil, err
	}
	unmask(raw, r.source.key, first.offset)
	return raw, nil
}

// block decodes the block of a header that was found by a scan.
func (r *blockReader) block(n *node, raw []byte) (*model.Block, error) {
	b, err := r.decoder.Block(raw, model.HeightPk(n.height))
	if err == nil && b.Hash == n.hash {
		return b, nil
	}
	if got := block.Header(raw).Hash(); got != n.hash {
		return nil, fmt.Errorf("the file changed during the sync: it has block %s at this place now", block.FormatHash(got))
	}
	return nil, err
}

func (r *blockReader) close() {
	if r.open != nil {
		r.open.Close() // it was only read
	}
	r.open, r.file = nil, none
}
