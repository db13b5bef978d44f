package blockfile

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	"birthmark/chains/bitcoin/block"
	"birthmark/chains/bitcoin/params"
	"birthmark/model"
)

const (
	// RecordHead is the length of magic and block length, which are before each block.
	RecordHead = 8

	windowSize = 4 << 10
	maxHeader  = 2 << 10 // bytes with the header of a coin with a longer one
)

// record is a block in a block file.
type record struct {
	hash   model.Hash
	parent model.Hash
	offset int64 // of the block in the file
	size   uint32
	time   uint32     // of the header
	work   block.Work // of the header
}

// end returns the offset after the block.
func (r *record) end() int64 { return r.offset + int64(r.size) }

// scan is the result of scanning a block file.
type scan struct {
	records []record
	end     int64   // after the last record
	skipped []error // the errors of damaged data before a record
	cut     error   // the error of the data after end; nil if there is nothing or padding

	rejected []rejected
}

// rejected is a complete record with an invalid block.
type rejected struct {
	hash   model.Hash
	parent model.Hash
	fault  error
}

// recordReader finds the records of a block file without reading whole blocks.
type recordReader struct {
	net   *params.Network
	path  string // for errors
	first bool   // this is the first file
	key   []byte // of the XOR: nil or 8 bytes

	decode func(raw []byte) error // decodes a whole block
	grow   func(to int64) error   // reads a stream up to an offset; nil: the file has its size

	file  io.ReaderAt
	size  int64
	at    int64 // offset of plain and raw in the file
	plain []byte
	raw   []byte

	lastBits uint32 // most consecutive headers have the same target
	lastWork block.Work
}

func (r *recordReader) errorf(code string, offset int64, format string, args ...any) error {
	err := fmt.Errorf(format, args...)
	if coded, ok := errors.AsType[*model.Error](err); ok {
		code = coded.Code
	}
	return model.Errorf(model.BadSource, code, "%s, offset %d: %w", r.path, offset, err)
}

// scan finds the records from an offset and checks the proof of work of every header. Like Bitcoin Core's
// LoadExternalBlockFile it skips anything else: a node that is killed leaves half records, and writes the blocks again.
func (r *recordReader) scan(from int64) (scan, error) {
	s := scan{end: from}
	start, err := r.skipPadding(from)
	for err == nil && start < r.size {
		var rec record
		var next int64
		var fault error
		if rec, next, fault, err = r.next(start); err != nil {
			break
		}
		if fault != nil {
			_, growing := errors.AsType[unfinished](fault)
			fault = r.errorf("bad_block", start, "%w", fault)
			if rec.parent != (model.Hash{}) && !growing {
				s.rejected = append(s.rejected, rejected{rec.hash, rec.parent, fault})
			}
			if rec, err = r.searchAfter(start, s.end == 0); err != nil {
				break
			}
			switch {
			case s.cut != nil:
			case rec.size == 0, growing: // a node can still be writing the record: the next scan begins there
				s.cut = fault
			default:
				s.skipped = append(s.skipped, fault)
			}
			if rec.size == 0 {
				break
			}
			next, err = r.skipPadding(rec.end())
		}
		s.records = append(s.records, rec)
		if start = next; s.cut == nil {
			s.end = rec.end()
		}
	}
	return s, err
}

// unfinished is the error of a record that a node can still be writing.
type unfinished struct{ error }

// next reads the record at start and returns the offset of the next one. fault is why there is no record. If neither
// another record nor the end of the file follows at once, the block must decode: it can be cut, and its rest is other
// blocks.
func (r *recordReader) next(start int64) (rec record, next int64, fault, err error) {
	if !r.atMagic(start) {
		head, err := r.peek(start, len(r.net.Magic))
		return rec, 0, fmt.Errorf("%x is not the start of a record", head), err
	}
	if rec, fault, err = r.record(start); errors.Is(fault, model.ErrNewer) {
		fault, err = nil, r.errorf("bad_block", start, "%w", fault)
	}
	if fault != nil || err != nil {
		return rec, 0, fault, err
	}
	if rec.end() == r.size || r.atMagic(rec.end()) {
		return rec, rec.end(), nil, nil
	}
	if next, err = r.skipPadding(rec.end()); err != nil {
		return rec, 0, nil, err
	}
	var buffer block.Buffer
	defer buffer.Free()
	buffer.Grow(int(rec.size))
	raw := buffer.Bytes[:rec.size]
	if _, err := r.file.ReadAt(raw, rec.offset); err != nil {
		return rec, 0, nil, r.errorf("source_unreadable", rec.offset, "%w", err)
	}
	const tail = 64 // bytes; a valid block can end in as many zeros
	zeros := len(bytes.Trim(raw[max(0, len(raw)-tail):], "\x00")) == 0
	unmask(raw, r.key, rec.offset)
	fault = r.decode(raw)
	if fault != nil && zeros && next == r.size { // the node reserved the space of the block, and more
		fault = unfinished{fmt.Errorf("the block is not completely written: %w", fault)}
	}
	return rec, next, fault, nil
}

// searchAfter searches a record after the data at start, which are not a record. If they are the first of a file, it can
// be of another kind: then the file is not searched as a whole, and it is an error if it is the first of all.
func (r *recordReader) searchAfter(start int64, first bool) (record, error) {
	if !first || r.atMagic(start) {
		return r.search(start+1, r.size)
	}
	rec, err := r.search(start+1, min(r.size, start+int64(r.net.Coin.Format.MaxSize)))
	if err == nil && rec.size == 0 && r.first {
		err = r.notBlocks(start)
	}
	return rec, err
}

// search returns the first record between two offsets whose block decodes, or none.
func (r *recordReader) search(from, to int64) (record, error) {
	for at := from; at < to; {
		window, err := r.peek(at, windowSize)
		if err != nil {
			return record{}, err
		}
		i := bytes.Index(window, r.net.Magic[:])
		if i < 0 {
			at += int64(max(1, len(window)-len(r.net.Magic)+1))
			continue
		}
		at += int64(i)
		rec, fault, err := r.record(at)
		if err == nil && fault == nil {
			fault, err = r.check(rec)
		}
		if err != nil || fault == nil {
			return rec, err
		}
		at++
	}
	return record{}, nil
}

// check reads and decodes a block.
func (r *recordReader) check(rec record) (fault, err error) {
	var buffer block.Buffer
	defer buffer.Free()
	buffer.Grow(int(rec.size))
	raw := buffer.Bytes[:rec.size]
	if _, err := r.file.ReadAt(raw, rec.offset); err != nil {
		return nil, r.errorf("source_unreadable", rec.offset, "%w", err)
	}
	unmask(raw, r.key, rec.offset)
	return r.decode(raw), nil
}

func (r *recordReader) atMagic(at int64) bool {
	head, err := r.peek(at, len(r.net.Magic))
	return err == nil && bytes.Equal(head, r.net.Magic[:])
}

// record reads the header of the record at start, which has the magic. fault is why it is not a record; rec has the
// parent if the record is complete.
func (r *recordReader) record(start int64) (rec record, fault, err error) {
	format := r.net.Coin.Format
	prefix, err := r.peek(start, RecordHead)
	if err != nil {
		return rec, nil, err
	}
	if len(prefix) < RecordHead {
		return rec, fmt.Errorf("%x is the start of a record, but the file ends there", prefix), nil
	}
	length := binary.LittleEndian.Uint32(prefix[4:])
	if err := r.tooLarge(start, length); err != nil {
		return rec, nil, err
	}
	if most := format.MaxSize; length <= block.HeaderSize || int64(length) > int64(most) {
		return rec, fmt.Errorf("a record of %d bytes: expected %d to %d", length, block.HeaderSize+1, most), nil
	}
	rec.offset, rec.size = start+RecordHead, length
	if r.grow != nil {
		if err := r.grow(rec.end() + RecordHead); err != nil {
			return rec, nil, err
		}
	}
	if left := r.size - rec.offset; left < int64(length) {
		return rec, unfinished{fmt.Errorf("a record of %d bytes, but only %d are left", length, left)}, nil
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
	if bytes.HasPrefix(raw, r.net.Magic[:]) {
		return rec, errors.New("a record without a block"), nil
	}
	h := block.Header(raw)
	if _, err := format.HeaderSize(raw); err != nil {
		return rec, err, nil
	}
	rec.hash, rec.parent, rec.time = format.HashOf(raw), h.Parent(), format.Time(h)
	if r.net.Limit == nil { // the chain with the most blocks is the best
		rec.work = block.Work{Lo: 1}
		return rec, nil, nil
	}
	if err := r.checkWork(h, rec.hash); err != nil {
		return rec, err, nil
	}
	if bits := format.Bits(h); bits != r.lastBits {
		r.lastBits, r.lastWork = bits, block.WorkOf(bits)
	}
	rec.work = r.lastWork
	return rec, nil, nil
}

// tooLarge returns an error if the record at start is a block that exceeds the maximum of a coin with large blocks. If its
// size has more than 32 bits, the node of BSV writes 0xffffffff, and the size in 8 bytes after it.
func (r *recordReader) tooLarge(start int64, length uint32) error {
	f := r.net.Coin.Format
	if f.MaxSize <= block.Large || int64(length) <= int64(f.MaxSize) {
		return nil
	}
	head, size := RecordHead, uint64(length)
	if length == math.MaxUint32 {
		head += 8
	}
	b, err := r.peek(start, head+block.HeaderSize)
	if err != nil || len(b) < head+block.HeaderSize {
		return err
	}
	if length == math.MaxUint32 {
		size = binary.LittleEndian.Uint64(b[RecordHead:])
	}
	raw := bytes.Clone(b[head:])
	if r.net.Limit == nil || r.checkWork(block.Header(raw), f.HashOf(raw)) != nil {
		return nil // not a block
	}
	return r.errorf("block_too_large", start, "block %s has %d bytes, more than the %d that are supported",
		block.FormatHash(f.HashOf(raw)), size, f.MaxSize)
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

// selects returns the flags that select a network instead of now.
func selects(n, now *params.Network) string {
	network := "--network " + n.Name
	if n.Coin == now.Coin {
		return network
	}
	return "--chain " + n.Coin.Name + " " + network
}

// notBlocks returns the error of a file whose data at start, its first, are not a record.
func (r *recordReader) notBlocks(start int64) error {
	head, err := r.peek(start, len(r.net.Magic))
	if err != nil {
		return err
	}
	if len(head) == len(r.net.Magic) {
		if other := cmp.Or(r.net.ByMagic(head), params.ByMagic(head)); other != nil && other != r.net {
			return r.errorf("wrong_network", start, "blocks of %s, expected those of %s: use %s", other.FullName(),
				r.net.FullName(), selects(other, r.net))
		}
	}
	hint := ""
	if r.key == nil {
		hint = "; XORed files need the node's xor.dat in the same folder"
	}
	if strings.HasPrefix(r.net.Name, "signet") {
		hint += "; a custom signet needs the setting signet_challenge"
	}
	return r.errorf("bad_block", start, "not block data: expected a record of %s, which starts with %x, found %x%s",
		r.net.FullName(), r.net.Magic, head, hint)
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
