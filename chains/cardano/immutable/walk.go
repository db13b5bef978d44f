package immutable

import (
	"errors"

	"birthmark/chains/cardano/cbor"
)

// firstWindow is the number of bytes to read of a chunk at a time, unless a block is larger.
const firstWindow = 1 << 20

// errCut is the error of a chunk that ends inside a block.
var errCut = errors.New("the chunk is truncated: it ends inside this block")

// walker finds the blocks of a chunk by reading all of it.
type walker struct {
	chunk  *chunk
	at     int64 // offset of the next block
	count  int
	window []byte // of the chunk from at on
}

// next returns the entry of the next block; ok is false after the last. With an error, the entry is filled in as far as
// possible; [errCut] is the error of a chunk that ends inside the block.
func (w *walker) next() (e Entry, ok bool, err error) {
	if w.at >= w.chunk.size {
		return Entry{}, false, nil
	}
	if e, err = w.describe(); err == nil {
		e.Chunk, e.Index, e.Offset = w.chunk.number, w.count, w.at
		w.at += int64(e.Size)
		w.window = w.window[e.Size:]
		w.count++
		return e, true, nil
	}
	e.Chunk, e.Index, e.Offset = w.chunk.number, w.count, w.at
	return e, true, err
}

// describe reads more and more of the chunk until it has the block.
func (w *walker) describe() (Entry, error) {
	for {
		e, err := describe(w.window)
		if !errors.Is(err, cbor.ErrShort) {
			return e, err
		}
		had := len(w.window)
		if had > maxBlockSize {
			return e, errors.New("the block is larger than any block can be")
		}
		if w.window, err = w.chunk.peek(w.at, max(firstWindow, 2*had)); err != nil {
			return e, err
		}
		if len(w.window) <= had {
			return e, errCut
		}
	}
}

// walk returns the entries of a chunk without an index, up to a fault.
func walk(c *chunk) ([]Entry, error) {
	w := walker{chunk: c}
	var entries []Entry
	for {
		e, ok, err := w.next()
		if !ok {
			return entries, nil
		}
		if err != nil {
			return entries, faultOf(e, "%w", err)
		}
		if err := follows(entries, e); err != nil {
			return entries, err
		}
		entries = append(entries, e)
	}
}
