package blockfile

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"unsafe"

	"birthmark/chains/adapter"
	"birthmark/chains/bitcoin/block"
	"birthmark/internal/offheap"
	"birthmark/model"
)

// minLimit is the minimum size in bytes of the blocks of one call of Blocks that requests at least as many. Early blocks
// grow much faster than the caller's estimate of their size.
const minLimit = 2 << 20

// place is the place of a block in a file.
type place struct {
	model.Point
	path   string
	offset int64
	size   int
}

// reader reads and decodes blocks on one goroutine.
type reader struct {
	decoder *block.Decoder
	format  *block.Format
	places  bool // sets [model.Block.Place]
	raw     []byte
}

// Blocks implements [blocksource.Node]. An error after the first block is left to the next call, which begins there.
func (s *files) Blocks(ctx context.Context, points []model.Point, limit int64) (blocks []*model.Block, err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	r := s.readers.Get().(*reader)
	defer s.readers.Put(r)
	for places := s.places(points, max(limit, minLimit)); len(places) > 0 && err == nil; {
		n := contiguous(places)
		blocks, err = r.read(blocks, places[:n], s.key)
		places = places[n:]
	}
	switch {
	case len(blocks) > 0:
		return blocks, nil
	case err != nil:
		return s.elsewhere(r, points[0], err)
	}
	return nil, nil
}

// elsewhere reads a block from its further places in the files; err is the error of the first. That can be a record that
// a node did not finish: its rest can be other records.
func (s *files) elsewhere(r *reader, point model.Point, err error) ([]*model.Block, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	i, ok := s.tree.find(point.Hash)
	if !ok {
		return nil, err
	}
	s.rescan(s.tree.nodes[i].location)
	for k, at := range s.tree.more[i] {
		p := place{point, s.list[at.file].path, at.offset, int(at.size)}
		if blocks, err := r.read(nil, []place{p}, s.key); err == nil {
			s.tree.nodes[i].location, s.tree.more[i][k] = at, s.tree.nodes[i].location
			return blocks, nil
		}
	}
	return nil, err
}

// rescan adds the records inside another one to the tree.
func (s *files) rescan(at location) {
	path := s.list[at.file].path
	file, err := os.Open(path)
	if err != nil {
		return // the error of the block has the reason
	}
	defer file.Close()
	end := at.offset + int64(at.size)
	r := s.recordReader(file, path, s.list[at.file].size)
	for from := at.offset; from < end; {
		rec, err := r.search(from, end)
		if err != nil || rec.size == 0 {
			break
		}
		s.tree.add(at.file, &rec)
		from = rec.end()
	}
	s.tree.link()
}

// places returns the places of the first blocks up to a size.
func (s *files) places(points []model.Point, limit int64) (places []place) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range points {
		i, ok := s.tree.find(p.Hash)
		if !ok || limit <= 0 {
			break
		}
		n := &s.tree.nodes[i]
		places = append(places, place{p, s.list[n.file].path, n.offset, int(n.size)})
		limit -= int64(n.size)
	}
	return places
}

// contiguous returns the number of the first places that follow each other in one file. They are read at once: a read
// takes longer than decoding most blocks of a chain's first years.
func contiguous(places []place) int {
	n := 1
	for n < len(places) && places[n].path == places[0].path && places[n].offset == places[n-1].offset+int64(places[n-1].size)+RecordHead {
		n++
	}
	return n
}

// read appends the blocks at contiguous places, up to the first error.
func (r *reader) read(blocks []*model.Block, places []place, key []byte) ([]*model.Block, error) {
	first, last := places[0], places[len(places)-1]
	size := int(last.offset-first.offset) + last.size
	if err := r.decoder.CheckRoom(size); err != nil && len(places) == 1 {
		return blocks, adapter.BadBlock(err, "block %d (%s) in %s at offset %d", first.Height, block.FormatHash(first.Hash), first.path, first.offset)
	}
	raw, free := r.buffer(size)
	defer free()
	read, readErr := readAt(first.path, raw, first.offset)
	unmask(raw[:read], key, first.offset)
	for _, p := range places {
		start := int(p.offset - first.offset)
		err := readErr
		if start+p.size <= read {
			var b *model.Block
			if b, err = r.decode(p, raw[start:start+p.size]); err == nil {
				if r.places {
					b.Place = r.placeOfTxs(p)
				}
				blocks = append(blocks, b)
				continue
			}
		}
		return blocks, adapter.BadBlock(err, "block %d (%s) in %s at offset %d", p.Height, block.FormatHash(p.Hash), p.path, p.offset)
	}
	return blocks, nil
}

// keptBuffer is the maximum number of bytes of a buffer that is used again. A larger one is freed as soon as its block is
// decoded, outside Go's heap: the collector would free it much later.
const keptBuffer = 64 << 20

// buffer returns a buffer, and a function that must be called after its use.
func (r *reader) buffer(size int) (b []byte, free func()) {
	if size <= keptBuffer {
		r.raw = slices.Grow(r.raw[:0], size)[:size]
		return r.raw, func() {}
	}
	memory := offheap.New(0)
	return unsafe.Slice((*byte)(memory.Resize(size)), size), func() { memory.Resize(0) }
}

// readAt fills b from an offset of a file and returns how many bytes it read.
func readAt(path string, b []byte, offset int64) (int, error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, adapter.PathError(path, err)
	}
	defer f.Close()
	return f.ReadAt(b, offset)
}

// decode decodes the block of a header that was found by a scan.
func (r *reader) decode(p place, raw []byte) (*model.Block, error) {
	b, err := r.decoder.Block(raw, p.Height)
	if err == nil && b.Hash == p.Hash {
		return b, nil
	}
	if got := r.format.HashOf(raw); got != p.Hash {
		return nil, fmt.Errorf("the file changed during the sync: it has block %s at this place now", block.FormatHash(got))
	}
	return nil, err
}

// placeOfTxs returns the place of the transactions of the block that was decoded last.
func (r *reader) placeOfTxs(p place) *model.Place {
	path, err := filepath.Abs(p.path)
	if err != nil {
		path = p.path
	}
	first, sizes := r.decoder.TxSizes()
	return &model.Place{File: path, Offset: uint64(p.offset) + uint64(first), Sizes: sizes}
}
