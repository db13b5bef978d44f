package bitcoin

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"time"

	"birthmark/chains/blocksource"
	"birthmark/model"
)

const (
	// groupSize is how many bytes of blocks a goroutine reads and decodes at a time: many small blocks, or one.
	groupSize = 256 << 10
	// decodedFactor is how many bytes a block takes under way for each byte serialized: itself, and the model of it.
	decodedFactor = 4
)

// Follow yields the best chain from the newest known block on. At its end it waits for more where the options say so.
func (s *fileSource) Follow(ctx context.Context, known []model.Point) iter.Seq2[model.Event, error] {
	return func(yield func(model.Event, error) bool) {
		at := s.common(known)
		if len(known) > 0 && s.pointOf(at) != known[0] && !yield(s.rollback(at), nil) {
			return
		}
		for {
			for read, err := range s.read(ctx, s.next(at)) {
				for _, b := range read.blocks {
					if !yield(model.Event{Block: b}, nil) {
						return
					}
				}
				if err == nil {
					err = read.err
				}
				if err != nil {
					yield(model.Event{}, err)
					return
				}
			}
			at = s.tree.chain[max(s.end()-1, s.next(at)-1)]
			if !s.options.Follow || s.options.To != nil && s.next(at) > int(*s.options.To) {
				return
			}
			if err := s.wait(ctx, at); err != nil {
				yield(model.Event{}, err)
				return
			}
			if fork := s.tree.fork(at); fork != at {
				at = fork
				if !yield(s.rollback(at), nil) {
					return
				}
			}
		}
	}
}

// BlockAt implements [model.BlockReader], on the best chain of when the files were last looked at.
func (s *fileSource) BlockAt(ctx context.Context, h model.HeightPk) (*model.Block, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if int(h) >= len(s.tree.chain) {
		return nil, model.Errorf(model.NotFound, "unknown_block", "no block at height %d in %s: the last is %d", h, s.path, len(s.tree.chain)-1)
	}
	r := &blockReader{source: s, decoder: s.decoder.clone(), file: none}
	defer r.close()
	g := r.read(span{int(h), int(h) + 1})
	if g.err != nil {
		return nil, g.err
	}
	return g.blocks[0], nil
}

// common is the newest of the known blocks that is on the best chain, none where that is before the first block.
func (s *fileSource) common(known []model.Point) int32 {
	for _, p := range known {
		if i, ok := s.tree.find(p.Hash); ok && s.tree.onChain(i) && s.tree.point(i) == p {
			return i
		}
	}
	return none
}

func (s *fileSource) pointOf(i int32) model.Point {
	if i == none {
		return model.Point{}
	}
	return s.tree.point(i)
}

func (s *fileSource) rollback(to int32) model.Event {
	p := s.pointOf(to)
	return model.Event{Rollback: &p}
}

// next is the height of the block after a node.
func (s *fileSource) next(i int32) int {
	if i == none {
		return 0
	}
	return int(s.tree.nodes[i].height) + 1
}

// end is the height before which reading stops.
func (s *fileSource) end() int {
	if to := s.options.To; to != nil {
		return min(len(s.tree.chain), int(*to)+1)
	}
	return len(s.tree.chain)
}

// wait looks at the files again and again until the best chain no longer ends in tip.
func (s *fileSource) wait(ctx context.Context, tip int32) error {
	t := time.NewTicker(s.poll)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-t.C:
		}
		if err := s.refresh(ctx); err != nil {
			return err
		}
		if s.tree.best != tip {
			return nil
		}
	}
}

// span is blocks of the best chain that are read together: heights from to before end.
type span struct{ from, end int }

// group is the blocks of a span, up to one that could not be had.
type group struct {
	blocks []*model.Block
	err    error
}

// read yields the blocks of the best chain from a height on, some at a time. The chain must not change meanwhile.
func (s *fileSource) read(ctx context.Context, from int) iter.Seq2[group, error] {
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
			bytes += decodedFactor * int64(s.tree.nodes[i].size)
		}
		return bytes
	}
	worker := func() (func(context.Context, span) (group, error), func()) {
		r := &blockReader{source: s, decoder: s.decoder.clone(), file: none}
		return func(_ context.Context, sp span) (group, error) { return r.read(sp), nil }, r.close
	}
	return blocksource.Ordered(ctx, spans, size, blocksource.Limits{Workers: s.options.Workers, Memory: s.options.Memory}, worker)
}

// blockReader reads and decodes blocks on one goroutine. It keeps the file it read last open: neighbours on the chain
// are mostly neighbours in a file.
type blockReader struct {
	source  *fileSource
	decoder *decoder
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
			// Not all of them are there any more: which one is missing comes out by reading them one by one.
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

// node is what is known of the block at a height of the best chain.
func (r *blockReader) node(height int) *node {
	return &r.source.tree.nodes[r.source.tree.chain[height]]
}

// errorAt says which block an error is about.
func (r *blockReader) errorAt(height int, err error) error {
	n := r.node(height)
	_, code := model.KindOf(err)
	if _, ok := errors.AsType[*model.Error](err); !ok {
		code = "bad_block"
	}
	return model.Errorf(model.BadSource, code, "block %d (%s) in %s at offset %d: %w",
		height, formatHash(n.hash), r.source.files[n.file].path, n.offset, err)
}

// run is the height before which the blocks of a span, from a height on, stand one behind the other in a file. They
// are read at once: most blocks of a chain's first years are smaller than what a read costs.
func (r *blockReader) run(sp span, from int) (end int) {
	for end = from + 1; end < sp.end; end++ {
		last, n := r.node(end-1), r.node(end)
		if n.file != last.file || n.offset != last.offset+int64(last.size)+recordHead {
			break
		}
	}
	return end
}

// records reads what stands in a file from the block at one height to before that at another, without the XOR. It is
// good until the next call.
func (r *blockReader) records(from, end int) ([]byte, error) {
	first, last := r.node(from), r.node(end-1)
	if first.file != r.file {
		r.close()
		path := r.source.files[first.file].path
		f, err := os.Open(path)
		if err != nil {
			return nil, pathError(path, err)
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

// block decodes the block of a header that was seen in the file before.
func (r *blockReader) block(n *node, raw []byte) (*model.Block, error) {
	b, err := r.decoder.block(raw, model.HeightPk(n.height))
	if err == nil && b.Hash == n.hash {
		return b, nil
	}
	if got := header(raw).hash(); got != n.hash {
		return nil, fmt.Errorf("the file changed while it was read: block %s stands there now", formatHash(got))
	}
	return nil, err
}

func (r *blockReader) close() {
	if r.open != nil {
		r.open.Close() // it was only read
	}
	r.open, r.file = nil, none
}
