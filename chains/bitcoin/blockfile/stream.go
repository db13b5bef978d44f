package blockfile

import (
	"errors"
	"io"
	"log/slog"
	"slices"

	"birthmark/chains/bitcoin/block"
	"birthmark/chains/bitcoin/params"
	"birthmark/model"
)

// chunk is how many bytes of a stream are read at least.
const chunk = 64 << 10

// mostReserved bounds the zeros after a record that are read to decide whether a node is still writing it. A node extends
// its files by 16 MiB.
const mostReserved = 64 << 20

// Each calls handle with each block of a block file that is read as a stream. It skips the same data as a sync, with a
// warning.
// decode decodes a block. The first error of handle is why the block is invalid, the second ends the iteration; raw is
// valid until handle returns. An invalid block is an error at the end of the stream if no valid one has its parent, and a
// valid one is its parent or its child: with the low work of a test network, damaged data can look like a header. So is a
// stream without blocks.
func Each(net *params.Network, in io.Reader, decode func(raw []byte) error, handle func(raw []byte) (fault, err error)) error {
	w := &window{in: in}
	r := &recordReader{net: net, path: "the input", file: w, decode: decode}
	fill := func(at int64, n int) (err error) {
		err = w.fill(at, n)
		r.size = w.end()
		return err
	}
	r.grow = func(to int64) error { return fill(w.at, int(to-w.at)) }
	var first error // the first fault
	var bad []rejected
	valid, whole := map[model.Hash]bool{}, map[model.Hash]bool{} // valid blocks, and their parents
	for start := int64(0); ; {
		if err := fill(start, chunk); err != nil {
			return err
		}
		at, err := r.skipPadding(start)
		switch {
		case err != nil:
			return err
		case start == 0 && at == 0 && !r.atMagic(0):
			return r.notBlocks(0)
		case at == r.size && w.ended:
			i := slices.IndexFunc(bad, func(b rejected) bool { return !whole[b.parent] && (valid[b.parent] || whole[b.hash]) })
			if i >= 0 {
				return bad[i].fault
			}
			if len(whole) == 0 {
				return first
			}
			return nil
		case at > start:
			start = at
			continue
		}
		rec, next, fault, err := r.next(start)
		for n := 2 * (int(rec.end()-start) + chunk); err == nil && growing(fault) && !w.ended && n < mostReserved; n *= 2 {
			if err = fill(start, n); err == nil {
				rec, next, fault, err = r.next(start)
			}
		}
		if err == nil && fault == nil {
			fault, err = handle(w.from(rec.offset)[:rec.size])
		}
		if err != nil {
			return err
		}
		if fault == nil {
			valid[rec.hash], whole[rec.parent] = true, true
			start = next
			continue
		}
		unfinished := growing(fault)
		fault = r.errorf("bad_block", start, "%w", fault)
		slog.Warn("a block file has damaged data, which are ignored", "error", fault)
		if first == nil {
			first = fault
		}
		if rec.work != (block.Work{}) && !unfinished { // the header is valid
			bad = append(bad, rejected{rec.hash, rec.parent, fault})
		}
		if start, err = r.searchStream(start+1, fill, w); err != nil {
			return err
		}
	}
}

func growing(fault error) bool {
	_, ok := errors.AsType[unfinished](fault)
	return ok
}

// searchStream returns the offset of the next record from an offset whose block decodes, or the end of the stream.
func (r *recordReader) searchStream(from int64, fill func(int64, int) error, w *window) (int64, error) {
	for {
		if err := fill(from, chunk); err != nil {
			return 0, err
		}
		to := r.size
		if !w.ended {
			to -= RecordHead // a record can begin at the end of the window
		}
		rec, err := r.search(from, to)
		switch {
		case err != nil:
			return 0, err
		case rec.size > 0:
			return rec.offset - RecordHead, nil
		case w.ended:
			return r.size, nil
		}
		from = to
	}
}

// window is a part of a stream.
type window struct {
	in    io.Reader
	at    int64  // offset of b in the stream
	b     []byte // bytes that were read
	ended bool
}

func (w *window) end() int64 { return w.at + int64(len(w.b)) }

func (w *window) from(at int64) []byte { return w.b[at-w.at:] }

// fill forgets the bytes before an offset and reads until n follow it, or the end.
func (w *window) fill(at int64, n int) error {
	if len(w.from(at)) >= n || w.ended {
		return nil
	}
	kept := len(w.from(at))
	b := w.b
	if cap(b) < n+n/2 {
		b = make([]byte, n+n/2)
	}
	copy(b[:kept], w.from(at))
	w.at, w.b = at, b[:kept]
	read, err := io.ReadFull(w.in, b[kept:n+n/2])
	w.b = b[:kept+read]
	if w.ended = errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF); w.ended {
		return nil
	}
	return err
}

// ReadAt implements [io.ReaderAt].
func (w *window) ReadAt(p []byte, at int64) (int, error) {
	n := copy(p, w.from(at))
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}
