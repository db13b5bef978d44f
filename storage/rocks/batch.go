package rocks

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"

	"birthmark/internal/offheap"
	"birthmark/storage"
)

// batch collects the changes of one update, which are then encoded as a WriteBatch or as tables. Its buffers are
// reused.
type batch struct {
	families []*changes // by number; nil if nothing changed
	out      []byte
	sortBuf  sortBuffer
}

// changes are the changes of one family. Each is encoded in data as in a WriteBatch: key size (uvarint), key and,
// unless it is a deletion, value size (uvarint), value.
type changes struct {
	data       []byte
	n          int
	lastKey    int    // offset in data of the last change's key
	lastSize   int    // its size in bytes
	lastPrefix uint64 // its first 8 bytes
	ordered    bool   // the keys were strictly ascending so far

	// records is filled only if keys are out of order or a change is no put: else data is read from start to end.
	listed      bool
	records     []record
	restOrdered bool // what follows the first 8 bytes was strictly ascending so far

	dataPages, recordPages *offheap.Memory
}

// record locates one change. Its layout equals birthmark_row in shim.h.
type record struct {
	prefix uint64 // the first 8 bytes of the key, big-endian
	place  uint64 // offset in data << 2 | kind
}

// The kinds of changes, as in shim.cc.
const (
	put = iota
	deletion
	addition // of sums: see storage.SumsBatch
)

func (r record) at() int       { return int(r.place >> 2) }
func (r record) deleted() bool { return r.place&3 == deletion }

func (b *batch) family(f storage.Family) *changes {
	for int(f) >= len(b.families) {
		b.families = append(b.families, nil)
	}
	c := b.families[f]
	if c == nil {
		c = &changes{dataPages: offheap.New(0), recordPages: offheap.New(0)}
		c.reset()
		b.families[f] = c
	}
	return c
}

// reset empties the batch and keeps its buffers.
func (b *batch) reset() {
	for _, c := range b.families {
		if c != nil {
			c.reset()
		}
	}
}

// release frees the buffers.
func (b *batch) release() {
	for _, c := range b.families {
		if c != nil {
			c.data, c.records = nil, nil
			c.dataPages.Resize(0)
			c.recordPages.Resize(0)
		}
	}
	b.out = nil
	b.sortBuf.release()
	b.reset()
}

func (c *changes) reset() {
	c.data, c.records, c.n, c.ordered, c.listed = c.data[:0], c.records[:0], 0, true, false
}

// Put implements [storage.Batch].
func (b *batch) Put(f storage.Family, key, value []byte) { b.family(f).addRow(key, value, put) }

// Delete implements [storage.Batch].
func (b *batch) Delete(f storage.Family, key []byte) { b.family(f).add(key, 0, deletion) }

// bulkBatch is a batch that is written as tables.
type bulkBatch struct{ *batch }

// AddSums implements [storage.SumsBatch].
func (b bulkBatch) AddSums(f storage.Family, key, sums []byte) {
	b.family(f).addRow(key, sums, addition)
}

func (c *changes) addRow(key, value []byte, kind uint64) {
	c.add(key, len(value), kind)
	c.data = binary.AppendUvarint(c.data, uint64(len(value)))
	c.data = append(c.data, value...)
}

// add appends the key of a change and reserves room for a value of that many bytes.
func (c *changes) add(key []byte, value int, kind uint64) {
	c.data = offheap.Room(c.dataPages, c.data, 2*binary.MaxVarintLen64+len(key)+value)
	first, at := prefix(key), len(c.data)
	if c.ordered && c.n > 0 {
		c.ordered = c.lastPrefix < first ||
			c.lastPrefix == first && bytes.Compare(c.data[c.lastKey:c.lastKey+c.lastSize], key) < 0
	}
	if !c.listed && (!c.ordered || kind != put) {
		c.list()
	}
	if c.listed {
		c.appendRecord(first, at, key, kind)
	}
	c.n++
	c.data = binary.AppendUvarint(c.data, uint64(len(key)))
	c.lastKey, c.lastSize, c.lastPrefix = len(c.data), len(key), first
	c.data = append(c.data, key...)
}

// list fills records with the changes so far.
func (c *changes) list() {
	c.listed, c.restOrdered = true, true
	next := 0
	c.lastKey, c.lastSize = 0, 0
	for range c.n {
		at := next
		size, n := binary.Uvarint(c.data[at:])
		key := c.data[at+n : at+n+int(size)]
		c.appendRecord(prefix(key), at, key, put)
		c.lastKey, c.lastSize = at+n, len(key)
		next = at + len(c.bytesAt(at, false))
	}
}

// appendRecord adds the change after the last one to records.
func (c *changes) appendRecord(first uint64, at int, key []byte, kind uint64) {
	if len(c.records) > 0 && c.restOrdered {
		c.restOrdered = bytes.Compare(afterPrefix(c.data[c.lastKey:c.lastKey+c.lastSize]), afterPrefix(key)) < 0
	}
	c.records = append(offheap.Room(c.recordPages, c.records, 1), record{first, uint64(at)<<2 | kind})
}

// prefix returns the first 8 bytes of a key as a big-endian number; shorter keys are padded with zeros.
func prefix(key []byte) uint64 {
	if len(key) >= 8 {
		return binary.BigEndian.Uint64(key)
	}
	var b [8]byte
	copy(b[:], key)
	return binary.BigEndian.Uint64(b[:])
}

// afterPrefix returns the part of key that prefix does not cover.
func afterPrefix(key []byte) []byte { return key[min(8, len(key)):] }

func (c *changes) keyOf(r record) []byte {
	size, n := binary.Uvarint(c.data[r.at():])
	begin := r.at() + n
	return c.data[begin : begin+int(size)]
}

// bytesAt returns the encoded change at an offset.
func (c *changes) bytesAt(at int, deleted bool) []byte {
	size, n := binary.Uvarint(c.data[at:])
	end := at + n + int(size)
	if !deleted {
		size, n = binary.Uvarint(c.data[end:])
		end += n + int(size)
	}
	return c.data[at:end]
}

// all yields the encoded changes, in key order after sort, and whether each is a deletion.
func (c *changes) all() iter.Seq2[[]byte, bool] {
	return func(yield func([]byte, bool) bool) {
		next := 0
		for i := range c.n {
			at, deleted := next, false
			if c.listed {
				at, deleted = c.records[i].at(), c.records[i].deleted()
			}
			change := c.bytesAt(at, deleted)
			if !yield(change, deleted) {
				return
			}
			next = at + len(change)
		}
	}
}

// sortBuffer is scratch space for sorting, which grows as needed.
type sortBuffer struct {
	records []record
	pages   *offheap.Memory
}

func (s *sortBuffer) release() {
	if s.records = nil; s.pages != nil {
		s.pages.Resize(0)
	}
}

func (s *sortBuffer) room(n int) []record {
	if s.pages == nil {
		s.pages = offheap.New(0)
	}
	s.records = offheap.Room(s.pages, s.records, n)
	return s.records[:n]
}

// sort orders the changes by key and keeps only the last change to each key.
func (c *changes) sort(spare *sortBuffer) {
	if c.ordered {
		return
	}
	sortByPrefix(c.records, spare.room(c.n))
	if !c.restOrdered {
		c.sortRest()
	}
	c.n, c.ordered = len(c.records), true
}

// sortRest orders records with equal prefixes, which are in insertion order, by the rest of their keys.
func (c *changes) sortRest() {
	kept := c.records[:0]
	for i := 0; i < len(c.records); {
		end := i + 1
		for end < len(c.records) && c.records[end].prefix == c.records[i].prefix {
			end++
		}
		group := c.records[i:end]
		if i = end; len(group) == 1 {
			kept = append(kept, group[0])
			continue
		}
		byKey := func(a, b record) int { return bytes.Compare(c.keyOf(a), c.keyOf(b)) }
		slices.SortStableFunc(group, byKey)
		for j, r := range group {
			if j+1 == len(group) || byKey(r, group[j+1]) != 0 {
				kept = append(kept, r)
			}
		}
	}
	c.records = kept
}

// Tags of records in a WriteBatch (db/dbformat.h).
const (
	tagLogData = 0x03 // kTypeLogData: bytes that are only in the log
	tagDelete  = 0x04 // kTypeColumnFamilyDeletion
	tagPut     = 0x05 // kTypeColumnFamilyValue

	batchHeader = 12 // sequence u64, count u32, both little-endian
)

// errTooLarge is returned for a batch larger than maxBatch.
var errTooLarge = errors.New("update larger than 2 GiB")

// maxBatch stays below 4 GiB, where RocksDB's 32-bit counters overflow.
const maxBatch = math.MaxInt32

// encode returns the batch as a WriteBatch: families by number, rows by key, one record per key. column returns the id
// of a family's column family. It begins with log data of 8 bytes: previous, little-endian, the sequence number of the
// last change of the previous batch in the log; 0 if this is the first one of its process (see logs.cc). The bytes are
// valid until the batch changes; they are nil if nothing changed.
func (b *batch) encode(previous uint64, column func(storage.Family) (uint32, error)) ([]byte, error) {
	const tag = 1 + binary.MaxVarintLen32
	size, count := batchHeader+2+8, 0
	for _, c := range b.families {
		if c != nil {
			size += len(c.data) + tag*c.n
		}
	}
	if size > maxBatch {
		return nil, fmt.Errorf("%w: %d bytes", errTooLarge, size)
	}
	out := append(slices.Grow(b.out[:0], size), make([]byte, batchHeader)...)
	out = binary.LittleEndian.AppendUint64(append(out, tagLogData, 8), previous)
	for f, c := range b.families {
		if c == nil || c.n == 0 {
			continue
		}
		id, err := column(storage.Family(f))
		if err != nil {
			return nil, err
		}
		put := binary.AppendUvarint([]byte{tagPut}, uint64(id))
		remove := binary.AppendUvarint([]byte{tagDelete}, uint64(id))
		c.sort(&b.sortBuf)
		count += c.n
		for change, deleted := range c.all() {
			if deleted {
				out = append(out, remove...)
			} else {
				out = append(out, put...)
			}
			out = append(out, change...)
		}
	}
	if count == 0 {
		return nil, nil
	}
	binary.LittleEndian.PutUint32(out[8:], uint32(count))
	b.out = out
	return out, nil
}
