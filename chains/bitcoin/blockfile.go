package bitcoin

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"birthmark/chains/bitcoin/proof"
	"birthmark/model"
)

// A block file is a sequence of records: the network's magic, the length, the block. Core reserves room ahead of what
// it writes, so zeros may follow, and since version 28 it may have XORed everything it wrote with a key of 8 bytes;
// the reserved zeros were not written and are plain. Others XOR a whole file, so zeros are padding either way.

const (
	recordHead = 8 // magic and length
	xorKeySize = 8
	windowSize = 4 << 10
)

// record is a block as a block file holds it.
type record struct {
	hash   model.Hash
	parent model.Hash
	offset int64 // where the block begins
	size   uint32
	work   proof.Work // of its header alone
}

// scan is what a look at a block file found.
type scan struct {
	records []record
	end     int64 // where the next record would begin
	cut     error // what stands there is no whole record, and none follows; nil where nothing or padding stands there
}

// recordReader finds records in one block file without reading their blocks.
type recordReader struct {
	net  *network
	path string // for messages
	key  []byte // nil, or 8 bytes the file is XORed with

	file  io.ReaderAt
	size  int64
	at    int64 // where window begins in the file
	plain []byte
	raw   []byte

	lastBits uint32 // consecutive headers mostly state the same target
	lastWork proof.Work
}

// errorf is an error about what stands at an offset.
func (r *recordReader) errorf(code string, offset int64, format string, args ...any) error {
	return model.Errorf(model.BadSource, code, "%s, offset %d: %w", r.path, offset, fmt.Errorf(format, args...))
}

// scan walks over the records from an offset on and checks every header's proof of work.
func (r *recordReader) scan(from int64) (scan, error) {
	s := scan{end: from}
	for {
		start, err := r.skipPadding(s.end)
		if err != nil {
			return s, err
		}
		head, err := r.peek(start, recordHead)
		if err != nil || len(head) == 0 {
			return s, err
		}
		if len(head) < recordHead || !bytes.Equal(head[:4], r.net.magic[:]) {
			return r.finish(s, start, head)
		}
		rec, fault, err := r.record(start, binary.LittleEndian.Uint32(head[4:]))
		if err != nil {
			return s, err
		}
		if fault != nil {
			return r.cutAt(s, start, fault)
		}
		s.records = append(s.records, rec)
		s.end = rec.offset + int64(rec.size)
	}
}

// record reads the header of the record at start. fault says why it is not whole.
func (r *recordReader) record(start int64, length uint32) (rec record, fault, err error) {
	if length <= headerSize || length > maxBlockSize {
		return rec, fmt.Errorf("a record of %d bytes, a block has %d to %d", length, headerSize+1, maxBlockSize), nil
	}
	rec.offset, rec.size = start+recordHead, length
	if left := r.size - rec.offset; left < int64(length) {
		return rec, fmt.Errorf("a record of %d bytes where %d are left", length, left), nil
	}
	raw, err := r.peek(rec.offset, headerSize)
	if err != nil {
		return rec, nil, err
	}
	if len(raw) < headerSize {
		return rec, errors.New("the file became shorter while it was read"), nil
	}
	if i := rec.offset - r.at; len(bytes.Trim(r.raw[i:i+headerSize], "\x00")) == 0 {
		return rec, errors.New("the block is not written yet"), nil
	}
	h := header(raw)
	rec.hash, rec.parent = h.hash(), h.parent()
	if err := r.net.checkWork(h, rec.hash); err != nil {
		return rec, nil, r.errorf("bad_block", start, "%w", err)
	}
	if h.bits() != r.lastBits {
		r.lastBits, r.lastWork = h.bits(), proof.WorkOf(h.bits())
	}
	rec.work = r.lastWork
	return rec, nil, nil
}

// finish says what bytes that begin no record of the network mean.
func (r *recordReader) finish(s scan, start int64, head []byte) (scan, error) {
	if len(head) >= 4 {
		if other := networkByMagic(head[:4]); other != nil && other != r.net {
			return s, r.errorf("wrong_network", start, "these are blocks of bitcoin %s, expected %s", other.name, r.net.name)
		}
	}
	if s.end == 0 {
		hint := ""
		if r.key == nil {
			hint = "; files that a node XORs need its xor.dat beside them"
		}
		return s, r.errorf("bad_block", start, "not block data: expected a record of bitcoin %s, which begins with %x, found %x%s",
			r.net.name, r.net.magic, head[:min(4, len(head))], hint)
	}
	return r.cutAt(s, start, fmt.Errorf("%x begins no record", head[:min(4, len(head))]))
}

// cutAt decides about bytes at start that are no whole record: where a record follows them something is missing in
// the middle, which is an error; else the file ends in them, which happens while a node writes or after it crashed.
func (r *recordReader) cutAt(s scan, start int64, fault error) (scan, error) {
	const overlap = recordHead + headerSize
	for at := start + 1; at < r.size; at += windowSize - overlap {
		window, err := r.peek(at, windowSize)
		if err != nil {
			return s, err
		}
		for i := 0; ; i++ {
			next := bytes.Index(window[i:], r.net.magic[:])
			if next < 0 || len(window)-i-next < overlap {
				break
			}
			i += next
			h := header(window[i+recordHead:])
			if r.net.checkWork(h, h.hash()) == nil {
				return s, r.errorf("bad_block", start, "%w, yet a block follows at offset %d: the file was cut or overwritten in between", fault, at+int64(i))
			}
		}
	}
	s.cut = r.errorf("bad_block", start, "%w", fault)
	return s, nil
}

// skipPadding is where the next byte stands that is not padding, or the end of the file.
func (r *recordReader) skipPadding(at int64) (int64, error) {
	head, err := r.peek(at, recordHead)
	if err != nil || bytes.HasPrefix(head, r.net.magic[:]) {
		return at, err
	}
	for at < r.size {
		window, err := r.peek(at, windowSize)
		if err != nil || len(window) == 0 {
			return at, err
		}
		raw, atEnd := r.raw[at-r.at:], at+int64(len(window)) == r.size
		i := 0
		for ; i < len(window) && (atEnd || len(window)-i >= len(r.net.magic)); i++ {
			// A record may begin with a byte that is zero once XORed, so it is looked for before each byte.
			if bytes.HasPrefix(window[i:], r.net.magic[:]) || window[i] != 0 && raw[i] != 0 {
				return at + int64(i), nil
			}
		}
		at += int64(i)
	}
	return at, nil
}

// peek is up to n bytes at an offset, fewer only at the end of the file, without the XOR. They are good until the
// next call.
func (r *recordReader) peek(at int64, n int) ([]byte, error) {
	if at < r.at || at+int64(n) > r.at+int64(len(r.plain)) {
		if cap(r.raw) < windowSize {
			r.raw, r.plain = make([]byte, windowSize), make([]byte, windowSize)
		}
		read, err := r.file.ReadAt(r.raw[:windowSize], at)
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, r.errorf("source_unreadable", at, "%w", err)
		}
		// What was written after the size was looked at belongs to the next look.
		read = int(max(0, min(int64(read), r.size-at)))
		r.at, r.raw, r.plain = at, r.raw[:read], r.plain[:read]
		copy(r.plain, r.raw)
		unmask(r.plain, r.key, at)
	}
	window := r.plain[at-r.at:]
	return window[:min(n, len(window))], nil
}

// unmask undoes the XOR of bytes that stand at an offset of a file.
func unmask(b, key []byte, offset int64) {
	if len(key) != xorKeySize {
		return
	}
	var turned [xorKeySize]byte
	for i := range turned {
		turned[i] = key[(offset+int64(i))%xorKeySize]
	}
	word := binary.LittleEndian.Uint64(turned[:])
	for ; len(b) >= xorKeySize; b = b[xorKeySize:] {
		binary.LittleEndian.PutUint64(b, binary.LittleEndian.Uint64(b)^word)
	}
	for i := range b {
		b[i] ^= turned[i]
	}
}
