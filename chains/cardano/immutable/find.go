package immutable

import (
	"context"
	"slices"

	"birthmark/model"
)

// Find returns the block with a slot and a hash by binary search over the chunks: over their indexes, or over the
// blocks of a chunk without one. A boundary block is found by its epoch and by the first slot of it. The error is
// [model.NotFound], unknown_block, if there is no such block.
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
		chunks = append(chunks, int(slot)) // if slot is an epoch: a Byron chunk has one
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

// firstSlot returns the block's slot, or the first slot of its epoch.
func (e Entry) firstSlot() uint64 {
	if e.Boundary {
		return e.Slot * byronEpochSlots
	}
	return e.Slot
}

// begin returns the slot of the first block in the chunks from number on, and its chunk; end if there is none before
// end.
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
