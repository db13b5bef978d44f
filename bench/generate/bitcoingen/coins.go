package bitcoingen

import "birthmark/bench/generate/distribution"

// Coins are the unspent outputs of a chain, each a T. Take returns them at ages like mainnet's. The zero value is the
// beginning of the first block.
type Coins[T any] struct {
	old   distribution.Unspent[T] // of finished blocks
	young []T                     // outputs of the current block
}

// End ends the current block.
func (c *Coins[T]) End() {
	c.old.Begin()
	c.old.Put(c.young...)
	clear(c.young)
	c.young = c.young[:0]
}

// Put adds outputs of the current block, which its later transactions may spend.
func (c *Coins[T]) Put(made ...T) { c.young = append(c.young, made...) }

// Len is the number of unspent outputs.
func (c *Coins[T]) Len() int { return c.old.Len() + len(c.young) }

// Take removes and returns an unspent output; ok is false if there is none.
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
