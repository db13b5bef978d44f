package immutable

import (
	"context"
	"slices"

	"birthmark/model"
)

// Find is the block with a slot and a hash. It looks into as many chunks as it takes to halve them down to one: at
// their indexes, or at all of a chunk that has none. A boundary block is found by its epoch and by the first slot of it.
// The error is [model.NotFound], unknown_block, where there is no such block.
func (d *DB) Find(ctx context.Context, slot uint64, hash model.Hash) (Entry, error) {
	first, last := d.chunks()
	// Chunks before low begin at the slot or before, or are empty; chunks from high on begin after it.
	low, high := first, last+1
	home := first // the last chunk that is known to begin at the slot or before
	for low < high {
		if err := ctx.Err(); err != nil {
			return Entry{}, err
		}
		n := low + (high-low)/2
		start, at, err := d.begin(n, high)
		if err != nil {
			return Entry{}, err
		}
		if at == high || start > slot {
			high = n
		} else {
			home, low = at, at+1
		}
	}
	chunks := []int{home}
	if slot >= uint64(first) && slot <= uint64(last) {
		chunks = append(chunks, int(slot)) // where it is an epoch: chunks of Byron have one each
	}
	for _, n := range chunks {
		entries, err := d.entries(n)
		i := slices.IndexFunc(entries, func(e Entry) bool {
			return e.Hash == hash && (e.Slot == slot || e.firstSlot() == slot)
		})
		if i >= 0 {
			return entries[i], nil
		}
		if err != nil {
			return Entry{}, err
		}
	}
	return Entry{}, model.Errorf(model.NotFound, "unknown_block", "%s has no block %s at slot %d", d.path, hash, slot)
}

// firstSlot is the block's slot, or the first of its epoch.
func (e Entry) firstSlot() uint64 {
	if e.Boundary {
		return e.Slot * byronEpochSlots
	}
	return e.Slot
}

// begin is the slot of the first block in the chunks from one on, and the chunk that has it; end where none before end
// has any.
func (d *DB) begin(number, end int) (slot uint64, at int, err error) {
	for at = number; at < end; at++ {
		entries, err := d.entries(at)
		if len(entries) > 0 {
			return entries[0].firstSlot(), at, nil
		}
		if err != nil {
			return 0, at, err
		}
	}
	return 0, end, nil
}
