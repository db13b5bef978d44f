package valueset

import (
	"encoding/binary"
	"errors"
	"hash/maphash"
	"math"
	"sync"

	"birthmark/internal/offheap"
)

// ErrTooLarge is returned by [Set.Add] if the values need more than 4 GiB.
var ErrTooLarge = errors.New("the values need more than 4 GiB")

// leastSlots is the initial size of the hash table.
const leastSlots = 1 << 10

// Set is a set of values. It is safe for concurrent use.
type Set struct {
	mu     sync.RWMutex
	seed   maphash.Seed
	values []byte          // each value after its length as uvarint
	slots  []uint32        // offset in values plus 1; 0: free; the length is a power of two
	memory *offheap.Memory // of values
	table  *offheap.Memory // of slots
	count  int
}

// New returns an empty set.
func New() *Set {
	return &Set{seed: maphash.MakeSeed(), memory: offheap.New(0), table: offheap.New(0)}
}

// Add adds a value and reports whether it was not in the set before.
func (s *Set) Add(value []byte) (added bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.count >= len(s.slots)/4*3 {
		s.grow()
	}
	slot, found := s.find(value)
	if found {
		return false, nil
	}
	need := binary.MaxVarintLen64 + len(value)
	if len(s.values) > math.MaxUint32-1-need {
		return false, ErrTooLarge
	}
	*slot = uint32(len(s.values)) + 1
	s.values = offheap.Room(s.memory, s.values, need)
	s.values = append(binary.AppendUvarint(s.values, uint64(len(value))), value...)
	s.count++
	return true, nil
}

// Has reports whether a value is in the set.
func (s *Set) Has(value []byte) bool {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.count == 0 {
		return false
	}
	_, found := s.find(value)
	return found
}

// Count returns the number of values.
func (s *Set) Count() int {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.count
}

// Size returns the memory of the set in bytes.
func (s *Set) Size() int64 {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return int64(len(s.values)) + 4*int64(len(s.slots))
}

// Clear removes all values and releases their memory.
func (s *Set) Clear() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.memory.Resize(0)
	s.table.Resize(0)
	s.values, s.slots, s.count = nil, nil, 0
}

// find returns the slot of a value, or the free slot for it.
func (s *Set) find(value []byte) (slot *uint32, found bool) {
	mask := uint64(len(s.slots) - 1)
	for n := maphash.Bytes(s.seed, value) & mask; ; n = (n + 1) & mask {
		slot = &s.slots[n]
		if *slot == 0 {
			return slot, false
		}
		if has, _ := s.at(*slot - 1); string(has) == string(value) {
			return slot, true
		}
	}
}

// at returns the value at an offset, and the offset of the next one.
func (s *Set) at(offset uint32) (value []byte, next uint32) {
	size, n := binary.Uvarint(s.values[offset:])
	from := offset + uint32(n)
	next = from + uint32(size)
	return s.values[from:next], next
}

// grow doubles the hash table. It is filled again from the values, so that there are never two tables.
func (s *Set) grow() {
	size := max(leastSlots, 2*len(s.slots))
	s.table.Resize(0)
	s.slots = offheap.Room(s.table, []uint32(nil), size)[:size]
	for offset := uint32(0); offset < uint32(len(s.values)); {
		value, next := s.at(offset)
		slot, _ := s.find(value)
		*slot, offset = offset+1, next
	}
}
