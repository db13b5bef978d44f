package ergo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"time"

	"birthmark/chains/adapter"
	"birthmark/chains/blocksource"
	"birthmark/chains/ergo/jsonstream"
	"birthmark/model"
)

// groupSize is how many bytes of JSON a goroutine decodes at a time.
const groupSize = 256 << 10

// underWayFactor is the memory that a block in progress takes, in bytes per byte of its JSON: the JSON and the model.
const underWayFactor = 2

// errLeft reports that the consumer has stopped.
var errLeft = errors.New("the consumer stopped")

// fileSource is a file of full blocks: one chain from its first line to its last.
type fileSource struct {
	net     *network
	path    string
	options model.SourceOptions
	decoder *decoder      // cloned for each goroutine
	poll    time.Duration // how often Follow looks for more blocks at the end

	lookup lookup // for BlockAt
}

// openFile reads the first block of a file, so that a file without blocks fails at once.
func openFile(d *decoder, path string, o model.SourceOptions) (model.Source, error) {
	s := &fileSource{net: d.net, path: path, options: o, decoder: d, poll: time.Second}
	f, err := openBlockFile(path, jsonstream.Position{})
	if err != nil {
		return nil, err
	}
	defer f.close()
	raw, err := f.next()
	switch {
	case (err == io.EOF || err == io.ErrUnexpectedEOF) && o.Follow:
		return s, nil
	case err == io.EOF:
		return nil, f.errorf("source_empty", "it has no blocks")
	case err == io.ErrUnexpectedEOF:
		return nil, f.cut()
	case err != nil:
		return nil, err
	}
	if _, err := peek(raw); err != nil {
		return nil, f.lineError("bad_block", err)
	}
	return s, nil
}

// Close closes the file that BlockAt keeps open. Follow closes its own.
func (s *fileSource) Close() error {
	s.lookup.close()
	return nil
}

// Measure implements [model.Measurer] with the bytes of a file that is not compressed. They are known for a sync from the
// first block: otherwise the file has to be read up to the block.
func (s *fileSource) Measure(_ context.Context, after model.Point, _ model.HeightPk) (e model.Extent, err error) {
	f, err := openBlockFile(s.path, jsonstream.Position{})
	if err != nil {
		return e, err
	}
	defer f.close()
	if f.gz || s.options.To != nil || !after.IsOrigin() {
		return e, nil
	}
	info, err := f.file.Stat()
	if err != nil {
		return e, adapter.PathError(s.path, err)
	}
	return model.Extent{Total: uint64(info.Size())}, nil
}

// Follow yields the blocks after the newest known one in the file. At the end it waits for more if the options require
// it, and starts again if the file is replaced; otherwise a truncated block is an error.
func (s *fileSource) Follow(ctx context.Context, known []model.Point) iter.Seq2[model.Event, error] {
	return func(yield func(model.Event, error) bool) {
		trail := blocksource.NewTrail(known)
		for first := true; ; first = false {
			again, err := s.pass(ctx, trail, first, yield)
			if err != nil && err != errLeft {
				yield(model.Event{}, err)
			}
			if err != nil || !again {
				return
			}
		}
	}
}

// pass reads the file once. again reports that the file was replaced; the new file must share blocks with the chain so
// far.
func (s *fileSource) pass(ctx context.Context, trail *blocksource.Trail, first bool, yield func(model.Event, error) bool) (again bool, err error) {
	n, from, err := s.common(ctx, trail.Points())
	if err != nil {
		return false, err
	}
	if n == noBlocks && !first {
		return true, s.pause(ctx) // it is being written
	}
	if n = max(n, 0); n == 0 && !first && len(trail.Points()) > 0 {
		return false, model.Errorf(model.Refused, "wrong_chain", "%s has another chain now: it has no block of the chain up to block %d (%s)", s.path, trail.Newest().Height, trail.Newest().Hash)
	}
	if n < len(trail.Points()) {
		trail.Cut(n)
		at := trail.Newest()
		if !yield(model.Event{Rollback: &at}, nil) {
			return false, errLeft
		}
	}
	if to := s.options.To; to != nil && !trail.Newest().IsOrigin() && trail.Newest().Height >= *to {
		return false, nil
	}
	for g, err := range s.read(ctx, from, trail.Newest().Height) {
		if err != nil {
			return false, err
		}
		for _, b := range g.blocks {
			if err := s.link(trail.Newest(), b); err != nil {
				return false, err
			}
			trail.Add(b.Point())
			if !yield(model.Event{Block: b.Block}, nil) {
				return false, errLeft
			}
			if to := s.options.To; to != nil && b.Height == *to {
				return false, nil
			}
		}
		if g.err == errReplaced {
			return true, nil
		}
		if g.err != nil {
			return false, g.err
		}
	}
	return false, nil
}

// link checks that a block is the child of the block before it, and adds the genesis to the first block.
func (s *fileSource) link(before model.Point, b numbered) error {
	switch {
	case before.IsOrigin() && b.Height != firstHeight:
		return lineError(s.path, b.line, "no_genesis", fmt.Errorf("the first block is %d %s: expected block %d of ergo %s, or a child of a block of the database", b.Height, b.Hash, firstHeight, s.net.name))
	case b.Height != before.Height+1, b.Parent != before.Hash:
		return lineError(s.path, b.line, "bad_chain", fmt.Errorf("block %d %s does not extend block %d %s: its parent is %s", b.Height, b.Hash, before.Height, before.Hash, b.Parent))
	case b.Height != firstHeight:
		return nil
	}
	if first := s.net.firstBlock(); first != (model.Hash{}) && b.Hash != first {
		return lineError(s.path, b.line, "wrong_network", fmt.Errorf("block 1 is %s: expected block 1 of ergo %s, %s", b.Hash, s.net.name, first))
	}
	boxes := s.net.genesisBoxes()
	if boxes == nil {
		return model.Errorf(model.BadSource, "no_genesis", "%s: the boxes before block 1 of ergo %s are not known: expected a node, which returns them", s.path, s.net.name)
	}
	genesis, err := s.decoder.clone().genesis(boxes)
	b.Genesis = genesis
	return err
}

// noBlocks is the result of common if the file has no blocks.
const noBlocks = -1

// common returns how many of the points, oldest first, are on the file's chain, and the position to read from.
func (s *fileSource) common(ctx context.Context, points []model.Point) (n int, from jsonstream.Position, err error) {
	if len(points) == 0 {
		return 0, from, nil
	}
	f, err := openBlockFile(s.path, jsonstream.Position{})
	if err != nil {
		return 0, from, err
	}
	defer f.close()
	var first stored
	next := 0 // points before it are done
	for number := 0; next < len(points); number++ {
		h, _, err := f.header(ctx)
		if err == io.EOF {
			break
		}
		if err != nil {
			return 0, from, err
		}
		if number == 0 {
			first = h
			for next < len(points) && points[next].Height < h.Height {
				next++
			}
			// A point before the file is on its chain if it is the parent of the first block.
			if next > 0 && points[next-1].Height == h.Height-1 && points[next-1].Hash == h.parent {
				n = next
			}
		}
		if next == len(points) || h.Height > points[next].Height {
			break // if the height is too high, the file is not a chain, which read reports
		}
		if h.Height < points[next].Height {
			continue
		}
		if h.Hash != points[next].Hash {
			break
		}
		next++
		n = next
		if !f.gz {
			from = f.s.Position()
		}
	}
	if first.Height == 0 {
		return noBlocks, from, nil
	}
	if n == 0 && first.Height > firstHeight {
		return 0, from, model.Errorf(model.BadSource, "no_genesis",
			"%s: the first block is %d %s, and the database has neither its parent %s nor a block after it: expected a file that begins earlier", s.path, first.Height, first.Hash, first.parent)
	}
	return n, from, nil
}

// numbered is a block and the line on which it begins.
type numbered struct {
	*model.Block
	line int
}

// group has blocks that are decoded together, up to the first error.
type group struct {
	blocks []numbered
	err    error
}

// errReplaced reports that another file replaced the one that is being read.
var errReplaced = errors.New("the file was replaced")

// read yields the blocks above a height from a position on, in groups.
func (s *fileSource) read(ctx context.Context, from jsonstream.Position, above model.HeightPk) iter.Seq2[group, error] {
	size := func(j lines) int64 { return underWayFactor * int64(len(j.text)) }
	worker := func() (func(context.Context, lines) (group, error), func()) {
		d := s.decoder.clone()
		return func(_ context.Context, j lines) (g group, _ error) {
			begin := 0
			for i, end := range j.ends {
				b, err := d.block(j.text[begin:end])
				if err != nil {
					g.err = adapter.BadBlock(err, "%s, line %d", s.path, j.numbers[i])
					return g, nil
				}
				b.SourceSize = end - begin
				g.blocks = append(g.blocks, numbered{b, j.numbers[i]})
				begin = end
			}
			g.err = j.err
			return g, nil
		}, func() {}
	}
	jobs := func(ctx context.Context, yield func(lines) bool) { s.lines(ctx, from, above, yield) }
	return blocksource.Ordered(ctx, jobs, size, blocksource.Limits{Workers: s.options.Workers, Memory: s.options.Memory}, worker)
}

// lines has blocks that are read together.
type lines struct {
	text    []byte
	ends    []int // of each block in text
	numbers []int // lines on which the blocks begin
	err     error // why no more follow
}

// lines yields the blocks above a height, and the error that ends them if there is one.
func (s *fileSource) lines(ctx context.Context, from jsonstream.Position, above model.HeightPk, yield func(lines) bool) {
	f, err := openBlockFile(s.path, from)
	if err != nil {
		yield(lines{err: err})
		return
	}
	defer f.close()
	var j lines
	for skipping := above > 0; ; {
		raw, err := f.next()
		atEnd := err == io.EOF || err == io.ErrUnexpectedEOF
		if err == nil && skipping {
			h, peeked := peek(raw)
			if peeked == nil && h.Height <= above {
				if ctx.Err() != nil {
					return
				}
				continue
			}
			skipping = false
		}
		switch {
		case err == nil:
			j.text = append(j.text, raw...)
			j.ends = append(j.ends, len(j.text))
			j.numbers = append(j.numbers, f.s.Line())
		case atEnd && s.options.Follow:
		case err == io.EOF:
		case err == io.ErrUnexpectedEOF:
			j.err = f.cut()
		default:
			j.err = err
		}
		if len(j.text) >= groupSize || err != nil && (len(j.text) > 0 || j.err != nil) {
			if !yield(j) {
				return
			}
			j = lines{text: make([]byte, 0, groupSize+groupSize/4)}
		}
		if err == nil {
			continue
		}
		if !atEnd || !s.options.Follow {
			return
		}
		if err := s.wait(ctx, f); err != nil {
			yield(lines{err: err})
			return
		}
	}
}

// wait waits until the file may have grown. It returns [errReplaced] if the path is another file now.
func (s *fileSource) wait(ctx context.Context, f *blockFile) error {
	opened, err := f.file.Stat()
	if err != nil {
		return adapter.PathError(s.path, err)
	}
	read, err := f.file.Seek(0, io.SeekCurrent)
	if err != nil {
		return adapter.PathError(s.path, err)
	}
	for {
		if err := s.pause(ctx); err != nil {
			return err
		}
		now, err := os.Stat(s.path)
		switch {
		case errors.Is(err, os.ErrNotExist):
			continue // about to be replaced
		case err != nil:
			return adapter.PathError(s.path, err)
		case !os.SameFile(opened, now), now.Size() < read:
			return errReplaced
		case now.Size() > read && !f.gz:
			return nil
		}
	}
}

func (s *fileSource) pause(ctx context.Context) error { return blocksource.Sleep(ctx, s.poll) }
