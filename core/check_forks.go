package core

import "birthmark/storage"

// forks checks that the numbers of orphaned blocks have no gap, that at most maxLost of them are kept, and that the height
// falls by one as the depth rises by one. A hash may be that of a block which returned to the chain.
func (c *checker) forks() error {
	next, before := uint64(0), lostRow{}
	err := c.scan(familyLostBlock, func(k, v []byte) error {
		n, row, err := parseLost(storage.KV{Key: k, Value: v})
		if err != nil {
			next, before = n+1, lostRow{}
			return err
		}
		switch {
		case next > 0 && n != next:
			c.problem(familyLostBlock, k, "follows orphaned block %d", next-1)
		case row.depth > 1 && before.depth > 0 && (row.depth != before.depth+1 || row.height+1 != before.height):
			c.problem(familyLostBlock, k, "block %d has depth %d, the one before it is block %d with depth %d", row.height, row.depth, before.height, before.depth)
		case row.depth > 1 && n == 1:
			c.problem(familyLostBlock, k, "the first orphaned block has depth %d, expected 1", row.depth)
		}
		next, before = n+1, row
		return nil
	})
	if err != nil {
		return err
	}
	if rows, last := c.rows[familyLostBlock], next-1; next > 0 && rows != min(last, maxLost) {
		c.problem(familyLostBlock, nil, "%d rows after %d orphaned blocks, expected %d", rows, last, min(last, maxLost))
	}
	return nil
}
