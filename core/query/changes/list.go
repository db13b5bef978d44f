package changes

import (
	"fmt"
	"slices"

	"birthmark/core/query/setops"
	"birthmark/core/schema"
	"birthmark/model"
)

// listBatch is the number of values that are read together.
const listBatch = 2000

// candidates are values of outputs that are compared with a watch list. Values are read by their births, each once.
type candidates struct {
	part   part
	births []model.BirthPk
	owners []int // of births: numbers of outputs
}

// add adds the values of an output that belong to the index of the list.
func (c *candidates) add(owner int, row *schema.UtxoRow) {
	for _, o := range row.Occurrences {
		if o.Index == c.part.index {
			c.births, c.owners = append(c.births, o.Birth), append(c.owners, owner)
		}
	}
}

// each calls found with the outputs that have a value of the list; an output can be found more than once.
func (c *candidates) each(f *outputFilter, found func(owner int)) error {
	births := slices.Clone(c.births)
	slices.SortFunc(births, schema.CompareBirths)
	births = slices.Compact(births)
	values, err := f.StoredValues(c.part.index, births)
	if err != nil {
		return err
	}
	in := make([]bool, len(births))
	for i, value := range values {
		in[i] = c.part.list.Values.Has(value)
	}
	for i, birth := range c.births {
		if n, _ := slices.BinarySearchFunc(births, birth, schema.CompareBirths); in[n] {
			found(c.owners[i])
		}
	}
	return nil
}

// listed yields the outputs in s that have a value of the part's list.
func (f *outputFilter) listed(p part, s setops.Span) setops.Outputs {
	return func(yield func(model.UtxoPk, error) bool) {
		var pks []model.UtxoPk
		c := candidates{part: p}
		send := func() (more bool, err error) {
			in := make([]bool, len(pks))
			if err := c.each(f, func(n int) { in[n] = true }); err != nil {
				return false, err
			}
			for i, pk := range pks {
				if in[i] && !yield(pk, nil) {
					return false, nil
				}
			}
			pks, c = pks[:0], candidates{part: p, births: c.births[:0], owners: c.owners[:0]}
			return true, f.Ctx.Err()
		}
		from, to := s.Keys(nil)
		for kv, err := range f.R.Scan(schema.FamilyUtxo, from, to, false) {
			var pk model.UtxoPk
			if err == nil {
				pk, err = model.ParseUtxoPk(kv.Key)
			}
			var row schema.UtxoRow
			if err == nil {
				row, err = f.ParseUtxoRow(pk, kv.Value)
			}
			if err != nil {
				yield(0, err)
				return
			}
			before := len(c.births)
			if c.add(len(pks), &row); len(c.births) > before {
				pks = append(pks, pk)
			}
			if len(c.births) < listBatch {
				continue
			}
			if more, err := send(); err != nil {
				yield(0, err)
				return
			} else if !more {
				return
			}
		}
		if _, err := send(); err != nil {
			yield(0, err)
		}
	}
}

// markListed sets in for spends of outputs that have a value of a list, given the rows of the outputs.
func (f *outputFilter) markListed(spends []schema.SpendRow, rows [][]byte, in []bool) error {
	for _, p := range f.parts {
		if p.list == nil {
			continue
		}
		c := candidates{part: p}
		for i, sp := range spends {
			if in[i] || rows[i] == nil {
				continue
			}
			row, err := f.ParseUtxoRow(sp.Output, rows[i])
			if err != nil {
				return fmt.Errorf("output %v: %w", sp.Output, err)
			}
			c.add(i, &row)
		}
		if err := c.each(f, func(n int) { in[n] = true }); err != nil {
			return err
		}
	}
	return nil
}
