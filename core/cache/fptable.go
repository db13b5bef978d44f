package cache

import (
	"math"
	"math/bits"
	"slices"
	"unsafe"

	"birthmark/internal/offheap"
	"birthmark/model"
)

// Table maps fingerprints to a pointer and a small number in bounded memory. Below its bound it keeps every entry and
// grows; at its bound it evicts old entries that were not referenced recently. Entries that point into unwritten
// batches are never evicted, since nothing else has them.
// The table uses open addressing and is sorted by tag: the high bits of an entry's tag determine its home slot, and the
// entry is stored there or later, after entries with lower tags. A search ends at the first higher tag. Growing moves
// the entries in place.
type Table struct {
	entries  []entry
	memory   *offheap.Memory
	payload  uint // bits of an entry's number
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

// newTable returns a table of at most bytes for numbers of the given bits.
func newTable(bytes int64, payload uint) *Table {
	return &Table{memory: offheap.New(int(bytes)), payload: payload, capacity: slotsIn(bytes), overflow: map[uint64]uint64{}}
}

// slotsIn returns the number of slots of a table of at most bytes; 0 if they are too few for a table.
func slotsIn(bytes int64) int {
	if most := int(bytes / entrySize); most >= leastSlots {
		return most
	}
	return 0
}

// limited returns the table with another bound, or a new one if t is nil. If the table is larger, it drops its oldest
// entries that are not pinned.
func (t *Table) limited(bytes int64, payload uint) *Table {
	if t == nil {
		return newTable(bytes, payload)
	}
	if t.capacity = slotsIn(bytes); len(t.entries) <= max(t.capacity, leastSlots) {
		return t
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
	return t
}

// newest returns a pointer such that about n of the entries for which the function is true are at or after it. It is
// estimated from a sample of some 100,000 of them.
func (t *Table) newest(n int, want func(e *entry) bool) (oldest uint64) {
	const samples = 100_000
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
func (t *Table) key(f Fingerprint) (tag, extra uint64) {
	return max(f.a, 1), f.b >> 1 & t.mask()
}

// mask selects the bits of rest that distinguish entries of the same tag.
func (t *Table) mask() uint64 { return ^(referenced | t.numbers()) }

func (t *Table) numbers() uint64 { return 1<<t.payload - 1 }

// home returns the slot where the search for a tag begins.
func (t *Table) home(tag uint64) int {
	hi, _ := bits.Mul64(tag, uint64(len(t.entries)-slack))
	return int(hi)
}

// Prefetch touches the slots of many fingerprints at once, so that later lookups do not wait for memory one by one. The
// result is meaningless.
func (t *Table) Prefetch(fs []Fingerprint) (sum uint64) {
	if t.used == 0 {
		return 0
	}
	for i := range fs {
		home := t.home(fs[i].a)
		sum += t.entries[home].tag + t.entries[home+2].tag // most searches end there: the next cache line
	}
	return sum
}

// find returns the slot of an entry, or where it belongs.
func (t *Table) find(tag, extra uint64) (i int, found bool) {
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
func (t *Table) get(f Fingerprint) (pk, number uint64, ok bool) {
	i, found := t.find(t.key(f))
	if !found {
		return 0, 0, false
	}
	e := &t.entries[i]
	e.rest |= referenced
	return e.pk, t.number(e), true
}

// Take finds an entry and removes it.
func (t *Table) Take(f Fingerprint) (pk, number uint64, ok bool) {
	i, found := t.find(t.key(f))
	if !found {
		return 0, 0, false
	}
	pk, number = t.entries[i].pk, t.number(&t.entries[i])
	t.remove(i)
	return pk, number, true
}

func (t *Table) number(e *entry) uint64 {
	n := e.rest & t.numbers()
	if n == t.numbers() {
		return t.overflow[e.pk]
	}
	return n
}

// Put adds or replaces an entry.
func (t *Table) Put(f Fingerprint, pk, number uint64) {
	tag, extra := t.key(f)
	t.insert(tag, extra, pk, number)
}

func (t *Table) insert(tag, extra, pk, number uint64) {
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
}

// open shifts the entries from i on by one slot, up to an empty one; false if there is none.
func (t *Table) open(i int) bool {
	for j := i; j < len(t.entries); j++ {
		if t.entries[j].tag == 0 {
			copy(t.entries[i+1:j+1], t.entries[i:j])
			return true
		}
	}
	return false
}

// makeRoom lets a full table grow or, at its bound, evicts an entry near i. The table exceeds its bound only if nearly
// all entries are pinned.
func (t *Table) makeRoom(i int) {
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
func (t *Table) evict(i int) bool {
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
func (t *Table) older(oldest, j int) int {
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

// grow adds a quarter more slots, up to the bound.
func (t *Table) grow() {
	n := len(t.entries) + len(t.entries)/4
	if len(t.entries) < t.capacity {
		n = min(n, t.capacity)
	}
	n = max(n, leastSlots)
	filled := len(t.entries)
	for ; ; n += slack {
		t.entries = unsafe.Slice((*entry)(t.memory.Resize(n*entrySize)), n)
		if t.fits(filled) {
			break
		}
	}
	// Entries move to the end, and from there down to their slots: none is overwritten before it has moved.
	end := n
	for i := filled - 1; i >= 0; i-- {
		if e := t.entries[i]; e.tag != 0 {
			end--
			t.entries[i] = entry{}
			t.entries[end] = e
		}
	}
	t.rehash(end)
}

// fits reports whether the entries among the first filled slots have room at their homes.
func (t *Table) fits(filled int) bool {
	next := 0
	for i := range filled {
		if tag := t.entries[i].tag; tag != 0 {
			next = max(next, t.home(tag)) + 1
		}
	}
	return next <= len(t.entries)
}

// rehash moves the entries from slot first on, which are after their homes, to their homes.
func (t *Table) rehash(first int) {
	next := 0
	for i := first; i < len(t.entries); i++ {
		e := t.entries[i]
		if e.tag == 0 {
			continue
		}
		t.entries[i] = entry{}
		next = max(next, t.home(e.tag))
		t.entries[next] = e
		next++
	}
}

func (t *Table) dropOverflow(e *entry) {
	if e.rest&t.numbers() == t.numbers() {
		delete(t.overflow, e.pk)
	}
}

// remove deletes the entry at i: displaced successors shift back (backward-shift deletion).
func (t *Table) remove(i int) {
	t.dropOverflow(&t.entries[i])
	j := i + 1
	for j < len(t.entries) && t.entries[j].tag != 0 && t.home(t.entries[j].tag) < j {
		j++
	}
	copy(t.entries[i:], t.entries[i+1:j])
	t.entries[j-1] = entry{}
	t.used--
}

// Drop removes an entry if it points to pk.
func (t *Table) Drop(f Fingerprint, pk model.UtxoPk) {
	if i, found := t.find(t.key(f)); found && t.entries[i].pk == uint64(pk) {
		t.remove(i)
	}
}

// retain drops the entries for which the function is false.
func (t *Table) retain(want func(pk uint64) bool) {
	for i := range t.entries {
		if e := &t.entries[i]; e.tag != 0 && !want(e.pk) {
			t.rewrite(len(t.entries), want)
			return
		}
	}
}

// rewrite shrinks the table to n slots and drops the entries for which the function is false. Each entry moves down to
// its slot or stays, so none is overwritten before it has moved.
func (t *Table) rewrite(n int, want func(pk uint64) bool) {
	before := t.entries
	t.entries = before[:n]
	var left []entry // entries without room at the end
	next := 0
	for i := range before {
		e := before[i]
		if e.tag == 0 {
			continue
		}
		before[i] = entry{}
		if !want(e.pk) {
			t.dropOverflow(&e)
			t.used--
			continue
		}
		if next = max(next, t.home(e.tag)); next >= n {
			left = append(left, e)
			continue
		}
		t.entries[next] = e
		next++
	}
	t.entries = unsafe.Slice((*entry)(t.memory.Resize(n*entrySize)), n)
	t.used -= len(left)
	for _, e := range left {
		t.insert(e.tag, e.rest&t.mask(), e.pk, t.number(&e))
	}
}

func (t *Table) clear() {
	t.entries, t.used = nil, 0
	t.memory.Resize(0)
	clear(t.overflow)
}

// dropFrom drops entries that point to first or later.
func (t *Table) dropFrom(first model.UtxoPk) {
	t.retain(func(pk uint64) bool { return pk < uint64(first) })
}
