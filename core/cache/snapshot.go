package cache

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc64"
	"io"
	"math"
	"path/filepath"

	"birthmark/core/cache/run"
	"birthmark/core/schema"
	"birthmark/model"
	"birthmark/storage"
)

// snapshotName is the side file with the caches. It is valid for one block; rows written later complete it. It may be
// missing, or belong to a removed block: then it is not used.
const snapshotName = "caches"

// snapshotVersion is the first byte of a snapshot.
const snapshotVersion = 5

var (
	errSnapshot = errors.New("it is damaged")
	errOrphaned = errors.New("it is older than a rollback")
)

// WriteSnapshot writes the caches to a side file of the store. at is the tip of the database: entries of later blocks,
// which are not committed yet, are left out. Outputs that such blocks spend are missing, which costs lookups. It writes
// nothing if the caches were not warmed up, if the last snapshot is of the same block, or if the store has no side
// files.
func (c *Caches) WriteSnapshot(store storage.Store, l *schema.Layout, at model.Point) error {
	n, ok := store.(storage.SideFiles)
	if !ok || at.IsOrigin() || at == c.snapshotAt || !c.warmed {
		return nil
	}
	c.snapshotAt = at
	c.syncRuns()
	err := n.WriteSideFile(snapshotName, func(w io.Writer) error {
		out := &snapshotWriter{w: w}
		out.bytes([]byte{snapshotVersion})
		tip := schema.AppendTip(nil, at)
		out.numbers(uint64(len(tip)))
		out.bytes(tip)
		out.indexes(l.Indexes)
		out.indexes(c.owners)
		out.numbers(c.Fingerprints.k0, c.Fingerprints.k1, uint64(len(c.shards)), uint64(c.births))
		for i := range c.shards {
			c.shards[i].writeTo(out, uint64(l.PkAfter(at)))
		}
		out.flush()
		out.numbers(out.sum)
		out.flush()
		return out.err
	})
	if err == nil {
		c.runs.deleteObsolete()
	}
	return err
}

// writeTo appends the entries of a shard before the pointer end.
func (s *shard) writeTo(w *snapshotWriter, end uint64) {
	s.unspent.write(w, func(e *entry) bool { return e.pk < end })
	if s.c.births == birthsComplete {
		s.births.write(w, func(e *entry) bool { return e.pk >= s.spilled && e.pk < end })
	} else {
		most := maxSnapshotBirths / len(s.c.shards)
		want := func(e *entry) bool { return e.pk < end && (s.births.used <= most || e.rest&referenced != 0) }
		oldest := s.births.newest(most, want)
		s.births.write(w, func(e *entry) bool { return e.pk >= oldest && want(e) })
	}
	w.numbers(uint64(len(s.filter.layers)))
	for i := range s.filter.layers {
		l := &s.filter.layers[i]
		w.numbers(uint64(len(l.Filter)), uint64(l.remaining))
		for j := range l.Filter {
			w.numbers(l.Filter[j][:]...)
		}
	}
	w.numbers(s.spilled)
	w.runs(s.birthRuns)
	w.runs(s.outputRuns)
}

func (w *snapshotWriter) indexes(all []*schema.Index) {
	w.numbers(uint64(len(all)))
	for _, x := range all {
		w.numbers(uint64(x.Number))
	}
}

// runs appends the names of runs and what their files lack.
func (w *snapshotWriter) runs(all []*overflow) {
	w.numbers(uint64(len(all)))
	for _, r := range all {
		name, dead := filepath.Base(r.Path()), r.DeadBits()
		w.numbers(uint64(len(name)))
		w.bytes([]byte(name))
		w.numbers(uint64(r.level), r.Limit(), uint64(len(dead)))
		for ; len(dead) > 0; dead = dead[min(len(dead), 1024):] {
			w.numbers(dead[:min(len(dead), 1024)]...)
		}
	}
}

// readSnapshot fills the caches from the snapshot and returns its block. The caches are empty after an error, which is
// [storage.ErrNotFound] if there is no snapshot.
func (c *Caches) readSnapshot(ctx context.Context, d Contents) (at model.Point, err error) {
	n, ok := d.Store.(storage.SideFiles)
	if !ok {
		return at, storage.ErrNotFound
	}
	empty := c.Fingerprints
	err = n.ReadSideFile(snapshotName, func(r io.Reader) error {
		in := &snapshotReader{r: bufio.NewReaderSize(r, 1<<20)}
		if version := in.bytes(1)[0]; version != snapshotVersion {
			return fmt.Errorf("its version is %d, expected %d", version, snapshotVersion)
		}
		size := in.number()
		if size > 1<<10 {
			return errSnapshot
		}
		tip, err := schema.ParseTip(in.bytes(int(size)))
		if err != nil || in.err != nil {
			return errors.Join(errSnapshot, err)
		}
		if !in.indexes(d.Layout.Indexes) || !in.indexes(c.owners) {
			return errors.New("an index was added or dropped since")
		}
		var there model.Point
		err = d.Store.View(ctx, func(r storage.Reader) (err error) {
			there, err = schema.PointAt(r, tip.Height)
			return err
		})
		if err != nil || there != tip {
			return fmt.Errorf("%w: its block %d is not in the database", errOrphaned, tip.Height)
		}
		c.Fingerprints = fingerprinter{in.number(), in.number()}
		if in.number() != uint64(len(c.shards)) {
			return errors.New("it is of a process with much more or less memory")
		}
		if c.births = births(in.number()); c.births > birthsComplete {
			return errSnapshot
		}
		c.divide()
		for i := range c.shards {
			if err := c.shards[i].read(in, uint64(d.Layout.PkAfter(tip))); err != nil {
				return err
			}
		}
		sum := in.sum
		if in.number() != sum || in.err != nil {
			return errors.Join(errSnapshot, in.err)
		}
		at = tip
		return nil
	})
	if err != nil {
		c.Fingerprints = empty
		c.clear()
		at = model.Point{}
	}
	c.divide()
	c.checkRuns()
	c.snapshotAt = at
	return at, err
}

// read reads a shard; end is the pointer after the block of the snapshot.
func (s *shard) read(r *snapshotReader, end uint64) error {
	s.spilled = 0
	s.pin()
	s.unspent.read(r)
	s.births.read(r)
	s.unspilled = s.births.used
	for n := r.number(); n > 0 && r.err == nil; n-- {
		blocks, remaining := r.number(), r.number()
		if s.full = s.full || blocks > math.MaxInt32 || !s.filter.grow(int(blocks)); s.full {
			// No room in this process: it is skipped.
			for n := blocks * run.FilterBlockSize / 8; n > 0 && r.err == nil; n-- {
				r.number()
			}
			continue
		}
		l := &s.filter.layers[len(s.filter.layers)-1]
		l.remaining = int(remaining)
		for j := range l.Filter {
			for k := range l.Filter[j] {
				l.Filter[j][k] = r.number()
			}
		}
	}
	s.spilled = min(r.number(), end)
	err := r.runs(&s.c.runs, &s.birthRuns, end)
	if err == nil {
		err = r.runs(&s.c.runs, &s.outputRuns, end)
	}
	s.pin()
	return err
}

// indexes reports whether the next numbers equal the numbers of the given indexes.
func (r *snapshotReader) indexes(want []*schema.Index) bool {
	same := r.number() == uint64(len(want))
	for _, x := range want {
		same = same && r.number() == uint64(x.Number)
	}
	return same
}

// runs opens the runs that are named next. Entries at or after end are ignored.
func (r *snapshotReader) runs(of *runs, all *[]*overflow, end uint64) error {
	for n := r.number(); n > 0 && r.err == nil; n-- {
		size := r.number()
		if size > 1<<10 || of.folder == "" {
			return errSnapshot
		}
		name := string(r.bytes(int(size)))
		level, limit, words := r.number(), r.number(), r.number()
		if r.err != nil || name != filepath.Base(name) || level > math.MaxInt8 || words > math.MaxInt32/64+1 {
			return errSnapshot
		}
		if err := of.mayOpen(); err != nil {
			return err
		}
		opened, err := run.Open(filepath.Join(of.folder, name))
		if err != nil {
			return err
		}
		*all = append(*all, of.add(opened, int(level)))
		opened.SetLimit(min(limit, end))
		if words == 0 {
			continue
		}
		dead := make([]uint64, words)
		for i := range dead {
			dead[i] = r.number()
		}
		if err := opened.SetDeadBits(dead); err != nil {
			return errors.Join(errSnapshot, err)
		}
	}
	return nil
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

// maxSnapshotBirths is about the maximum number of births in a snapshot of filtered births: 1.5 MB. Others are looked
// up when they occur.
const maxSnapshotBirths = 1 << 16

// write appends the entries of the table for which the function is true, and a 0.
func (t *table) write(w *snapshotWriter, want func(e *entry) bool) {
	for i := range t.entries {
		if e := &t.entries[i]; e.tag != 0 && want(e) {
			// The words and a number that does not fit follow.
			w.numbers(e.tag, e.pk, e.rest&^referenced)
			if t.words > 0 {
				w.numbers(t.at(i)...)
			}
			if e.rest&t.numbers() == t.numbers() {
				w.numbers(t.number(e))
			}
		}
	}
	w.numbers(0)
}

func (t *table) read(r *snapshotReader) {
	words := make([]uint64, t.words)
	for tag := r.number(); tag > 0 && r.err == nil; tag = r.number() {
		pk, rest := r.number(), r.number()
		for i := range words {
			words[i] = r.number()
		}
		number := rest & t.numbers()
		if number == t.numbers() {
			number = r.number()
		}
		t.insert(tag, rest&t.mask(), pk, number, words)
	}
}
