package rocks

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"

	"birthmark/storage"
)

// batch collects the changes of one Update and becomes the bytes of a WriteBatch. Its buffers are used again.
type batch struct {
	families []*changes // by number; nil where nothing changed yet
	out      []byte
}

// changes are those of one family: keys and values one after the other in data.
type changes struct {
	data    []byte
	records []record
	ordered bool // records arrived in the order of their keys, no key twice
}

// record is one change. Ordered by prefix, key and place, the last of a key is the one that counts.
type record struct {
	prefix uint64 // the first 8 bytes of the key
	at     int    // where the key begins in data; the value follows it
	key    uint32 // size of the key
	value  int32  // size of the value; deleted
}

const deleted = -1

func (b *batch) family(f storage.Family) *changes {
	for int(f) >= len(b.families) {
		b.families = append(b.families, nil)
	}
	c := b.families[f]
	if c == nil {
		c = &changes{ordered: true}
		b.families[f] = c
	}
	return c
}

// reset empties the batch and keeps its buffers.
func (b *batch) reset() {
	for _, c := range b.families {
		if c != nil {
			c.data, c.records, c.ordered = c.data[:0], c.records[:0], true
		}
	}
}

// Put implements [storage.Batch].
func (b *batch) Put(f storage.Family, key, value []byte) {
	c := b.family(f)
	c.add(key, len(value))
	c.data = append(c.data, value...)
}

// Delete implements [storage.Batch].
func (b *batch) Delete(f storage.Family, key []byte) { b.family(f).add(key, deleted) }

func (c *changes) add(key []byte, value int) {
	if len(key) == 0 {
		c.data = append(c.data, 0) // changes to one key are told apart by their place
	}
	r := record{prefix(key), len(c.data), uint32(len(key)), int32(value)}
	if n := len(c.records); n > 0 && c.ordered {
		last := &c.records[n-1]
		c.ordered = last.prefix < r.prefix || (last.prefix == r.prefix && bytes.Compare(c.keyOf(last), key) < 0)
	}
	c.records = append(c.records, r)
	c.data = append(c.data, key...)
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

func (c *changes) keyOf(r *record) []byte { return c.data[r.at : r.at+int(r.key)] }

func (c *changes) valueOf(r *record) []byte {
	end := r.at + int(r.key)
	return c.data[end : end+int(r.value)]
}

func (c *changes) sort() {
	if c.ordered {
		return
	}
	slices.SortFunc(c.records, func(a, b record) int {
		if a.prefix != b.prefix {
			if a.prefix < b.prefix {
				return -1
			}
			return 1
		}
		if n := bytes.Compare(c.keyOf(&a), c.keyOf(&b)); n != 0 {
			return n
		}
		return a.at - b.at
	})
	// Of several changes to a key the last is kept.
	kept := c.records[:0]
	for i := range c.records {
		r := c.records[i]
		if n := len(kept); n > 0 && kept[n-1].prefix == r.prefix && bytes.Equal(c.keyOf(&kept[n-1]), c.keyOf(&r)) {
			kept[n-1] = r
			continue
		}
		kept = append(kept, r)
	}
	c.records = kept
	c.ordered = true
}

// Tags of records in a WriteBatch (db/dbformat.h).
const (
	tagDelete = 0x04 // kTypeColumnFamilyDeletion
	tagPut    = 0x05 // kTypeColumnFamilyValue

	batchHeader = 12 // sequence u64, count u32, both little-endian
)

// errTooLarge is returned for a batch that RocksDB could not take whole.
var errTooLarge = errors.New("an update of more than 2 GiB")

// maxBatch is what the size of a record's value can say, and below the 4 GiB at which RocksDB's counters end.
const maxBatch = math.MaxInt32

// encode makes the bytes of a WriteBatch: families by number, rows by key, one record a key. column says which column
// family a family is. The bytes are the batch's until it is used again; nil where nothing changed.
func (b *batch) encode(column func(storage.Family) (uint32, error)) ([]byte, error) {
	size, count := batchHeader, 0
	for _, c := range b.families {
		if c != nil {
			c.sort()
			count += len(c.records)
			size += len(c.data) + 16*len(c.records)
		}
	}
	if count == 0 {
		return nil, nil
	}
	if size > maxBatch || count > math.MaxUint32 {
		return nil, fmt.Errorf("%w: %d bytes, %d rows", errTooLarge, size, count)
	}
	out := append(slices.Grow(b.out[:0], size), make([]byte, batchHeader)...)
	binary.LittleEndian.PutUint32(out[8:], uint32(count))
	for f, c := range b.families {
		if c == nil || len(c.records) == 0 {
			continue
		}
		id, err := column(storage.Family(f))
		if err != nil {
			return nil, err
		}
		for i := range c.records {
			r := &c.records[i]
			tag := byte(tagPut)
			if r.value == deleted {
				tag = tagDelete
			}
			out = append(out, tag)
			out = binary.AppendUvarint(out, uint64(id))
			out = binary.AppendUvarint(out, uint64(r.key))
			out = append(out, c.keyOf(r)...)
			if r.value != deleted {
				out = binary.AppendUvarint(out, uint64(r.value))
				out = append(out, c.valueOf(r)...)
			}
		}
	}
	b.out = out
	return out, nil
}
