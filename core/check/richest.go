package check

import (
	"bytes"

	"birthmark/core/schema"
	"birthmark/model"
)

// richestCheck checks that the list of the largest balances of an index has the values that belong to it.
type richestCheck struct {
	*checker
	index *schema.Index
	list  *schema.RichestList // nil: there is no exact list
	rows  *join               // of the list, for the scan of the balances
	want  uint64
}

// richest returns the check of the list of an index for the next scan, which is that of its balances.
func (c *checker) richest(x *schema.Index) (*richestCheck, error) {
	f := x.Family(schema.IndexRichest)
	rows, err := c.r.GetMany(f, [][]byte{schema.RichestState})
	if err != nil {
		return nil, err
	}
	list, _ := schema.ParseRichestState(rows[0]) // count reports an error
	return &richestCheck{c, x, list, c.join(f), 0}, nil
}

// balance expects the row of a value that belongs to the list. key is the encoded birth.
func (c *richestCheck) balance(birth model.BirthPk, a *schema.Account, key []byte) {
	if c.list == nil || a.Unspent <= 0 {
		return
	}
	row := schema.AppendRichestKey(nil, c.index, a.Balance(), birth)
	if !c.list.Has(row) {
		return
	}
	c.want++
	c.rows.expect(row, equal(schema.AppendRichestRow(nil, uint64(a.Unspent))), c.index.Family(schema.IndexBalance),
		bytes.Clone(key), "the list of the largest balances lacks the value, or has another number of its outputs")
}

// count checks the rows of the list, and their number.
func (c *richestCheck) count() error {
	f, rows, state := c.index.Family(schema.IndexRichest), uint64(0), false
	from, to := schema.RichestRows()
	err := c.scan(f, func(k, v []byte) error {
		state = state || bytes.Equal(k, schema.RichestState)
		if bytes.Compare(k, from) < 0 || bytes.Compare(k, to) >= 0 {
			return c.index.ParseRichestOther(k, v)
		}
		rows++
		_, err := c.index.ParseRichestRow(k, v)
		return err
	})
	switch {
	case err != nil:
		return err
	case !state && rows > 0:
		c.problem(f, schema.RichestState, "the state of the list is missing")
	case c.list != nil && (rows != c.want || rows != c.list.Count):
		c.problem(f, schema.RichestState, "the list has %d rows, its state counts %d, and %d values belong to it", rows, c.list.Count, c.want)
	}
	return nil
}
