package run

import (
	"fmt"
	"math/bits"
	"sync/atomic"

	"birthmark/internal/offheap"
)

// deadBits has one bit per entry; set bits are dead entries. Other goroutines may read it during MarkDead.
type deadBits struct {
	words  []uint64
	count  atomic.Int64
	memory *offheap.Memory
}

func (r *Run) newDeadBits() *deadBits {
	n := (r.layout.entries + 63) / 64
	d := &deadBits{memory: offheap.New(n * 8)}
	d.words = offheap.Room(d.memory, d.words, n)[:n]
	return d
}

func (d *deadBits) has(slot int) bool {
	return d != nil && atomic.LoadUint64(&d.words[slot>>6])>>(slot&63)&1 != 0
}

// Dead returns the number of entries that are marked dead.
func (r *Run) Dead() int {
	if d := r.dead.Load(); d != nil {
		return int(d.count.Load())
	}
	return 0
}

// MarkDead marks an entry dead by its number. Lookups do not find it, and merges leave it out.
func (r *Run) MarkDead(slot int32) {
	d := r.dead.Load()
	if d == nil {
		d = r.newDeadBits()
		r.dead.Store(d)
	}
	bit := uint64(1) << (slot & 63)
	if old := atomic.OrUint64(&d.words[slot>>6], bit); old&bit == 0 {
		d.count.Add(1)
	}
}

// DeadBits returns one bit per entry, 1 if the entry is dead; nil if none is. The slice is the memory of the run: it
// changes with the next MarkDead, and must not be used after Close.
func (r *Run) DeadBits() []uint64 {
	if d := r.dead.Load(); d != nil {
		return d.words
	}
	return nil
}

// SetDeadBits replaces the dead bits by a copy of the words that DeadBits returned.
func (r *Run) SetDeadBits(words []uint64) error {
	var d *deadBits
	if words != nil {
		d = r.newDeadBits()
		if beyond := r.layout.entries & 63; len(words) != len(d.words) || beyond != 0 && words[len(words)-1]>>beyond != 0 {
			return fmt.Errorf("%d words of dead bits do not belong to the %d entries of cache file %s", len(words), r.layout.entries, r.path)
		}
		copy(d.words, words)
		for _, w := range words {
			d.count.Add(int64(bits.OnesCount64(w)))
		}
	}
	if old := r.dead.Swap(d); old != nil {
		old.memory.Resize(0)
	}
	return nil
}
