package core

import (
	"time"

	"birthmark/core/schema"
	"birthmark/model"
	"birthmark/storage"
)

// fork is a rollback on behalf of a source. What it takes off the chain is remembered, in the write that takes it off;
// what a user removes on purpose is not.
//
// Blocks are lost from the tip down, and that is the order of lost_pk: read from the newest on, the forks stand newest
// first and each of them from where it begins up to what was the tip.
type fork struct {
	began time.Time
	from  model.Point // the tip before
	to    model.Point // where the blocks lost so far end
	depth int         // how many they are
}

// remember notes lost blocks, tip first, and forgets those beyond the last MaxOrphans.
func (f *fork) remember(r storage.Reader, b storage.Batch, lost []schema.OrphanRow) error {
	last, before, err := schema.LastOrphan(r)
	if err != nil {
		return err
	}
	depth := 0
	if len(lost) > 0 && before.Height == lost[0].Height+1 {
		// Nothing was written since: this is the same fork, in its next write or in a process after the one that
		// was stopped in the middle.
		depth = before.Depth
	}
	newest := last + uint64(len(lost))
	for i := range lost {
		depth++
		n := last + 1 + uint64(i)
		if n+schema.MaxOrphans <= newest {
			continue
		}
		lost[i].Depth, lost[i].OrphanedAt = depth, f.began.Unix()
		b.Put(schema.FamilyOrphanBlock, schema.OrphanKey(n), schema.AppendOrphanRow(nil, &lost[i]))
	}
	oldest := uint64(1)
	if last > schema.MaxOrphans {
		oldest = last - schema.MaxOrphans + 1
	}
	for n := oldest; n <= last && n+schema.MaxOrphans <= newest; n++ {
		b.Delete(schema.FamilyOrphanBlock, schema.OrphanKey(n))
	}
	return nil
}
