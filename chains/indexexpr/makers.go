package indexexpr

import (
	"fmt"
	"math/bits"
)

// Makers fill a language's fields one by one, for decoders with one function per field. V is the argument of the
// functions: the source of the fields, and the struct that they fill.
type Makers[V any] struct {
	of    [maxBits]func(V)
	block Set
}

// NewMakers takes the functions by field name. It panics if a field has no function or a function no field, a bug of
// the chain that declares them.
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

// Make fills fields; those of a block only if v is in one, which genesis outputs are not.
func (m *Makers[V]) Make(v V, fields Set, inBlock bool) {
	if !inBlock {
		fields &^= m.block
	}
	for rest := uint64(fields); rest != 0; rest &= rest - 1 {
		m.of[bits.TrailingZeros64(rest)](v)
	}
}

// Pointers returns pointers to entries: the form of a list of structs in a language.
func Pointers[T any](entries []T) []*T {
	if len(entries) == 0 {
		return nil
	}
	list := make([]*T, len(entries))
	for i := range entries {
		list[i] = &entries[i]
	}
	return list
}
