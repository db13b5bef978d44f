package export

import (
	"birthmark/core/export/tablefile"
	"birthmark/model"
)

// Columns of inputs.
const (
	inputID = iota
	inputBlock
	inputTime
	inputTx
	inputIndex
	inputSpent
	inputValue
	inputAge
)

func (c *columns) inputFields() []tablefile.Field {
	fields := []tablefile.Field{
		inputID:    {Name: "input_id", Type: tablefile.Uint64},
		inputBlock: {Name: "block_number", Type: tablefile.Int32},
		inputTime:  {Name: "block_timestamp", Type: tablefile.Timestamp, Nullable: true},
		inputTx:    {Name: "tx_id", Type: tablefile.Uint64},
		inputIndex: {Name: "index", Type: tablefile.Int32},
		inputSpent: {Name: "spent_output_id", Type: tablefile.Uint64},
		inputValue: {Name: "value", Type: tablefile.Int64},
		inputAge:   {Name: "age", Type: tablefile.Int32},
	}
	if c.holders {
		name := c.indexes[0].Name
		fields = append(fields, tablefile.Field{Name: name, Type: tablefile.Text, Dictionary: 1, Nullable: true},
			tablefile.Field{Name: name + "_id", Type: tablefile.Uint64, Dictionary: 1, Nullable: true})
	}
	return fields
}

func (p *part) fillInputs(c *chunk) error {
	b, rows := p.ins.begin(), c.inputs
	err := c.eachTx(rows.pks, func(row, tx int) {
		pk, spent := rows.pks[row], rows.spent[row]
		appendInts(b, inputID, int64(pk))
		appendInts(b, inputBlock, int64(c.heights[tx]))
		appendTime(b, inputTime, c.times[tx])
		appendInts(b, inputTx, int64(c.pks[tx]))
		appendInts(b, inputIndex, int64(model.UtxoPk(pk).Index()))
		appendInts(b, inputSpent, int64(spent))
		appendInts(b, inputValue, int64(c.values[row]))
		appendInts(b, inputAge, int64(c.heights[tx])-int64(model.UtxoPk(spent).Height()))
	})
	if err != nil {
		return err
	}
	for row, v := range c.values {
		if _, err := number("the value", rows.spent[row], model.Uint128Of(v)); err != nil {
			return err
		}
	}
	if p.holders {
		at := &b.Positions[0]
		at.At = p.ins.entries[0].appendKeys(at.At, &keyRows{births: c.births})
	}
	return p.ins.send(len(rows.pks))
}
