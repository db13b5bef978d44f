package ergotest

import "birthmark/bench/generate/ergogen"

// Made returns the next n blocks of a generated chain.
func Made(c *ergogen.Chain, n int) []Block {
	blocks := make([]Block, n)
	for i := range blocks {
		b := c.Next()
		blocks[i] = Block{Height: b.Height, ID: b.ID, Parent: b.Parent, JSON: b.JSON}
	}
	return blocks
}
