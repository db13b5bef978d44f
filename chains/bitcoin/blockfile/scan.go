package blockfile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"birthmark/chains/bitcoin/block"
	"birthmark/chains/bitcoin/params"
	"birthmark/model"
)

const (
	// RecordHead is the length of magic and block length, which are before each block.
	RecordHead = 8

	xorKeySize = 8
	windowSize = 4 << 10
	maxHeader  = 2 << 10 // bytes with the header of a coin with a longer one
)

// record is a block in a block file.
type record struct {
	hash   model.Hash
	parent model.Hash
	offset int64 // of the block in the file
	size   uint32
	work   block.Work // of the header
}

// scan is the result of scanning a block file.
type scan struct {
	records []record
	end     int64 // after the last record
	cut     error // the error of a truncated record at end; nil if there is nothing or padding
}

// recordReader finds the records of a block file without reading whole blocks.
type recordReader struct {
	net  *params.Network
	path string // for errors
	key  []byte // of the XOR: nil or 8 bytes

	file  io.ReaderAt
	size  int64
	at    int64 // offset of plain and raw in the file
	plain []byte
	raw   []byte

	lastBits uint32 // most consecutive headers have the same target
	lastWork block.Work
}

func (r *recordReader) errorf(code string, offset int64, format string, args ...any) error {
	return model.Errorf(model.BadSource, code, "%s, offset %d: %w", r.path, offset, fmt.Errorf(format, args...))
}

// scan finds the records from an offset and checks the proof of work of every header.
func (r *recordReader) scan(from int64) (scan, error) {
	s := scan{end: from}
	for {
		start, err := r.skipPadding(s.end)
		if err != nil {
			return s, err
		}
		head, err := r.peek(start, RecordHead)
		if err != nil || len(head) == 0 {
			return s, err
		}
		if len(head) < RecordHead || !bytes.Equal(head[:4], r.net.Magic[:]) {
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

// record reads the header of the record at start. fault is why it is truncated.
func (r *recordReader) record(start int64, length uint32) (rec record, fault, err error) {
	format := r.net.Coin.Format
	if most := format.MaxSize; length <= block.HeaderSize || int64(length) > int64(most) {
		return rec, fmt.Errorf("a record of %d bytes: expected %d to %d", length, block.HeaderSize+1, most), nil
	}
	rec.offset, rec.size = start+RecordHead, length
	if left := r.size - rec.offset; left < int64(length) {
		return rec, fmt.Errorf("a record of %d bytes, but only %d are left", length, left), nil
	}
	head := min(r.mostHeader(), int(length))
	raw, err := r.peek(rec.offset, head)
	if err != nil {
		return rec, nil, err
	}
	if len(raw) < head {
		return rec, errors.New("the file was truncated during the scan"), nil
	}
	if i := rec.offset - r.at; len(bytes.Trim(r.raw[i:i+block.HeaderSize], "\x00")) == 0 {
		return rec, errors.New("the block is not written yet"), nil
	}
	h := block.Header(raw)
	if _, err := format.HeaderSize(raw); err != nil {
		return rec, nil, r.errorf("bad_block", start, "%w", err)
	}
	rec.hash, rec.parent = format.HashOf(raw), h.Parent()
	if r.net.Limit == nil { // the chain with the most blocks is the best
		rec.work = block.Work{Lo: 1}
		return rec, nil, nil
	}
	if err := r.checkWork(h, rec.hash); err != nil {
		return rec, nil, r.errorf("bad_block", start, "%w", err)
	}
	if bits := format.Bits(h); bits != r.lastBits {
		r.lastBits, r.lastWork = bits, block.WorkOf(bits)
	}
	rec.work = r.lastWork
	return rec, nil, nil
}

// checkWork checks the proof of work of a header. If it is not that of Bitcoin, the decoder checks it, which takes much
// longer: here only the target is checked.
func (r *recordReader) checkWork(h block.Header, hash model.Hash) error {
	f := r.net.Coin.Format
	if f.Work != nil {
		return f.CheckTarget(h, r.net.Limit)
	}
	return f.CheckWork(h, hash, r.net.Limit)
}

// mostHeader bounds the size of a header.
func (r *recordReader) mostHeader() int {
	if r.net.Coin.Format.Header != nil {
		return maxHeader
	}
	return block.HeaderSize
}

// finish ends a scan at bytes that are not the start of a record.
func (r *recordReader) finish(s scan, start int64, head []byte) (scan, error) {
	if len(head) >= 4 {
		if other := r.net.ByMagic(head[:4]); other != nil && other != r.net {
			return s, r.errorf("wrong_network", start, "blocks of %s: expected %s", other.FullName(), r.net.Name)
		}
	}
	if s.end == 0 {
		hint := ""
		if r.key == nil {
			hint = "; XORed files need the node's xor.dat in the same folder"
		}
		return s, r.errorf("bad_block", start, "not block data: expected a record of %s, which starts with %x, found %x%s",
			r.net.FullName(), r.net.Magic, head[:min(4, len(head))], hint)
	}
	return r.cutAt(s, start, fmt.Errorf("%x is not the start of a record", head[:min(4, len(head))]))
}

// cutAt handles a truncated record at start. It is an error if another record follows. Otherwise the file ends there:
// a node is writing to it, or crashed.
func (r *recordReader) cutAt(s scan, start int64, fault error) (scan, error) {
	overlap := RecordHead + r.mostHeader()
	for at := start + 1; at < r.size; at += int64(windowSize - overlap) {
		window, err := r.peek(at, windowSize)
		if err != nil {
			return s, err
		}
		for i := 0; ; i++ {
			next := bytes.Index(window[i:], r.net.Magic[:])
			if next < 0 || len(window)-i-next < overlap {
				break
			}
			i += next
			h := block.Header(window[i+RecordHead:])
			if _, err := r.net.Coin.Format.HeaderSize(h); r.net.Limit != nil && err == nil && r.checkWork(h, r.net.Coin.Format.HashOf(h)) == nil {
				return s, r.errorf("bad_block", start, "%w, but a block follows at offset %d: the file is damaged", fault, at+int64(i))
			}
		}
	}
	s.cut = r.errorf("bad_block", start, "%w", fault)
	return s, nil
}

// skipPadding returns the offset of the next byte that is not padding, or the end of the file.
func (r *recordReader) skipPadding(at int64) (int64, error) {
	head, err := r.peek(at, RecordHead)
	if err != nil || bytes.HasPrefix(head, r.net.Magic[:]) {
		return at, err
	}
	for at < r.size {
		window, err := r.peek(at, windowSize)
		if err != nil || len(window) == 0 {
			return at, err
		}
		raw, atEnd := r.raw[at-r.at:], at+int64(len(window)) == r.size
		i := 0
		for i < len(window) && (atEnd || len(window)-i >= len(r.net.Magic)) {
			if i+8 <= len(window) && r.isPadding(window[i:i+8], raw[i:i+8]) {
				i += 8
				continue
			}
			// The first byte of an XORed record can be zero, so look for a record before each byte.
			b := window[i]
			if b != 0 && raw[i] != 0 || b == r.net.Magic[0] && bytes.HasPrefix(window[i:], r.net.Magic[:]) {
				return at + int64(i), nil
			}
			i++
		}
		at += int64(i)
	}
	return at, nil
}

// isPadding reports whether eight bytes are zeros, before or after the XOR, in which no record can begin. A node extends
// its files by 16 MiB of zeros.
func (r *recordReader) isPadding(plain, raw []byte) bool {
	zeros := binary.LittleEndian.Uint64(plain) == 0 || binary.LittleEndian.Uint64(raw) == 0
	return zeros && bytes.IndexByte(plain, r.net.Magic[0]) < 0
}

// peek returns n bytes at an offset without the XOR, fewer at the end of the file. They are valid until the next call.
func (r *recordReader) peek(at int64, n int) ([]byte, error) {
	if at < r.at || at+int64(n) > r.at+int64(len(r.plain)) {
		if cap(r.raw) < windowSize {
			r.raw, r.plain = make([]byte, windowSize), make([]byte, windowSize)
		}
		read, err := r.file.ReadAt(r.raw[:windowSize], at)
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, r.errorf("source_unreadable", at, "%w", err)
		}
		// Bytes written after Stat belong to the next scan.
		read = int(max(0, min(int64(read), r.size-at)))
		r.at, r.raw, r.plain = at, r.raw[:read], r.plain[:read]
		copy(r.plain, r.raw)
		unmask(r.plain, r.key, at)
	}
	window := r.plain[at-r.at:]
	return window[:min(n, len(window))], nil
}

// unmask reverses the XOR of bytes at an offset of a file.
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
