package ledger

import "sync"

const chunkSize = 1024

// chunks is a list of deltas that grows without copies: a batch of a busy chain has 100,000. Its memory comes from a pool
// of *[chunkSize]T.
type chunks[T any] struct {
	all []*[chunkSize]T // all but the last one are full
	n   int             // of the deltas
}

// add returns the place of another delta, which may contain an old one.
func (c *chunks[T]) add(pool *sync.Pool) *T {
	place := c.n % chunkSize
	if place == 0 {
		c.all = append(c.all, pool.Get().(*[chunkSize]T))
	}
	c.n++
	return &c.all[len(c.all)-1][place]
}

// at returns delta i.
func (c *chunks[T]) at(i int) *T { return &c.all[i/chunkSize][i%chunkSize] }

// drop removes all deltas.
func (c *chunks[T]) drop(pool *sync.Pool) {
	for _, some := range c.all {
		pool.Put(some)
	}
	c.all, c.n = nil, 0
}
