package cache

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"hash/crc64"
	"io"

	"birthmark/core/schema"
	"birthmark/model"
	"birthmark/storage"
)

// snapshotName is the side file with the caches of a closed database. It is valid for one block; rows written later
// complete it. It may be missing, or belong to a removed block: then it is not used.
const snapshotName = "caches"

// snapshotVersion is the first byte of a snapshot.
const snapshotVersion = 3

var errSnapshot = errors.New("the cache snapshot is damaged")

// WriteSnapshot writes the caches to a side file of the store; at is the newest block whose entries they have. It
// writes nothing if they were not warmed up, if the last snapshot is of the same block, or if the store has no side
// files.
func (c *Caches) WriteSnapshot(store storage.Store, l *schema.Layout, at model.Point) error {
	n, ok := store.(storage.SideFiles)
	if !ok || at.IsOrigin() || at == c.snapshotAt || !c.warmed {
		return nil
	}
	c.snapshotAt = at
	return n.WriteSideFile(snapshotName, func(w io.Writer) error {
		out := &snapshotWriter{w: w}
		out.bytes([]byte{snapshotVersion})
		tip := schema.AppendTip(nil, at)
		out.numbers(uint64(len(tip)))
		out.bytes(tip)
		out.numbers(uint64(len(l.Indexes)))
		for _, x := range l.Indexes {
			out.numbers(uint64(x.Number))
		}
		out.numbers(c.Fingerprints.k0, c.Fingerprints.k1)
		c.Known.write(out)
		c.Unspent.write(out, c.Unspent.used)
		c.Births.write(out, maxSnapshotBirths)
		out.flush()
		out.numbers(out.sum)
		out.flush()
		return out.err
	})
}

// readSnapshot fills the caches from the snapshot and returns its block; the origin if there is no usable snapshot.
func (c *Caches) readSnapshot(ctx context.Context, d Contents) (at model.Point, err error) {
	n, ok := d.Store.(storage.SideFiles)
	if !ok {
		return at, nil
	}
	empty := c.Fingerprints
	err = n.ReadSideFile(snapshotName, func(r io.Reader) error {
		in := &snapshotReader{r: bufio.NewReaderSize(r, 1<<20)}
		if version := in.bytes(1); version[0] != snapshotVersion {
			return errSnapshot
		}
		size := in.number()
		if size > 1<<10 {
			return errSnapshot
		}
		tip, err := schema.ParseTip(in.bytes(int(size)))
		if err != nil || in.err != nil {
			return errors.Join(errSnapshot, err)
		}
		if in.number() != uint64(len(d.Layout.Indexes)) {
			return errSnapshot // an index was added or dropped since
		}
		for _, x := range d.Layout.Indexes {
			if in.number() != uint64(x.Number) {
				return errSnapshot
			}
		}
		var there model.Point
		err = d.Store.View(ctx, func(r storage.Reader) (err error) {
			there, err = schema.PointAt(r, tip.Height)
			return err
		})
		if err != nil || there != tip {
			return errors.Join(errSnapshot, err) // of an orphaned branch
		}
		c.Fingerprints = fingerprinter{in.number(), in.number()}
		c.Known.read(in)
		c.Unspent.read(in)
		c.Births.read(in)
		sum := in.sum
		if in.number() != sum || in.err != nil {
			return errors.Join(errSnapshot, in.err)
		}
		at = tip
		return nil
	})
	if err != nil {
		// An invalid snapshot is only ignored.
		c.Fingerprints = empty
		c.clear()
		at = model.Point{}
	}
	c.snapshotAt = at
	return at, ctx.Err()
}

// A snapshot consists of numbers, most of them of 8 bytes, little-endian, and their checksum: CRC-64 (ECMA).
var snapshotCRC = crc64.MakeTable(crc64.ECMA)

type snapshotWriter struct {
	w   io.Writer
	b   []byte // not written yet
	sum uint64
	err error
}

const snapshotBuffer = 256 << 10

func (w *snapshotWriter) bytes(b []byte) {
	if w.b = append(w.b, b...); len(w.b) > snapshotBuffer {
		w.flush()
	}
}

func (w *snapshotWriter) numbers(ns ...uint64) {
	for _, n := range ns {
		w.b = binary.LittleEndian.AppendUint64(w.b, n)
	}
	w.bytes(nil)
}

func (w *snapshotWriter) flush() {
	w.sum = crc64.Update(w.sum, snapshotCRC, w.b)
	if _, err := w.w.Write(w.b); w.err == nil {
		w.err = err
	}
	w.b = w.b[:0]
}

type snapshotReader struct {
	r   *bufio.Reader
	b   [8]byte
	sum uint64
	err error
}

func (r *snapshotReader) bytes(n int) []byte {
	b := make([]byte, n)
	r.fill(b)
	return b
}

func (r *snapshotReader) fill(b []byte) {
	if r.err == nil {
		_, r.err = io.ReadFull(r.r, b)
	}
	r.sum = crc64.Update(r.sum, snapshotCRC, b)
}

func (r *snapshotReader) number() uint64 {
	r.fill(r.b[:])
	return binary.LittleEndian.Uint64(r.b[:])
}

// write appends the layers of the filter; if it is disabled, only that.
func (f *Bloom) write(w *snapshotWriter) {
	if !f.complete {
		w.numbers(0, 0)
		return
	}
	w.numbers(1, uint64(len(f.layers)))
	for i := range f.layers {
		l := &f.layers[i]
		w.numbers(uint64(len(l.blocks)), uint64(l.remaining))
		for j := range l.blocks {
			w.numbers(l.blocks[j][:]...)
		}
	}
}

func (f *Bloom) read(r *snapshotReader) {
	f.disable()
	f.complete = r.number() == 1
	for n := r.number(); n > 0 && r.err == nil; n-- {
		blocks, remaining := r.number(), r.number()
		if blocks > uint64(f.maxBytes-f.bytes)/bloomBlockSize {
			// No room in this process: it is skipped.
			f.disable()
			for n := blocks * bloomBlockSize / 8; n > 0 && r.err == nil; n-- {
				r.number()
			}
			continue
		}
		f.bytes += int64(blocks) * bloomBlockSize
		l := newBloomLayer(int(blocks), int(remaining))
		for j := range l.blocks {
			for k := range l.blocks[j] {
				l.blocks[j][k] = r.number()
			}
		}
		f.layers = append(f.layers, l)
	}
	if !f.complete {
		f.disable()
	}
}

// maxSnapshotBirths is about the maximum number of births in a snapshot: 1.5 MB. Others are looked up when they occur.
const maxSnapshotBirths = 1 << 16

// write appends the entries of the table and a 0. A table with more than most entries appends about the youngest
// referenced ones.
func (t *Table) write(w *snapshotWriter, most int) {
	want := func(e *entry) bool { return t.used <= most || e.rest&referenced != 0 }
	oldest := t.newest(most, want)
	for i := range t.entries {
		if e := &t.entries[i]; e.tag != 0 && e.pk >= oldest && want(e) {
			// A number that does not fit follows.
			if w.numbers(e.tag, e.pk, e.rest&^referenced); e.rest&t.numbers() == t.numbers() {
				w.numbers(t.number(e))
			}
		}
	}
	w.numbers(0)
}

func (t *Table) read(r *snapshotReader) {
	for tag := r.number(); tag > 0 && r.err == nil; tag = r.number() {
		pk, rest := r.number(), r.number()
		number := rest & t.numbers()
		if number == t.numbers() {
			number = r.number()
		}
		t.insert(tag, rest&t.mask(), pk, number)
	}
}
