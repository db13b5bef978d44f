package core

import "birthmark/storage"

// forks: lost blocks are numbered without a gap up to the last, all or the last maxLost of them; each one deeper
// stands one lower. Their hashes may be any, that of a block which came back too.
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
			c.fault(familyLostBlock, k, "follows lost block %d", next-1)
		case row.depth > 1 && before.depth > 0 && (row.depth != before.depth+1 || row.height+1 != before.height):
			c.fault(familyLostBlock, k, "block %d was %d deep, the one lost before it is block %d, %d deep", row.height, row.depth, before.height, before.depth)
		case row.depth > 1 && n == 1:
			c.fault(familyLostBlock, k, "the first lost block is %d deep", row.depth)
		}
		next, before = n+1, row
		return nil
	})
	if err != nil {
		return err
	}
	if rows, last := c.rows[familyLostBlock], next-1; next > 0 && rows != min(last, maxLost) {
		c.fault(familyLostBlock, nil, "%d rows after %d lost blocks, expected %d", rows, last, min(last, maxLost))
	}
	return nil
}
