package bitcoingen

import "birthmark/bench/generate/distribution"

// Coins is the unspent outputs of a chain, each a T, as old when they are spent as on mainnet. The zero value is the
// beginning of the first block.
type Coins[T any] struct {
	old   distribution.Unspent[T] // of the blocks that are whole
	young []T                     // outputs of the block under way
}

// End ends the block under way: what is put from now on is of the next.
func (c *Coins[T]) End() {
	c.old.Begin()
	c.old.Put(c.young...)
	clear(c.young)
	c.young = c.young[:0]
}

// Put adds outputs of the block under way, which later transactions of it may spend.
func (c *Coins[T]) Put(made ...T) { c.young = append(c.young, made...) }

// Len is how many outputs are unspent.
func (c *Coins[T]) Len() int { return c.old.Len() + len(c.young) }

// Take removes and returns some unspent output. Not ok where there is none.
func (c *Coins[T]) Take(r distribution.Random) (taken T, ok bool) {
	if r.Chance(sameBlockSpends) && len(c.young) > 0 {
		return c.takeYoung(r), true
	}
	if p, ok := c.old.Find(r, func(r distribution.Random) int { return age(r) - 1 }); ok {
		return c.old.Take(p), true
	}
	if len(c.young) > 0 {
		return c.takeYoung(r), true
	}
	return taken, false
}

func (c *Coins[T]) takeYoung(r distribution.Random) T {
	i, last := r.IntN(len(c.young)), len(c.young)-1
	taken := c.young[i]
	c.young[i] = c.young[last]
	c.young = c.young[:last]
	return taken
}
