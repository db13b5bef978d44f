package immutable

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"birthmark/chains/adapter"
	"birthmark/chains/cardano/cbor"
	"birthmark/model"
)

// Entries yields the blocks from a position on, in the order of the chain, to the end of the chunks. Blocks that a node
// writes meanwhile may be included; an incomplete block is not. After the blocks before a fault it yields the error: of
// kind [model.BadSource], bad_chunk, bad_index or missing_chunk, or that of ctx.
func (d *DB) Entries(ctx context.Context, from Position) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		first, last := d.chunks()
		if from != (Position{}) && from.Chunk < first {
			yield(Entry{}, model.Errorf(model.BadSource, "missing_chunk", "%s is missing: %s begins with %s",
				fileName(from.Chunk, chunkSuffix), d.path, fileName(first, chunkSuffix)))
			return
		}
		var before []Entry
		for n := max(from.Chunk, first); n <= last; n++ {
			if err := ctx.Err(); err != nil {
				yield(Entry{}, err)
				return
			}
			entries, err := d.entries(n)
			if len(entries) > 0 && len(before) > 0 {
				if fault := follows(before, entries[0]); fault != nil {
					entries, err = nil, d.explain(n, "bad_index", fault)
				}
			}
			start := 0
			if n == from.Chunk {
				start = min(from.Index, len(entries))
			}
			for _, e := range entries[start:] {
				if !yield(e, nil) {
					return
				}
			}
			if err != nil {
				yield(Entry{}, err)
				return
			}
			if len(entries) > 0 {
				before = entries
			}
		}
	}
}

// Tip returns the last complete block. The error is [model.NotFound], unknown_block, if there is none yet.
func (d *DB) Tip(ctx context.Context) (Entry, error) {
	first, last := d.chunks()
	for n := last; n >= first; n-- {
		if err := ctx.Err(); err != nil {
			return Entry{}, err
		}
		entries, err := d.entries(n)
		if err != nil {
			return Entry{}, err
		}
		if len(entries) > 0 {
			return entries[len(entries)-1], nil
		}
	}
	return Entry{}, model.Errorf(model.NotFound, "unknown_block", "%s has no block yet", d.path)
}

// Cut returns an error, of kind [model.BadSource], code bad_chunk, about the first block that the newest chunk's index
// has and the chunk lacks; nil if there is none. [DB.Entries] leaves such blocks out: they occur while a folder is
// copied. A node writes blocks before their entries, so for a reader that does not wait for more the chunk is
// incomplete.
func (d *DB) Cut(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	_, last := d.chunks()
	_, cut, err := d.load(last)
	if err != nil {
		return err
	}
	return d.explain(last, "bad_chunk", cut)
}

// entries returns all blocks of a chunk, up to a fault. The slice is not changed.
func (d *DB) entries(number int) ([]Entry, error) {
	if !d.folder {
		return d.walked()
	}
	entries, _, err := d.load(number)
	return entries, err
}

// load returns all blocks of a chunk, up to a fault. cut is an incomplete end of the newest chunk, which is not a fault
// while a node may be writing it.
func (d *DB) load(number int) (entries []Entry, cut, err error) {
	_, last := d.chunks()
	growing := d.folder && number == last
	// A node writes a block before its entry: read in this order, the chunk has the blocks of the index.
	raw, err := d.index(number)
	if err != nil {
		return nil, nil, err
	}
	c, err := d.open(number)
	if err != nil {
		return nil, nil, err
	}
	defer c.close()
	if raw == nil {
		entries, err = walk(c)
		if growing && errors.Is(err, errCut) {
			return entries, err, nil
		}
		return entries, nil, d.explain(number, "bad_chunk", err)
	}
	if growing {
		raw, cut = trim(c, raw)
	}
	entries, err = indexed(c, raw, growing)
	if i := len(entries) - 1; growing && err == nil && i >= 0 {
		if err = measureLast(c, &entries[i]); err != nil {
			entries = entries[:i]
		}
		if errors.Is(err, errCut) {
			cut, err = err, nil
		}
	}
	return entries, cut, d.explain(number, "bad_index", err)
}

// trim returns the index of the newest chunk without an incomplete entry and without blocks that the chunk has nothing
// of.
func trim(c *chunk, raw []byte) (trimmed []byte, cut error) {
	raw = raw[:len(raw)-len(raw)%entrySize]
	for len(raw) > 0 {
		e := parseEntry(raw[len(raw)-entrySize:])
		if e.Offset < c.size {
			break
		}
		raw, cut = raw[:len(raw)-entrySize], faultOf(e, "%w", errCut)
	}
	return raw, cut
}

// indexed returns the blocks of a chunk from its index.
func indexed(c *chunk, raw []byte, growing bool) ([]Entry, error) {
	if len(raw) == 0 && (c.size == 0 || growing) {
		return nil, nil
	}
	if len(raw) < entrySize {
		return nil, faultOf(Entry{}, "the index has %d bytes and no entry, the chunk has %d bytes", len(raw), c.size)
	}
	boundary := false
	if c.size > 0 {
		era, err := c.era()
		if err != nil && !errors.Is(err, cbor.ErrShort) {
			return nil, faultOf(parseEntry(raw), "%w", err)
		}
		boundary = err == nil && era == eraBoundary
	}
	entries, err := parseSecondary(raw, c.number, c.size, boundary, growing)
	if rest := len(raw) % entrySize; err == nil && rest != 0 {
		err = faultOf(entries[len(entries)-1], "the index is cut: %d bytes follow the entry of this block, an entry has %d", rest, entrySize)
	}
	return entries, err
}

// measureLast finds the end of the last block of the newest chunk: the index does not have it, and a node may have
// started to write the next block. The error is [errCut] if the block is incomplete.
func measureLast(c *chunk, e *Entry) error {
	w := walker{chunk: c, at: e.Offset}
	seen, _, err := w.next()
	if err == nil && (seen.Hash != e.Hash || seen.HeaderOffset != e.HeaderOffset || seen.HeaderSize != e.HeaderSize) {
		err = fmt.Errorf("found block %s, with a header of %d bytes at %d", seen.Hash, seen.HeaderSize, seen.HeaderOffset)
	}
	if err != nil {
		return faultOf(*e, "%w", err)
	}
	e.Size = seen.Size
	return nil
}

// explain adds chunk and block to a fault.
func (d *DB) explain(number int, code string, err error) error {
	f, ok := errors.AsType[*fault](err)
	if !ok {
		if _, named := errors.AsType[*model.Error](err); err == nil || named {
			return err
		}
		return adapter.PathError(d.file(number, chunkSuffix), err)
	}
	f.at.Chunk = number
	return d.errorf(code, f.at, "%w", f.err)
}
