package export

import (
	"birthmark/core/export/tablefile"
	"birthmark/core/schema"
	"birthmark/model"
)

// Columns of outputs, before those of the indexes.
const (
	outputID = iota
	outputBlock
	outputTime
	outputTx
	outputIndex
	outputValue
	outputAssets
	outputKeys // the first of the indexes
)

func (c *columns) outputFields() []tablefile.Field {
	fields := []tablefile.Field{
		outputID:     {Name: "output_id", Type: tablefile.Uint64},
		outputBlock:  {Name: "block_number", Type: tablefile.Int32},
		outputTime:   {Name: "block_timestamp", Type: tablefile.Timestamp, Nullable: true},
		outputTx:     {Name: "tx_id", Type: tablefile.Uint64},
		outputIndex:  {Name: "index", Type: tablefile.Int32},
		outputValue:  {Name: "value", Type: tablefile.Int64},
		outputAssets: {Name: "asset_count", Type: tablefile.Int32},
	}
	for i, x := range c.indexes {
		many := x.Kind.HasOrdinal()
		fields = append(fields, tablefile.Field{Name: x.Name, Type: tablefile.Text, Dictionary: i + 1, Nullable: !many, List: many})
		if i == 0 && c.holders {
			fields = append(fields, tablefile.Field{Name: x.Name + "_id", Type: tablefile.Uint64, Dictionary: i + 1, Nullable: true})
		}
	}
	return fields
}

func (p *part) fillOutputs(c *chunk) error {
	b, rows := p.outs.begin(), c.outputs
	err := c.eachTx(rows.pks, func(row, tx int) {
		pk := rows.pks[row]
		appendInts(b, outputID, int64(pk))
		appendInts(b, outputBlock, int64(c.heights[tx]))
		appendTime(b, outputTime, c.times[tx])
		appendInts(b, outputTx, int64(c.pks[tx]))
		appendInts(b, outputIndex, int64(model.UtxoPk(pk).Index()))
		appendInts(b, outputValue, int64(rows.values[row]))
		appendInts(b, outputAssets, 0)
	})
	if err != nil {
		return err
	}
	for row, v := range rows.values {
		if _, err := number("the value", rows.pks[row], model.Uint128Of(v)); err != nil {
			return err
		}
	}
	c.countAssets(rows.pks, b.Columns[outputAssets].Ints)
	for i := range p.indexes {
		to, k := &b.Positions[i], &rows.keys[i]
		to.At = p.outs.entries[i].appendKeys(to.At, k)
		to.Ends = append(to.Ends, k.ends...)
	}
	return p.outs.send(len(rows.pks))
}

// countAssets sets the number of assets of outputs.
func (c *chunk) countAssets(pks []uint64, counts []int64) {
	a := c.assets
	if a == nil {
		return
	}
	row, from := 0, uint32(0)
	for i, pk := range a.pks {
		for row < len(pks) && pks[row] < pk {
			row++
		}
		if row < len(pks) && pks[row] == pk {
			counts[row] = int64(len(schema.Holdings(a.entries[from:a.ends[i]])))
		}
		from = a.ends[i]
	}
}

func appendInts(b *tablefile.Batch, column int, n int64) {
	c := &b.Columns[column]
	c.Ints = append(c.Ints, n)
}

// appendTime appends a time; null if it is noTime.
func appendTime(b *tablefile.Batch, column int, time int64) {
	c := &b.Columns[column]
	appendMaybe(c, time, time == noTime)
}

// appendMaybe appends an integer that may be null.
func appendMaybe(c *tablefile.Column, n int64, null bool) {
	if null {
		n = 0
	}
	c.Nulls = appendNull(c.Nulls, len(c.Ints), null)
	c.Ints = append(c.Ints, n)
}

// appendNull appends to the nulls of a column with n values. They stay empty until the first null.
func appendNull(nulls []bool, n int, null bool) []bool {
	if !null && len(nulls) == 0 {
		return nulls
	}
	for len(nulls) < n {
		nulls = append(nulls, false)
	}
	return append(nulls, null)
}
