package export

import (
	"encoding/binary"
	"math/bits"
	"sync"
	"unsafe"

	"birthmark/internal/offheap"
	"birthmark/model"
)

// slotsOf returns n empty slots outside Go's heap.
func slotsOf[T any](n int) (*offheap.Memory, []T) {
	size := n * int(unsafe.Sizeof(*new(T)))
	m := offheap.New(size)
	return m, unsafe.Slice((*T)(m.Resize(size)), n)
}

// births maps births to numbers.
type births struct {
	memory *offheap.Memory
	slots  []birthSlot
	n      int
	shift  int
}

type birthSlot struct {
	utxo    uint64
	number  uint32 // plus 1; 0: empty
	ordinal uint16
	space   uint16 // of births of one index
}

const leastSlots = 1 << 12

// size returns the bytes of the slots with another birth.
func (t *births) size() int {
	slots := len(t.slots)
	if t.crowded() {
		slots = max(leastSlots, 2*slots)
	}
	return slots * int(unsafe.Sizeof(birthSlot{}))
}

// crowded reports whether another birth needs more slots.
func (t *births) crowded() bool { return 3*(t.n+1) > 2*len(t.slots) }

// clear removes all entries and keeps the memory.
func (t *births) clear() {
	clear(t.slots)
	t.n = 0
}

func (t *births) hash(b model.BirthPk, space uint16) uint64 {
	return (uint64(b.Utxo) ^ uint64(b.Ordinal)<<48 ^ uint64(space)<<32) * 0x9e3779b97f4a7c15 >> t.shift
}

// find returns the slot of a birth: its own, or the empty one for it. The table is not empty.
func (t *births) find(b model.BirthPk, space uint16) *birthSlot {
	mask := uint64(len(t.slots) - 1)
	for i := t.hash(b, space); ; i++ {
		s := &t.slots[i&mask]
		if s.number == 0 || s.utxo == uint64(b.Utxo) && s.ordinal == b.Ordinal && s.space == space {
			return s
		}
	}
}

// get returns the number of a birth.
func (t *births) get(b model.BirthPk, space uint16) (uint32, bool) {
	if t.n == 0 {
		return 0, false
	}
	s := t.find(b, space)
	return s.number - 1, s.number > 0
}

// put sets the number of a birth.
func (t *births) put(b model.BirthPk, space uint16, number uint32) {
	if t.crowded() {
		t.grow()
	}
	s := t.find(b, space)
	if s.number == 0 {
		t.n++
	}
	*s = birthSlot{uint64(b.Utxo), number + 1, b.Ordinal, space}
}

// add returns the number of a birth. If it has none, the number is that of all births before it.
func (t *births) add(b model.BirthPk) (number uint32, added bool) {
	if t.crowded() {
		t.grow()
	}
	s := t.find(b, 0)
	if s.number > 0 {
		return s.number - 1, false
	}
	t.n++
	*s = birthSlot{uint64(b.Utxo), uint32(t.n), b.Ordinal, 0}
	return uint32(t.n - 1), true
}

func (t *births) grow() {
	memory, old := t.memory, t.slots
	t.memory, t.slots = slotsOf[birthSlot](max(leastSlots, 2*len(old)))
	t.shift = 64 - bits.TrailingZeros(uint(len(t.slots)))
	for _, s := range old {
		if s.number > 0 {
			*t.find(model.BirthPk{Utxo: model.UtxoPk(s.utxo), Ordinal: s.ordinal}, s.space) = s
		}
	}
	if memory != nil {
		memory.Resize(0)
	}
}

// texts caches the texts of births. If it exceeds its limit, it drops the texts that were neither added nor found since
// the last time. Several goroutines use it: they lock mu.
type texts struct {
	mu       sync.Mutex
	limit    int // bytes of a generation
	now, old textGeneration
}

type textGeneration struct {
	at     births // positions in bytes
	memory *offheap.Memory
	bytes  []byte // each text after its size
}

func (g *textGeneration) get(b model.BirthPk, space uint16) ([]byte, bool) {
	at, ok := g.at.get(b, space)
	if !ok {
		return nil, false
	}
	size := binary.LittleEndian.Uint32(g.bytes[at:])
	return g.bytes[at+4 : at+4+size], true
}

// full reports whether a generation has no room for another text.
func (t *texts) full(text []byte) bool {
	return len(t.now.bytes)+4+len(text)+t.now.at.size() > t.limit
}

// get returns a text, valid until the next call of put or get.
func (t *texts) get(b model.BirthPk, space uint16) ([]byte, bool) {
	if text, ok := t.now.get(b, space); ok {
		return text, true
	}
	text, ok := t.old.get(b, space)
	if ok && !t.full(text) { // otherwise it would be dropped at once
		t.put(b, space, text)
	}
	return text, ok
}

// put adds a text that is not in the newest generation.
func (t *texts) put(b model.BirthPk, space uint16, text []byte) {
	if len(t.now.bytes) > 0 && t.full(text) {
		t.old, t.now = t.now, t.old
		t.now.at.clear()
		t.now.bytes = t.now.bytes[:0]
	}
	at := uint32(len(t.now.bytes))
	if t.now.memory == nil {
		t.now.memory = offheap.New(t.limit)
	}
	t.now.bytes = offheap.Room(t.now.memory, t.now.bytes, 4+len(text))
	t.now.bytes = binary.LittleEndian.AppendUint32(t.now.bytes, uint32(len(text)))
	t.now.bytes = append(t.now.bytes, text...)
	t.now.at.put(b, space, at)
}

// recent has recent outputs for the inputs that spend them, in two generations, as [texts]. An output is spent once, so it
// is removed when it is found.
type recent struct {
	most     int // entries of a generation
	now, old outputTable
}

type outputTable struct {
	memory *offheap.Memory
	slots  []outputSlot
	n      int
	shift  int
}

type outputSlot struct {
	pk    uint64 // plus 1; 0: empty
	value uint64
	birth uint64 // of the address; noBirth: none
}

func (t *outputTable) home(pk uint64) uint64 { return pk * 0x9e3779b97f4a7c15 >> t.shift }

// find returns the position of an output: its own, or the empty one for it. The table is not empty.
func (t *outputTable) find(pk uint64) uint64 {
	mask := uint64(len(t.slots) - 1)
	for i := t.home(pk); ; i++ {
		if at := t.slots[i&mask].pk; at == 0 || at == pk+1 {
			return i & mask
		}
	}
}

// take removes an output and returns it.
func (t *outputTable) take(pk uint64) (found outputSlot, ok bool) {
	if t.n == 0 {
		return found, false
	}
	at := t.find(pk)
	if found = t.slots[at]; found.pk == 0 {
		return found, false
	}
	mask := uint64(len(t.slots) - 1)
	for next := (at + 1) & mask; t.slots[next].pk != 0; next = (next + 1) & mask {
		// An entry moves to the free slot unless it would be before its home.
		if (next-t.home(t.slots[next].pk-1))&mask >= (next-at)&mask {
			t.slots[at], at = t.slots[next], next
		}
	}
	t.slots[at] = outputSlot{}
	t.n--
	return found, true
}

func (t *outputTable) grow(slots int) {
	memory, old := t.memory, t.slots
	t.memory, t.slots = slotsOf[outputSlot](slots)
	t.shift = 64 - bits.TrailingZeros(uint(slots))
	for _, s := range old {
		if s.pk != 0 {
			t.slots[t.find(s.pk-1)] = s
		}
	}
	if memory != nil {
		memory.Resize(0)
	}
}

func (r *recent) take(pk uint64) (outputSlot, bool) {
	if s, ok := r.now.take(pk); ok {
		return s, true
	}
	return r.old.take(pk)
}

func (r *recent) put(pk, value, birth uint64) {
	if r.now.n >= r.most {
		r.old, r.now = r.now, r.old
		clear(r.now.slots)
		r.now.n = 0
	}
	if 4*(r.now.n+1) > 3*len(r.now.slots) {
		r.now.grow(max(leastSlots, 2*len(r.now.slots)))
	}
	r.now.slots[r.now.find(pk)] = outputSlot{pk + 1, value, birth}
	r.now.n++
}

// outputsIn returns how many outputs a generation of [recent] has in some bytes: three quarters of its slots, and there are
// two generations.
func outputsIn(bytes int64) int {
	const size = int64(unsafe.Sizeof(outputSlot{}))
	n := leastSlots
	for 2*int64(2*n)*size <= bytes {
		n *= 2
	}
	return n / 4 * 3
}
