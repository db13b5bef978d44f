package cache

import (
	"math"
	"math/bits"
	"slices"
	"unsafe"

	"birthmark/internal/offheap"
	"birthmark/model"
)

// table maps fingerprints to a pointer, a small number and a fixed number of words in bounded memory. Below its bound
// it keeps every entry and grows; at its bound it evicts old entries that were not referenced recently. Pinned entries
// are never evicted, since nothing else has them.
//
// The table uses open addressing and is sorted by tag: the high bits of an entry's tag determine its home slot, and the
// entry is stored there or later, after entries with lower tags. A search ends at the first higher tag. Growing moves
// the entries in place.
type table struct {
	entries  []entry
	memory   *offheap.Memory
	words    int      // per entry
	side     []uint64 // the words of the entries, by slot
	sideMem  *offheap.Memory
	payload  uint // bits of an entry's number
	rotation int  // bits by which tags are rotated: the top bits of a fingerprint select the shard
	used     int  // entries
	capacity int  // slots; 0: the table keeps only pinned entries

	// Entries that point here or later are pinned.
	pinFloor model.UtxoPk      // 0: all are pinned; nothingPinned: none
	overflow map[uint64]uint64 // by pointer: numbers that do not fit the payload
}

// entry is 24 bytes; the zero entry is an empty slot. rest has, from the top: a referenced bit, further bits of the
// fingerprint, and the number. Entries are distinguished by the tag and these bits, some 73 in the table of outputs and
// 111 in that of births: the probability that one of a billion lookups confuses one of a hundred million entries is one
// in 100,000, and nobody outside can raise it.
type entry struct {
	tag  uint64
	pk   uint64
	rest uint64
}

const (
	entrySize  = 24
	referenced = uint64(1) << 63

	// A table of n slots grows by a quarter before it holds more than n*maxLoad/16 entries.
	maxLoad    = 13
	leastSlots = 1 << 10

	// Slack after the last home slot, so that probing never wraps around.
	slack = 256

	// evictionSample is the number of neighbours to either side among which an entry is evicted.
	evictionSample = 16

	nothingPinned = model.UtxoPk(math.MaxUint64)
)

// newTable returns a table for numbers of the given bits; its bound is 0 bytes.
func newTable(payload uint, rotation int) *table {
	return &table{memory: offheap.New(0), sideMem: offheap.New(0), payload: payload, rotation: rotation, overflow: map[uint64]uint64{}}
}

// slotSize returns the bytes per slot of entries with words.
func slotSize(words int) int64 { return entrySize + 8*int64(words) }

// slotsIn returns the number of slots of a table of at most bytes; 0 if they are too few for a table.
func (t *table) slotsIn(bytes int64) int {
	if most := int(bytes / slotSize(t.words)); most >= leastSlots {
		return most
	}
	return 0
}

// limit sets the bound of the table. If the table is larger, it drops its oldest entries that are not pinned.
func (t *table) limit(bytes int64) {
	t.capacity = t.slotsIn(bytes)
	if len(t.entries) == 0 {
		t.memory, t.sideMem = offheap.New(t.capacity*entrySize), offheap.New(8*t.capacity*t.words)
	}
	if len(t.entries) <= max(t.capacity, leastSlots) {
		return
	}
	oldest := min(t.newest(t.capacity*maxLoad/16, func(*entry) bool { return true }), uint64(t.pinFloor))
	stay := 0
	for i := range t.entries {
		if e := &t.entries[i]; e.tag != 0 && e.pk >= oldest {
			stay++
		}
	}
	n := min(len(t.entries), max(t.capacity, leastSlots, stay*16/15+slack))
	t.rewrite(n, func(pk uint64) bool { return pk >= oldest })
}

// resize changes the number of slots.
func (t *table) resize(n int) {
	t.entries = unsafe.Slice((*entry)(t.memory.Resize(n*entrySize)), n)
	if t.words > 0 {
		t.side = unsafe.Slice((*uint64)(t.sideMem.Resize(8*n*t.words)), n*t.words)
	}
}

// move moves the entry at slot i to the empty slot to.
func (t *table) move(to, i int) {
	if to == i {
		return
	}
	t.entries[to], t.entries[i] = t.entries[i], entry{}
	if t.words > 0 {
		copy(t.at(to), t.at(i))
	}
}

// at returns the words of the entry at slot i.
func (t *table) at(i int) []uint64 { return t.side[i*t.words : (i+1)*t.words] }

// setWords changes the number of words per entry. Word i is the former word from[i], or 0 if from[i] is negative.
func (t *table) setWords(from []int) {
	before, words := t.side, t.words
	n := len(t.entries)
	t.side, t.words = nil, len(from)
	memory := offheap.New(0)
	if n > 0 && t.words > 0 {
		t.side = unsafe.Slice((*uint64)(memory.Resize(8*n*t.words)), n*t.words)
		for i := range n {
			for to, word := range from {
				if word >= 0 {
					t.side[i*t.words+to] = before[i*words+word]
				}
			}
		}
	}
	t.sideMem.Resize(0)
	t.sideMem = memory
}

// newest returns a pointer such that about n of the entries for which the function is true are at or after it. It is
// estimated from a sample of some 20,000 of them.
func (t *table) newest(n int, want func(e *entry) bool) (oldest uint64) {
	const samples = 20_000
	every := t.used/samples + 1
	sample := make([]uint64, 0, t.used/every)
	wanted := 0
	for i := range t.entries {
		if e := &t.entries[i]; e.tag != 0 && want(e) {
			if wanted++; wanted%every == 0 {
				sample = append(sample, e.pk)
			}
		}
	}
	if n = n / every; n >= len(sample) {
		return 0
	}
	slices.Sort(sample)
	return sample[len(sample)-1-n] + 1
}

// key splits a fingerprint into the tag, which is not 0, and its bits in rest.
func (t *table) key(f Fingerprint) (tag, extra uint64) {
	return max(bits.RotateLeft64(f.a, t.rotation), 1), f.b >> 1 & t.mask()
}

// mask selects the bits of rest that distinguish entries of the same tag.
func (t *table) mask() uint64 { return ^(referenced | t.numbers()) }

func (t *table) numbers() uint64 { return 1<<t.payload - 1 }

// home returns the slot where the search for a tag begins.
func (t *table) home(tag uint64) int {
	hi, _ := bits.Mul64(tag, uint64(len(t.entries)-slack))
	return int(hi)
}

// touch reads the slots of a fingerprint, so that a later lookup does not wait for memory. The result is meaningless.
func (t *table) touch(f Fingerprint) uint64 {
	if t.used == 0 {
		return 0
	}
	home := t.home(bits.RotateLeft64(f.a, t.rotation))
	return t.entries[home].tag + t.entries[home+2].tag // most searches end there: the next cache line
}

// find returns the slot of an entry, or where it belongs.
func (t *table) find(tag, extra uint64) (i int, found bool) {
	if len(t.entries) == 0 {
		return 0, false
	}
	mask := t.mask()
	for i = t.home(tag); i < len(t.entries); i++ {
		e := &t.entries[i]
		if e.tag == tag && e.rest&mask == extra {
			return i, true
		}
		if e.tag == 0 || e.tag > tag {
			return i, false
		}
	}
	return i, false
}

// get finds an entry.
func (t *table) get(f Fingerprint) (pk, number uint64, ok bool) {
	i, found := t.find(t.key(f))
	if !found {
		return 0, 0, false
	}
	e := &t.entries[i]
	e.rest |= referenced
	return e.pk, t.number(e), true
}

// take finds an entry and removes it. It copies its words to words.
func (t *table) take(f Fingerprint, words []uint64) (pk, number uint64, ok bool) {
	i, found := t.find(t.key(f))
	if !found {
		return 0, 0, false
	}
	pk, number = t.entries[i].pk, t.number(&t.entries[i])
	if t.words > 0 {
		copy(words, t.at(i))
	}
	t.remove(i)
	return pk, number, true
}

func (t *table) number(e *entry) uint64 {
	n := e.rest & t.numbers()
	if n == t.numbers() {
		return t.overflow[e.pk]
	}
	return n
}

// put adds or replaces an entry; words is nil or has the words of the entry.
func (t *table) put(f Fingerprint, pk, number uint64, words []uint64) {
	tag, extra := t.key(f)
	t.insert(tag, extra, pk, number, words)
}

func (t *table) insert(tag, extra, pk, number uint64, words []uint64) {
	if t.capacity == 0 && pk < uint64(t.pinFloor) {
		return
	}
	i, found := t.find(tag, extra)
	if found {
		t.dropOverflow(&t.entries[i])
	} else {
		if t.used >= len(t.entries)*maxLoad/16 {
			t.makeRoom(i)
			i, _ = t.find(tag, extra)
		}
		for !t.open(i) {
			t.grow()
			i, _ = t.find(tag, extra)
		}
		t.used++
	}
	if number >= t.numbers() {
		t.overflow[pk] = number
		number = t.numbers()
	}
	t.entries[i] = entry{tag, pk, extra | number}
	if t.words > 0 {
		clear(t.at(i))
		copy(t.at(i), words)
	}
}

// open shifts the entries from i on by one slot, up to an empty one. It returns false without an empty one.
func (t *table) open(i int) bool {
	for j := i; j < len(t.entries); j++ {
		if t.entries[j].tag == 0 {
			copy(t.entries[i+1:j+1], t.entries[i:j])
			copy(t.side[(i+1)*t.words:], t.side[i*t.words:j*t.words])
			return true
		}
	}
	return false
}

// makeRoom lets a full table grow or, at its bound, evicts an entry near i. The table exceeds its bound only if nearly
// all entries are pinned.
func (t *table) makeRoom(i int) {
	if len(t.entries) < t.capacity {
		t.grow()
		return
	}
	// It evicts a second one if an earlier call found none to evict.
	for n := 0; n < 2 && t.used >= len(t.entries)*maxLoad/16; n++ {
		if !t.evict(i) {
			break
		}
	}
	if t.used >= len(t.entries)*15/16 {
		t.grow()
	}
}

// evict drops the oldest of the entries near i that was not referenced since the last eviction there. It returns false
// if all of them are pinned.
func (t *table) evict(i int) bool {
	for range 2 {
		oldest := -1
		for j := max(0, i-evictionSample); j < min(i+evictionSample, len(t.entries)); j++ {
			oldest = t.older(oldest, j)
		}
		if oldest >= 0 {
			t.remove(oldest)
			return true
		}
	}
	return false
}

// older returns which of two entries to evict, if j can be; it clears the referenced bit.
func (t *table) older(oldest, j int) int {
	e := &t.entries[j]
	switch {
	case e.tag == 0 || e.pk >= uint64(t.pinFloor):
	case e.rest&referenced != 0:
		e.rest &^= referenced
	case oldest < 0 || e.pk < t.entries[oldest].pk:
		return j
	}
	return oldest
}

func (t *table) dropOverflow(e *entry) {
	if e.rest&t.numbers() == t.numbers() {
		delete(t.overflow, e.pk)
	}
}

// remove deletes the entry at i: displaced successors shift back (backward-shift deletion).
func (t *table) remove(i int) {
	t.dropOverflow(&t.entries[i])
	j := i + 1
	for j < len(t.entries) && t.entries[j].tag != 0 && t.home(t.entries[j].tag) < j {
		j++
	}
	copy(t.entries[i:], t.entries[i+1:j])
	copy(t.side[i*t.words:], t.side[(i+1)*t.words:j*t.words])
	t.entries[j-1] = entry{}
	t.used--
}

// drop removes an entry if it points to pk.
func (t *table) drop(f Fingerprint, pk model.UtxoPk) {
	if i, found := t.find(t.key(f)); found && t.entries[i].pk == uint64(pk) {
		t.remove(i)
	}
}
