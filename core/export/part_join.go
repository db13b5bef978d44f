package export

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"

	"birthmark/core/schema"
	"birthmark/model"
)

// missing is an input whose output is not in the table of recent ones.
type missing struct {
	pk           uint64
	chunk, input int
}

func compareMissing(a, b missing) int { return cmp.Compare(a.pk, b.pk) }

// joinInputs finds the values of the outputs that inputs spend, and the births of their addresses, and adds inputs and
// outputs to the sums of the transactions.
func (p *part) joinInputs(chunks []*chunk) error {
	p.missing = p.missing[:0]
	for n, c := range chunks {
		c.sums = append(c.sums[:0], make([]txSums, len(c.pks))...)
		if c.outputs != nil {
			if err := p.addOutputs(c); err != nil {
				return err
			}
		}
		if c.inputs != nil {
			p.takeSpent(n, c)
		}
	}
	if err := p.readSpent(chunks); err != nil {
		return err
	}
	for _, c := range chunks {
		if c.inputs == nil {
			continue
		}
		if err := c.eachTx(c.inputs.pks, func(row, tx int) { c.sums[tx].AddInput(c.values[row]) }); err != nil {
			return err
		}
	}
	return nil
}

// addOutputs adds the outputs of a chunk to the table of recent ones.
func (p *part) addOutputs(c *chunk) error {
	var births []uint64
	if p.holders {
		births = c.outputs.keys[0].births
	}
	for i, pk := range c.outputs.pks {
		birth := noBirth
		if births != nil {
			birth = births[i]
		}
		p.recent.put(pk, c.outputs.values[i], birth)
	}
	return c.eachTx(c.outputs.pks, func(row, tx int) { c.sums[tx].AddOutput(c.outputs.values[row]) })
}

// takeSpent looks for the spent outputs of chunk n among the recent ones.
func (p *part) takeSpent(n int, c *chunk) {
	size := len(c.inputs.pks)
	c.values, c.births = slices.Grow(c.values[:0], size)[:size], slices.Grow(c.births[:0], size)[:size]
	for i, pk := range c.inputs.spent {
		if s, ok := p.recent.take(pk); ok {
			c.values[i], c.births[i] = s.value, s.birth
		} else {
			p.missing = append(p.missing, missing{pk, n, i})
		}
	}
}

// readSpent reads the missing outputs in chain order.
func (p *part) readSpent(chunks []*chunk) error {
	if len(p.missing) == 0 {
		return nil
	}
	slices.SortFunc(p.missing, compareMissing)
	rows, err := p.r.GetMany(schema.FamilyUtxo, keysOf(p.missing, func(m *missing) uint64 { return m.pk }))
	if err != nil {
		return err
	}
	birth := noBirth
	visit := func(x *schema.Index, b model.BirthPk) {
		if p.holders && x == p.indexes[0] {
			birth = uint64(b.Utxo)
		}
	}
	for i, m := range p.missing {
		birth = noBirth
		pk := model.UtxoPk(m.pk)
		if rows[i] == nil {
			return fmt.Errorf("output %v, which is spent, is missing: run birthmark check", pk)
		}
		value, err := p.l.VisitUtxoRow(pk, rows[i], visit)
		if err != nil {
			return fmt.Errorf("output %v, which is spent: %w", pk, err)
		}
		c := chunks[m.chunk]
		c.values[m.input], c.births[m.input] = value, birth
	}
	return nil
}

// keysOf returns encoded pointers.
func keysOf[T any](list []T, pk func(*T) uint64) [][]byte {
	keys, all := make([][]byte, len(list)), make([]byte, 0, len(list)*model.PkSize)
	for i := range list {
		at := len(all)
		all = binary.BigEndian.AppendUint64(all, pk(&list[i]))
		keys[i] = all[at:len(all):len(all)]
	}
	return keys
}
