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

// batch collects the changes of one Update and becomes the bytes of a WriteBatch, or tables. Its buffers are used again.
type batch struct {
	families []*changes // by number; nil where nothing changed yet
	out      []byte
	spare    []record
}

// changes are those of one family. Each stands in data as a WriteBatch and a table want it: the size of the key as a
// uvarint, the key, and unless it is a deletion the size of the value as a uvarint, and the value.
type changes struct {
	data    []byte
	records []record
	last    int  // where the key of the last record begins in data, and
	size    int  // its size
	ordered bool // records arrived in the order of their keys, no key twice
	rising  bool // what follows the first 8 bytes of keys arrived in order, nothing twice
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
		c = &changes{}
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

func (c *changes) reset() {
	c.data, c.records, c.ordered, c.rising = c.data[:0], c.records[:0], true, true
}

// Put implements [storage.Batch].
func (b *batch) Put(f storage.Family, key, value []byte) {
	c := b.family(f)
	c.add(key, 0)
	c.data = binary.AppendUvarint(c.data, uint64(len(value)))
	c.data = append(c.data, value...)
}

// Delete implements [storage.Batch].
func (b *batch) Delete(f storage.Family, key []byte) { b.family(f).add(key, 1) }

// add begins a change; deleted is 1 where that is all of it.
func (c *changes) add(key []byte, deleted uint64) {
	r := record{prefix(key), uint64(len(c.data))<<1 | deleted}
	if n := len(c.records); n > 0 && (c.ordered || c.rising) {
		before, last := c.records[n-1].prefix, c.data[c.last:c.last+c.size]
		c.ordered = c.ordered && (before < r.prefix || before == r.prefix && bytes.Compare(last, key) < 0)
		c.rising = c.rising && bytes.Compare(rest(last), rest(key)) < 0
	}
	c.records = append(c.records, r)
	c.data = binary.AppendUvarint(c.data, uint64(len(key)))
	c.last, c.size = len(c.data), len(key)
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

// rest is what prefix leaves.
func rest(key []byte) []byte { return key[min(8, len(key)):] }

func (c *changes) keyOf(r record) []byte {
	size, n := binary.Uvarint(c.data[r.at():])
	begin := r.at() + n
	return c.data[begin : begin+int(size)]
}

// bytesOf is all that stands in data of a change.
func (c *changes) bytesOf(r record) []byte {
	at := r.at()
	size, n := binary.Uvarint(c.data[at:])
	end := at + n + int(size)
	if !r.deleted() {
		size, n = binary.Uvarint(c.data[end:])
		end += n + int(size)
	}
	return c.data[at:end]
}

// sort brings the records into the order of their keys. Of several changes to a key the last is kept. spare is room to
// sort in, and grows with what is sorted.
func (c *changes) sort(spare *[]record) {
	if c.ordered {
		return
	}
	*spare = slices.Grow((*spare)[:0], len(c.records))[:len(c.records)]
	sortByPrefix(c.records, *spare)
	if !c.rising {
		c.sortRest()
	}
	c.ordered = true
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
			size += len(c.data) + tag*len(c.records)
		}
	}
	if size > maxBatch {
		return nil, fmt.Errorf("%w: %d bytes", errTooLarge, size)
	}
	out := append(slices.Grow(b.out[:0], size), make([]byte, batchHeader)...)
	for f, c := range b.families {
		if c == nil || len(c.records) == 0 {
			continue
		}
		id, err := column(storage.Family(f))
		if err != nil {
			return nil, err
		}
		put := binary.AppendUvarint([]byte{tagPut}, uint64(id))
		remove := binary.AppendUvarint([]byte{tagDelete}, uint64(id))
		c.sort(&b.spare)
		count += len(c.records)
		for _, r := range c.records {
			if r.deleted() {
				out = append(out, remove...)
			} else {
				out = append(out, put...)
			}
			out = append(out, c.bytesOf(r)...)
		}
	}
	if count == 0 {
		return nil, nil
	}
	binary.LittleEndian.PutUint32(out[8:], uint32(count))
	b.out = out
	return out, nil
}
