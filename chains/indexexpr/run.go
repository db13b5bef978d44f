package indexexpr

import (
	"cmp"
	"math"
	"reflect"
	"slices"
	"strings"

	"github.com/expr-lang/expr/vm"

	"birthmark/model"
)

// Run computes the values of custom indexes, output by output, for one decoder and goroutine. The decoder reports its
// position ([Run.Block], [Run.Tx], [Run.Output]) and fills fields on request.
type Run struct {
	root     any
	machine  vm.VM
	fill     func(Set)
	have     Set
	levels   [3]Set
	absent   Set // fields without a value; 0 in a block
	nested   [math.MaxUint8 + 1]bool
	programs []bound
	notes    *Notes
	mixed    bool            // an index of the chain comes after a custom one
	arena    []byte          // values of the current block
	scratch  []byte          // the current value
	seen     map[string]bool // the values of the current output, if there are many
}

// noValue is the note of an expression that is nil, or an empty text.
const noValue = "the value is nil or empty"

// maxValues is the maximum number of values of a many-valued index in one output; further entries of a list are
// ignored. Births number them with 16 bits.
const maxValues = 1<<16 - 1

// bound is an enabled index, compiled for this run.
type bound struct {
	compiled
	form     form
	many     bool
	uses     Set
	position int
	meter    *meter
}

// Bind returns a run for the custom indexes among names; the position in names is the [model.Key.Index]. It returns nil
// if there are none. root points to the struct of the language; fill is called for missing fields and stores them
// there. Field values may point into the block's bytes; they are read before the next call of Output.
func (x *Indexes) Bind(names []string, root any, fill func(Set)) *Run {
	if x == nil {
		return nil
	}
	r := &Run{root: root, fill: fill, levels: x.language.levels, notes: x.notes}
	for i, name := range names {
		at := slices.IndexFunc(x.list, func(d defined) bool { return d.Name == name })
		if at < 0 {
			r.mixed = r.mixed || len(r.programs) > 0
			continue
		}
		d := x.list[at]
		m := &meter{notes: x.notes}
		c, f, err := x.language.compileDefinition(d.Definition, root, m)
		if err != nil {
			panic("expression: what compiled once does not again: " + err.Error())
		}
		var uses Set
		for _, p := range []*program{c.when, c.value} {
			if p == nil {
				continue
			}
			for _, part := range p.parts {
				uses |= part.fields
				for b := range part.nested {
					r.nested[b] = true
				}
			}
		}
		r.programs = append(r.programs, bound{c, f, d.Kind == model.ManyValued, uses, i, m})
	}
	if len(r.programs) == 0 {
		return nil
	}
	return r
}

// Uses reports whether an expression reads a field of a list's entries. A decoder need not fill other fields of the
// list.
func (r *Run) Uses(b Bit) bool { return r.nested[b] }

// Block begins another block. Values belong to the block from now on.
func (r *Run) Block() {
	r.have, r.absent = 0, 0
	r.arena = nil
}

// Unconfirmed begins a transaction that is in no block, as Block does. Until the next block or transaction begins, Keys
// skips indexes that use fields of the block or a field in absent.
func (r *Run) Unconfirmed(absent ...Bit) {
	r.Block()
	r.absent = r.levels[levelBlock]
	for _, b := range absent {
		r.absent |= 1 << b
	}
}

// Tx begins another transaction of the block.
func (r *Run) Tx() {
	r.have &= r.levels[levelBlock]
	for i := range r.programs {
		r.programs[i].meter.left = budget
	}
}

// Output begins another output of the transaction.
func (r *Run) Output() { r.have &^= r.levels[levelOutput] }

// InOrder sorts all keys of an output in the order of their indexes, where the chain's keys come first. A row is then
// the same whether an index existed from the beginning or was added later.
func (r *Run) InOrder(keys []model.Key) {
	if r.mixed {
		slices.SortStableFunc(keys, func(a, b model.Key) int { return cmp.Compare(a.Index, b.Index) })
	}
}

// Keys appends the keys of the output. Values are newly computed and belong to the block.
func (r *Run) Keys(to []model.Key) []model.Key {
	for i := range r.programs {
		b := &r.programs[i]
		if b.uses&r.absent != 0 {
			continue
		}
		if b.when != nil && !r.holds(b.when) {
			r.notes.add("the condition is not true")
			continue
		}
		p := &b.value.parts[0]
		if p.short != nil && !b.many {
			r.need(p.fields)
			r.scratch = p.short.appendValue(r.scratch[:0])
			to = r.add(to, b, to[len(to):])
			continue
		}
		v, ok := r.compute(p)
		if !ok || v == nil {
			if ok {
				r.notes.add(noValue)
			}
			continue
		}
		if !b.many {
			r.scratch = b.form.appendValue(r.scratch[:0], v)
			to = r.add(to, b, to[len(to):])
			continue
		}
		list := reflect.ValueOf(v)
		if list.Kind() != reflect.Slice || list.Type() == bytesType {
			continue
		}
		first := len(to)
		for n := range list.Len() {
			if len(to)-first == maxValues || b.meter.left < 0 {
				break
			}
			r.scratch = b.form.appendValue(r.scratch[:0], list.Index(n).Interface())
			to = r.add(to, b, to[first:])
		}
	}
	return to
}

// holds reports whether every part of a condition is true. A part that cannot be computed is not.
func (r *Run) holds(p *program) bool {
	for i := range p.parts {
		if part := &p.parts[i]; part.short != nil {
			r.need(part.fields)
			if !part.short.condition() {
				return false
			}
		} else if v, _ := r.compute(part); v != true {
			return false
		}
	}
	return true
}

// compute runs the machine. ok is false if the expression has no value here: it divides by zero, takes a text for a
// number, or exceeds the meter.
func (r *Run) compute(p *part) (v any, ok bool) {
	r.need(p.fields)
	v, err := r.machine.Run(p.code, r.root)
	if err != nil && r.notes != nil {
		first, _, _ := strings.Cut(err.Error(), "\n") // the others point into the expression
		r.notes.add(first)
	}
	return v, err == nil
}

// need fills missing fields.
func (r *Run) need(fields Set) {
	if missing := fields &^ r.have; missing != 0 {
		r.fill(missing)
		r.have |= missing
	}
}

// add appends the key of the value in scratch, unless the value is empty or repeated or the meter is empty: a list that
// is computed once per transaction can be the values of each output.
func (r *Run) add(to []model.Key, b *bound, before []model.Key) []model.Key {
	if len(r.scratch) == 0 {
		r.notes.add(noValue)
		return to
	}
	if !b.meter.affords(valueCost+len(r.scratch)) || r.repeats(before) {
		return to
	}
	return append(to, model.Key{Index: b.position, Value: r.keep(r.scratch)})
}

// repeats reports whether the value in scratch is among the keys of one output.
func (r *Run) repeats(keys []model.Key) bool {
	const few = 16
	if len(keys) < few {
		return slices.ContainsFunc(keys, func(k model.Key) bool { return string(k.Value) == string(r.scratch) })
	}
	if len(keys) == few {
		r.seen = make(map[string]bool, 4*few)
		for _, k := range keys {
			r.seen[string(k.Value)] = true
		}
	}
	if r.seen[string(r.scratch)] {
		return true
	}
	r.seen[string(r.scratch)] = true
	return false
}

// keep copies a value into the block's arena.
func (r *Run) keep(value []byte) []byte {
	const least, most = 512, 64 << 10
	if cap(r.arena)-len(r.arena) < len(value) {
		r.arena = make([]byte, 0, max(len(value), min(max(least, 2*cap(r.arena)), most)))
	}
	start := len(r.arena)
	r.arena = append(r.arena, value...)
	return r.arena[start:len(r.arena):len(r.arena)]
}
