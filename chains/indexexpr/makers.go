package indexexpr

import (
	"fmt"
	"math/bits"
)

// Makers fill a language's fields one by one, for decoders that have a function for each. V is what the functions take:
// what fields are made of, and the struct they are put into.
type Makers[V any] struct {
	of    [maxBits]func(V)
	block Set
}

// NewMakers takes the functions by the names of fields. It panics where a field has none, or a function no field: a bug
// of the chain that declares them.
func NewMakers[V any](l *Language, output, tx, block map[string]func(V)) *Makers[V] {
	m := &Makers[V]{block: l.levels[levelBlock]}
	n := 0
	for level, named := range []map[string]func(V){levelOutput: output, levelTx: tx, levelBlock: block} {
		for name, f := range named {
			m.of[l.Bit(levelNames[level]+"."+name)] = f
			n++
		}
	}
	all := l.levels[levelOutput] | l.levels[levelTx] | l.levels[levelBlock]
	if n != bits.OnesCount64(uint64(all)) {
		panic(fmt.Sprintf("expression: %d of the fields of %s are made: %d are there", n, l.chain, bits.OnesCount64(uint64(all))))
	}
	return m
}

// Make makes fields; those of a block only where v is in one, which the genesis of a chain is not.
func (m *Makers[V]) Make(v V, fields Set, inBlock bool) {
	if !inBlock {
		fields &^= m.block
	}
	for rest := uint64(fields); rest != 0; rest &= rest - 1 {
		m.of[bits.TrailingZeros64(rest)](v)
	}
}
