package core

import (
	"time"

	"birthmark/core/schema"
	"birthmark/model"
	"birthmark/storage"
)

// reorg is a rollback that a source requested. Its blocks are recorded as orphaned in the same write that removes them;
// a rollback by the user is not recorded.
//
// Blocks are removed from the tip down, and lost_pk counts them in this order. In descending order of lost_pk, the
// newest reorganization comes first, and its blocks in ascending order of height.
type reorg struct {
	began time.Time
	from  model.Point // the tip before
	to    model.Point // the block below the removed ones
	depth int         // number of removed blocks
}

// record records orphaned blocks, given from the tip down, and deletes rows beyond the last MaxOrphans.
func (rg *reorg) record(r storage.Reader, b storage.Batch, orphans []schema.OrphanRow) error {
	before, err := schema.LastOrphan(r)
	if err != nil {
		return err
	}
	last, depth := before.Number, 0
	if len(orphans) > 0 && before.Height == orphans[0].Height+1 {
		// Nothing was written since: this write continues the same reorganization, perhaps after a restart.
		depth = before.Depth
	}
	newest := last + uint64(len(orphans))
	for i := range orphans {
		depth++
		n := last + 1 + uint64(i)
		if n+schema.MaxOrphans <= newest {
			continue
		}
		orphans[i].Depth, orphans[i].OrphanedAt = depth, rg.began.Unix()
		b.Put(schema.FamilyOrphanBlock, schema.OrphanKey(n), schema.AppendOrphanRow(nil, &orphans[i]))
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
