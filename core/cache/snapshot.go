package cache

import (
	"bufio"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"hash/crc64"
	"io"
	"slices"

	"birthmark/core/schema"
	"birthmark/model"
	"birthmark/storage"
)

// snapshotName is the side file with the caches of a closed database. It is valid for one block; rows written later
// complete it. It may be missing, or belong to a removed block: then it is not used.
const snapshotName = "caches"

// snapshotVersion is the first byte of a snapshot.
const snapshotVersion = 2

var errSnapshot = errors.New("note of caches is damaged")

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
		c.Unspent.write(out)
		c.Births.writeBirths(out, maxSnapshotBirths)
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
		places := readBirths(in)
		sum := in.sum
		if in.number() != sum || in.err != nil {
			return errors.Join(errSnapshot, in.err)
		}
		at = tip
		return c.learnBirths(ctx, d, places)
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

// learnBirths reads the values of births, of all indexes.
func (c *Caches) learnBirths(ctx context.Context, d Contents, at []model.BirthPk) error {
	return d.Store.View(ctx, func(r storage.Reader) error {
		for part := range slices.Chunk(at, scanBatch) {
			if err := ctx.Err(); err != nil {
				return err
			}
			for _, x := range d.Layout.Indexes {
				if x.Kind != model.OneToOne {
					if err := c.learnValues(r, d.Layout, x.Number, part); err != nil {
						return err
					}
				}
			}
			if d.Totals.Rows[schema.FamilyAssetID] > 0 {
				if err := c.learnValues(r, d.Layout, schema.AssetSpace, part); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

func (c *Caches) learnValues(r storage.Reader, l *schema.Layout, space int, at []model.BirthPk) error {
	_, values, wide := l.BirthFamilies(space)
	keys := make([][]byte, 0, len(at))
	births := make([]model.BirthPk, 0, len(at))
	for _, birth := range at {
		if wide || birth.Ordinal == 0 {
			keys, births = append(keys, birth.AppendTo(nil, wide)), append(births, birth)
		}
	}
	vs, err := r.GetMany(values, keys)
	for i, v := range vs {
		if v != nil {
			c.PutBirth(c.Fingerprints.Value(space, v), births[i])
		}
	}
	return err
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
		blocks, room := r.number(), r.number()
		if blocks > uint64(f.maxBytes-f.bytes)/bloomBlockSize {
			// No room in this process: it is skipped.
			f.disable()
			_, r.err = io.CopyN(snapshotSkipper{r}, r.r, int64(blocks)*bloomBlockSize)
			continue
		}
		f.bytes += int64(blocks) * bloomBlockSize
		l := newBloomLayer(int(blocks), int(room))
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

// snapshotSkipper adds skipped bytes to the checksum.
type snapshotSkipper struct{ r *snapshotReader }

func (s snapshotSkipper) Write(b []byte) (int, error) {
	s.r.sum = crc64.Update(s.r.sum, snapshotCRC, b)
	return len(b), nil
}

// write appends the entries of the table.
func (t *Table) write(w *snapshotWriter) {
	w.numbers(uint64(t.used))
	for i := range t.entries {
		if e := &t.entries[i]; e.tag != 0 {
			// A number that does not fit follows.
			if w.numbers(e.tag, e.pk, e.rest&^referenced); e.rest&t.numbers() == t.numbers() {
				w.numbers(t.number(e))
			}
		}
	}
}

func (t *Table) read(r *snapshotReader) {
	for n := r.number(); n > 0 && r.err == nil; n-- {
		tag, pk, rest := r.number(), r.number(), r.number()
		number := rest & t.numbers()
		if number == t.numbers() {
			number = r.number()
		}
		t.insert(max(tag, 1), rest&t.mask(), pk, number)
	}
}

// maxSnapshotBirths is about the maximum number of births in a snapshot: reading them takes a second or two.
const maxSnapshotBirths = 1_000_000

// writeBirths appends the births in the table in ascending order; the values are read from the database again. It
// appends all births of a table with at most that many entries, and about the youngest referenced ones of a larger one.
func (t *Table) writeBirths(w *snapshotWriter, most int) {
	want := func(e *entry) bool { return t.used <= most || e.rest&referenced != 0 }
	oldest := t.newest(most, want)
	births := make([]model.BirthPk, 0, min(t.used, most))
	for i := range t.entries {
		if e := &t.entries[i]; e.tag != 0 && e.pk >= oldest && want(e) {
			births = append(births, model.BirthPk{Utxo: model.UtxoPk(e.pk), Ordinal: uint16(t.number(e))})
		}
	}
	slices.SortFunc(births, func(a, b model.BirthPk) int {
		return cmp.Or(cmp.Compare(a.Utxo, b.Utxo), cmp.Compare(a.Ordinal, b.Ordinal))
	})
	births = slices.Compact(births) // values of several indexes can have one birth
	w.numbers(uint64(len(births)))
	var b []byte
	last := model.UtxoPk(0)
	for _, birth := range births {
		b = binary.AppendUvarint(b[:0], uint64(birth.Utxo-last))
		w.bytes(binary.AppendUvarint(b, uint64(birth.Ordinal)))
		last = birth.Utxo
	}
}

func readBirths(r *snapshotReader) (births []model.BirthPk) {
	last := model.UtxoPk(0)
	for n := r.number(); n > 0 && r.err == nil; n-- {
		distance, err1 := binary.ReadUvarint(r)
		ordinal, err2 := binary.ReadUvarint(r)
		last += model.UtxoPk(distance)
		births, r.err = append(births, model.BirthPk{Utxo: last, Ordinal: uint16(ordinal)}), errors.Join(r.err, err1, err2)
	}
	return births
}

// ReadByte is for readers of single bytes.
func (r *snapshotReader) ReadByte() (byte, error) {
	r.fill(r.b[:1])
	return r.b[0], r.err
}
