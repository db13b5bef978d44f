package check

import (
	"birthmark/core/schema"
)

// orphans checks that the numbers of orphaned blocks have no gap, that at most MaxOrphans of them are kept, and that
// the height falls by one as the depth rises by one. A hash may be that of a block which returned to the chain.
func (c *checker) orphans() error {
	next, before := uint64(0), schema.OrphanRow{}
	err := c.scan(schema.FamilyOrphanBlock, func(k, v []byte) error {
		row, err := schema.ParseOrphanRow(k, v)
		n := row.Number
		if err != nil {
			next, before = n+1, schema.OrphanRow{}
			return err
		}
		switch {
		case next > 0 && n != next:
			c.problem(schema.FamilyOrphanBlock, k, "follows orphaned block %d", next-1)
		case row.Depth > 1 && before.Depth > 0 && (row.Depth != before.Depth+1 || row.Height+1 != before.Height):
			c.problem(schema.FamilyOrphanBlock, k, "block %d has depth %d, the one before it is block %d with depth %d",
				row.Height, row.Depth, before.Height, before.Depth)
		case row.Depth > 1 && n == 1:
			c.problem(schema.FamilyOrphanBlock, k, "the first orphaned block has depth %d, expected 1", row.Depth)
		}
		next, before = n+1, row
		return nil
	})
	if err != nil {
		return err
	}
	if rows, last := c.rows[schema.FamilyOrphanBlock], next-1; next > 0 && rows != min(last, schema.MaxOrphans) {
		c.problem(schema.FamilyOrphanBlock, nil, "%d rows after %d orphaned blocks, expected %d",
			rows, last, min(last, schema.MaxOrphans))
	}
	return nil
}
