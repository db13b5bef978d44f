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

// batch collects the changes of one Update and becomes the bytes of a WriteBatch, or tables. Its buffers are used again.
type batch struct {
	families []*changes // by number; nil where nothing changed yet
	out      []byte
	sortBuf  sortBuffer
}

// changes are those of one family. Each stands in data as a WriteBatch and a table want it: the size of the key as a
// uvarint, the key, and unless it is a deletion the size of the value as a uvarint, and the value.
type changes struct {
	data       []byte
	n          int
	lastKey    int    // where the key of the last change begins in data, and
	lastSize   int    // its size
	lastPrefix uint64 // and its first 8 bytes
	ordered    bool   // changes arrived in the order of their keys, no key twice

	// Rows that arrive in order, nothing deleted, are found one behind the other. Of others there is a list.
	listed      bool
	records     []record
	restOrdered bool // what follows the first 8 bytes of keys arrived in order, nothing twice

	dataPages, recordPages *offheap.Memory
}

// record is one change. Its size and order are known to C (shim.h).
type record struct {
	prefix uint64 // the first 8 bytes of the key
	place  uint64 // where the change begins in data, twice; one more where it is a deletion
}

func (r record) at() int       { return int(r.place >> 1) }
func (r record) deleted() bool { return r.place&1 != 0 }

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

// release gives the buffers' memory back.
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
func (b *batch) Put(f storage.Family, key, value []byte) {
	c := b.family(f)
	c.add(key, len(value), 0)
	c.data = binary.AppendUvarint(c.data, uint64(len(value)))
	c.data = append(c.data, value...)
}

// Delete implements [storage.Batch].
func (b *batch) Delete(f storage.Family, key []byte) { b.family(f).add(key, 0, 1) }

// add begins a change, and makes room for a value of so many bytes; deleted is 1 where there is none.
func (c *changes) add(key []byte, value int, deleted uint64) {
	c.data = offheap.Room(c.dataPages, c.data, 2*binary.MaxVarintLen64+len(key)+value)
	first, at := prefix(key), len(c.data)
	if c.ordered && c.n > 0 {
		c.ordered = c.lastPrefix < first || c.lastPrefix == first && bytes.Compare(c.data[c.lastKey:c.lastKey+c.lastSize], key) < 0
	}
	if !c.listed && (!c.ordered || deleted != 0) {
		c.list()
	}
	if c.listed {
		c.appendRecord(first, at, key, deleted)
	}
	c.n++
	c.data = binary.AppendUvarint(c.data, uint64(len(key)))
	c.lastKey, c.lastSize, c.lastPrefix = len(c.data), len(key), first
	c.data = append(c.data, key...)
}

// list makes the list of the changes up to now.
func (c *changes) list() {
	c.listed, c.restOrdered = true, true
	next := 0
	c.lastKey, c.lastSize = 0, 0
	for range c.n {
		at := next
		size, n := binary.Uvarint(c.data[at:])
		key := c.data[at+n : at+n+int(size)]
		c.appendRecord(prefix(key), at, key, 0)
		c.lastKey, c.lastSize = at+n, len(key)
		next = at + len(c.bytesAt(at, false))
	}
}

// note adds a change to the list, the one behind the last.
func (c *changes) appendRecord(first uint64, at int, key []byte, deleted uint64) {
	if len(c.records) > 0 && c.restOrdered {
		c.restOrdered = bytes.Compare(afterPrefix(c.data[c.lastKey:c.lastKey+c.lastSize]), afterPrefix(key)) < 0
	}
	c.records = append(offheap.Room(c.recordPages, c.records, 1), record{first, uint64(at)<<1 | deleted})
}

// prefix orders keys like their first 8 bytes do: shorter ones are filled up with zeros.
func prefix(key []byte) uint64 {
	if len(key) >= 8 {
		return binary.BigEndian.Uint64(key)
	}
	var b [8]byte
	copy(b[:], key)
	return binary.BigEndian.Uint64(b[:])
}

// rest is what prefix leaves.
func afterPrefix(key []byte) []byte { return key[min(8, len(key)):] }

func (c *changes) keyOf(r record) []byte {
	size, n := binary.Uvarint(c.data[r.at():])
	begin := r.at() + n
	return c.data[begin : begin+int(size)]
}

// bytesAt is all that stands in data of the change that begins there.
func (c *changes) bytesAt(at int, deleted bool) []byte {
	size, n := binary.Uvarint(c.data[at:])
	end := at + n + int(size)
	if !deleted {
		size, n = binary.Uvarint(c.data[end:])
		end += n + int(size)
	}
	return c.data[at:end]
}

// all are the changes as they stand in data, in the order of their keys once they are sorted, and whether each is a deletion.
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

// sorting is room to sort in, which grows with what is sorted.
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

// sort brings the changes into the order of their keys. Of several to a key the last is kept.
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

// sortRest orders records with one prefix, which stand in the order of their arrival.
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
	tagDelete = 0x04 // kTypeColumnFamilyDeletion
	tagPut    = 0x05 // kTypeColumnFamilyValue

	batchHeader = 12 // sequence u64, count u32, both little-endian
)

// errTooLarge is returned for a batch that RocksDB could not take whole.
var errTooLarge = errors.New("an update of more than 2 GiB")

// maxBatch is below the 4 GiB at which RocksDB's counters end.
const maxBatch = math.MaxInt32

// encode makes the bytes of a WriteBatch: families by number, rows by key, one record a key. column says which column
// family a family is. The bytes are the batch's until it is used again; nil where nothing changed.
func (b *batch) encode(column func(storage.Family) (uint32, error)) ([]byte, error) {
	const tag = 1 + binary.MaxVarintLen32
	size, count := batchHeader, 0
	for _, c := range b.families {
		if c != nil {
			size += len(c.data) + tag*c.n
		}
	}
	if size > maxBatch {
		return nil, fmt.Errorf("%w: %d bytes", errTooLarge, size)
	}
	out := append(slices.Grow(b.out[:0], size), make([]byte, batchHeader)...)
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
