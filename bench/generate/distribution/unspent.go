package distribution

import "slices"

// Unspent is the unspent outputs of a chain, of which a generator keeps in T what spending one takes. The zero value is
// before the first block, which [Unspent.Begin] begins.
type Unspent[T any] struct {
	blocks [][]T // by the block that made them; the last is the block under way
	n      int
}

// Place is where an output is kept, until the next is taken.
type Place struct{ block, at int }

// Begin begins a block: what is put from now on it has made.
func (u *Unspent[T]) Begin() {
	if last := len(u.blocks) - 1; last >= 0 {
		u.blocks[last] = slices.Clip(u.blocks[last]) // Take counts from here
	}
	u.blocks = append(u.blocks, nil)
}

// Len is how many outputs are unspent.
func (u *Unspent[T]) Len() int { return u.n }

// Put adds outputs of the block under way.
func (u *Unspent[T]) Put(made ...T) {
	last := len(u.blocks) - 1
	u.blocks[last] = append(u.blocks[last], made...)
	u.n += len(made)
}

// Find is some unspent output of an age in blocks that is drawn, 0 for the block under way; where it is older than the
// chain, of any block. Not ok where nothing is unspent.
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

// At is the output that was found. It stays.
func (u *Unspent[T]) At(p Place) T { return u.blocks[p.block][p.at] }

// Take removes an output that was found.
func (u *Unspent[T]) Take(p Place) T {
	s := u.blocks[p.block]
	taken := s[p.at]
	last := len(s) - 1
	s[p.at] = s[last]
	clear(s[last:])
	s = s[:last]
	if len(s) <= cap(s)/2 && p.block < len(u.blocks)-1 {
		s = slices.Clone(s) // what is spent is not kept: memory is that of what is unspent
	}
	u.blocks[p.block] = s
	u.n--
	return taken
}

// Clone is a copy for a fork: what is put and taken there is not here.
func (u *Unspent[T]) Clone() Unspent[T] {
	blocks := make([][]T, len(u.blocks))
	for i, made := range u.blocks {
		blocks[i] = slices.Clone(made)
	}
	return Unspent[T]{blocks, u.n}
}
