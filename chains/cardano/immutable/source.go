package immutable

import (
	"context"
	"iter"
	"time"

	"birthmark/chains/blocksource"
	"birthmark/chains/cardano/genesis"
	"birthmark/chains/cardano/ledger"
	"birthmark/model"
)

// groupSize is the number of bytes of blocks that a goroutine reads and decodes at a time.
const groupSize = 256 << 10

// Source implements [model.Source] for a node's immutable database. Its blocks are final, so there are no forks.
type Source struct {
	net     *genesis.Network
	db      *DB
	options model.SourceOptions
	decoder *ledger.Decoder // goroutines clone it
	poll    time.Duration
}

// OpenSource opens the source of a folder or chunk. For the errors see [Open].
func OpenSource(d *ledger.Decoder, path string, o model.SourceOptions) (*Source, error) {
	db, err := Open(path)
	if err != nil {
		return nil, err
	}
	return &Source{net: d.Network, db: db, options: o, decoder: d, poll: time.Second}, nil
}

// Tip returns the last block with a height when the folder was last checked.
func (s *Source) Tip(ctx context.Context) (model.Point, error) {
	e, err := s.db.Tip(ctx)
	if kind, _ := model.KindOf(err); kind == model.NotFound {
		return model.Point{}, nil
	}
	if err != nil {
		return model.Point{}, err
	}
	r := s.reader()
	defer r.Close()
	d, err := r.block(e)
	if err == nil && d.Boundary && d.Height > 0 {
		d, err = s.before(ctx, r, d)
	}
	if err != nil {
		return model.Point{}, err
	}
	return d.Point(), nil
}

// before returns the block before a boundary block, which has no height; the boundary block itself if the
// chunks start with it.
func (s *Source) before(ctx context.Context, r *blockReader, boundary storedBlock) (storedBlock, error) {
	from := Position{Chunk: max(boundary.entry.Chunk-1, 0)}
	for e, err := range s.db.Entries(ctx, from) {
		if _, code := model.KindOf(err); code == "missing_chunk" {
			break
		}
		if err != nil {
			return storedBlock{}, err
		}
		if e.Hash == boundary.Parent {
			return r.block(e)
		}
	}
	return boundary, nil
}

// Measure implements [model.Measurer] with the bytes of the chunks. The size up to a block before the last one is
// unknown.
func (s *Source) Measure(ctx context.Context, after model.Point, _ model.HeightPk) (e model.Extent, err error) {
	if s.options.To != nil {
		return e, nil
	}
	var at Entry
	if !after.IsOrigin() {
		if at, err = s.db.Find(ctx, after.Slot, after.Hash); err != nil {
			if kind, _ := model.KindOf(err); kind == model.NotFound {
				err = nil
			}
			return e, err
		}
		e.Done = uint64(at.Offset) + uint64(at.Size)
	}
	first, last := s.db.chunks()
	for n := first; n <= last; n++ {
		size, err := s.db.chunkSize(n)
		if err != nil {
			return model.Extent{}, err
		}
		e.Total += uint64(size)
		if !after.IsOrigin() && n < at.Chunk {
			e.Done += uint64(size)
		}
	}
	return e, nil
}

// Close does nothing: chunks are open only while they are read.
func (s *Source) Close() error { return nil }

// Follow yields the blocks after the newest known one in the chunks. At their end it waits for more if the options
// demand it; otherwise a chunk that ends inside a block is an error.
func (s *Source) Follow(ctx context.Context, known []model.Point) iter.Seq2[model.Event, error] {
	return func(yield func(model.Event, error) bool) {
		at, from, err := s.find(ctx, known)
		if err != nil {
			yield(model.Event{}, err)
			return
		}
		if len(known) > 0 && at.IsOrigin() {
			// A rollback to the origin follows. Check first that the blocks belong to the network.
			if err := s.begins(ctx); err != nil {
				yield(model.Event{}, err)
				return
			}
		}
		if len(known) > 0 && at != known[0] && !yield(model.Event{Rollback: &at}, nil) {
			return
		}
		l := ledger.Linker{Decoder: s.decoder, Tip: at}
		for {
			for g, err := range s.read(ctx, from) {
				if err == nil {
					err = g.err
				}
				for i := range g.blocks {
					b, linked := g.blocks[i].link(&l)
					if linked != nil {
						yield(model.Event{}, linked)
						return
					}
					if b == nil {
						continue
					}
					if to := s.options.To; to != nil && b.Height > *to {
						return
					}
					if !yield(model.Event{Block: b}, nil) {
						return
					}
				}
				if err != nil {
					yield(model.Event{}, err)
					return
				}
				from = g.next
			}
			if !s.options.Follow {
				if err := s.db.Cut(ctx); err != nil {
					yield(model.Event{}, err)
				}
				return
			}
			if err := s.wait(ctx); err != nil {
				yield(model.Event{}, err)
				return
			}
		}
	}
}

// find returns the newest known block in the chunks, and the position after it.
func (s *Source) find(ctx context.Context, known []model.Point) (model.Point, Position, error) {
	for _, p := range known {
		e, err := s.db.Find(ctx, p.Slot, p.Hash)
		if err == nil {
			return p, e.Next(), nil
		}
		if kind, _ := model.KindOf(err); kind != model.NotFound {
			return p, Position{}, err
		}
	}
	return model.Point{}, Position{}, nil
}

// begins returns an error if the first block does not belong to the network.
func (s *Source) begins(ctx context.Context) error {
	_, err := s.Child(ctx, model.Point{})
	if kind, _ := model.KindOf(err); kind == model.NotFound {
		err = model.Errorf(model.BadSource, "source_empty", "the chunks have no blocks yet")
	}
	return err
}

// wait waits until there may be more blocks.
func (s *Source) wait(ctx context.Context) error {
	t := time.NewTicker(s.poll)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-t.C:
		}
		if changed, err := s.db.Refresh(ctx); changed || err != nil {
			return err
		}
	}
}

// group is blocks that were read together, up to the first error.
type group struct {
	blocks []storedBlock
	next   Position
	err    error
}

// read yields the blocks from a position on, in groups.
func (s *Source) read(ctx context.Context, from Position) iter.Seq2[group, error] {
	type job struct {
		entries []Entry
		err     error
	}
	jobs := func(ctx context.Context, yield func(job) bool) {
		var j job
		bytes := 0
		for e, err := range s.db.Entries(ctx, from) {
			if err != nil {
				j.err = err
				break
			}
			j.entries = append(j.entries, e)
			if bytes += e.Size; bytes >= groupSize {
				if !yield(j) {
					return
				}
				j, bytes = job{}, 0
			}
		}
		if len(j.entries) > 0 || j.err != nil {
			yield(j)
		}
	}
	size := func(j job) (bytes int64) {
		for _, e := range j.entries {
			bytes += ledger.DecodedFactor * int64(e.Size)
		}
		return bytes
	}
	worker := func() (func(context.Context, job) (group, error), func()) {
		r := s.reader()
		return func(_ context.Context, j job) (g group, _ error) {
			for _, e := range j.entries {
				p, err := r.block(e)
				if err != nil {
					g.err = err
					return g, nil
				}
				g.blocks, g.next = append(g.blocks, p), e.Next()
			}
			g.err = j.err
			return g, nil
		}, r.Close
	}
	return blocksource.Ordered(ctx, jobs, size, blocksource.Limits{Workers: s.options.Workers, Memory: s.options.Memory}, worker)
}
