package distribution

import "slices"

// Unspent is the set of unspent outputs of a chain; T is the data that a generator needs to spend one. The zero value
// is before the first block, which [Unspent.Begin] begins.
type Unspent[T any] struct {
	blocks [][]T // by the block that made them; the last is the current block
	n      int
}

// Place is the position of an output, valid until the next Take.
type Place struct{ block, at int }

// Begin begins a block: outputs put from now on belong to it.
func (u *Unspent[T]) Begin() {
	if last := len(u.blocks) - 1; last >= 0 {
		u.blocks[last] = slices.Clip(u.blocks[last]) // Take relies on this capacity
	}
	u.blocks = append(u.blocks, nil)
}

// Len is the number of unspent outputs.
func (u *Unspent[T]) Len() int { return u.n }

// Put adds outputs of the current block.
func (u *Unspent[T]) Put(made ...T) {
	last := len(u.blocks) - 1
	u.blocks[last] = append(u.blocks[last], made...)
	u.n += len(made)
}

// Find returns an unspent output of a drawn age in blocks, 0 for the current block; of any block if the age exceeds the
// chain. ok is false if nothing is unspent.
func (u *Unspent[T]) Find(r Random, age func(Random) int) (p Place, ok bool) {
	last := len(u.blocks) - 1
	if last < 0 {
		return Place{}, false
	}
	for range 32 {
		back := age(r)
		if back > last {
			back = r.IntN(last + 1)
		}
		if n := len(u.blocks[last-back]); n > 0 {
			return Place{last - back, r.IntN(n)}, true
		}
	}
	for block, made := range slices.Backward(u.blocks) {
		if len(made) > 0 {
			return Place{block, r.IntN(len(made))}, true
		}
	}
	return Place{}, false
}

// At returns the output at a place without removing it.
func (u *Unspent[T]) At(p Place) T { return u.blocks[p.block][p.at] }

// Take removes an output that was found.
func (u *Unspent[T]) Take(p Place) T {
	s := u.blocks[p.block]
	taken := s[p.at]
	last := len(s) - 1
	s[p.at] = s[last]
	clear(s[last:])
	s = s[:last]
	if len(s) <= cap(s)/4*3 && p.block < len(u.blocks)-1 {
		s = slices.Clone(s) // frees spent outputs: memory is that of unspent ones
	}
	u.blocks[p.block] = s
	u.n--
	return taken
}

// Clone returns an independent copy, for a fork.
func (u *Unspent[T]) Clone() Unspent[T] {
	blocks := make([][]T, len(u.blocks))
	for i, made := range u.blocks {
		blocks[i] = slices.Clone(made)
	}
	return Unspent[T]{blocks, u.n}
}
