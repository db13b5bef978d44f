package tablefile

import (
	"encoding/binary"

	"birthmark/model"
)

func (p *parquetWriter) footer() []byte {
	t := &thrift{}
	t.begin()
	t.i32(1, 2) // version
	elements := 1
	for _, f := range p.table.Fields {
		if elements++; f.List {
			elements += 2
		}
	}
	t.list(2, thriftStruct, elements)
	t.element(func() {
		t.text(4, p.table.Name)
		t.i32(5, int64(len(p.table.Fields)))
	})
	for i := range p.table.Fields {
		p.table.Fields[i].describe(t)
	}
	t.i64(3, p.total)
	t.list(4, thriftStruct, len(p.groups))
	for i := range p.groups {
		t.element(func() { p.groupMetadata(t, i) })
	}
	t.list(5, thriftStruct, len(p.table.Metadata))
	for _, kv := range p.table.Metadata {
		t.element(func() {
			t.text(1, kv[0])
			t.text(2, kv[1])
		})
	}
	t.text(6, createdBy)
	t.list(7, thriftStruct, len(p.table.Fields)) // the order of the type, for least and most
	for range p.table.Fields {
		t.element(func() { t.struct_(1, func() {}) })
	}
	t.end()
	return t.b
}

// describe writes the elements of the schema of a field.
func (f *Field) describe(t *thrift) {
	if f.List {
		t.element(func() {
			t.i32(3, required)
			t.text(4, f.Name)
			t.i32(5, 1)
			t.i32(6, convertedList)
			t.struct_(10, func() { t.struct_(3, func() {}) })
		})
		t.element(func() {
			t.i32(3, repeated)
			t.text(4, "list")
			t.i32(5, 1)
		})
	}
	t.element(func() {
		t.i32(1, f.physical())
		switch f.Type {
		case Decimal:
			t.i32(2, decimalSize)
		case Hash:
			t.i32(2, int64(len(model.Hash{})))
		}
		repetition, name := int64(required), f.Name
		switch {
		case f.List:
			name = "element"
		case f.Nullable:
			repetition = optional
		}
		t.i32(3, repetition)
		t.text(4, name)
		switch f.Type {
		case Text:
			t.i32(6, convertedUTF8)
			t.struct_(10, func() { t.struct_(1, func() {}) })
		case Uint64:
			t.i32(6, convertedUint64)
			t.struct_(10, func() {
				t.struct_(10, func() {
					t.byte(1, 64)
					t.bool(2, false)
				})
			})
		case Decimal:
			t.i32(6, convertedDecimal)
			t.i32(7, 0)
			t.i32(8, decimalDigits)
			t.struct_(10, func() {
				t.struct_(5, func() {
					t.i32(1, 0)
					t.i32(2, decimalDigits)
				})
			})
		case Timestamp:
			t.struct_(10, func() {
				t.struct_(8, func() {
					t.bool(1, false) // without time zone
					t.struct_(2, func() { t.struct_(1, func() {}) })
				})
			})
		}
	})
}

func (f *Field) physical() int64 {
	switch f.Type {
	case Int32:
		return physicalInt32
	case Int64, Uint64, Timestamp:
		return physicalInt64
	case Bool:
		return physicalBoolean
	case Double:
		return physicalDouble
	case Text:
		return physicalBytes
	}
	return physicalFixed
}

func (p *parquetWriter) groupMetadata(t *thrift, n int) {
	g := &p.groups[n]
	size, compressed := int64(0), int64(0)
	t.list(1, thriftStruct, len(g.columns))
	for i := range g.columns {
		c, f := &g.columns[i], &p.table.Fields[i]
		size, compressed = size+c.original, compressed+c.compressed
		t.element(func() {
			t.i64(2, 0) // file_offset: no metadata is stored beside the pages
			t.struct_(3, func() { c.describe(t, f) })
		})
	}
	t.i64(2, size)
	t.i64(3, g.rows)
	t.i64(5, g.offset)
	t.i64(6, compressed)
	t.i16(7, int64(n))
}

func (c *chunkAt) describe(t *thrift, f *Field) {
	t.i32(1, f.physical())
	encodings := []int64{c.encoding, encodingRLE}
	if f.Dictionary > 0 {
		encodings = append(encodings, encodingPlain)
	}
	t.list(2, thriftI32, len(encodings))
	for _, e := range encodings {
		t.b = binary.AppendVarint(t.b, e)
	}
	path := []string{f.Name}
	if f.List {
		path = append(path, "list", "element")
	}
	t.list(3, thriftBinary, len(path))
	for _, name := range path {
		t.string(name)
	}
	t.i32(4, f.codec())
	t.i64(5, c.values)
	t.i64(6, c.original)
	t.i64(7, c.compressed)
	t.i64(9, c.data)
	if f.Dictionary > 0 {
		t.i64(11, c.dictionary)
	}
	if f.List {
		return
	}
	t.struct_(12, func() {
		t.i64(3, c.nulls)
		if !c.limited {
			return
		}
		size := 8
		if f.physical() == physicalInt32 {
			size = 4
		}
		t.text(5, string(binary.LittleEndian.AppendUint64(nil, uint64(c.most))[:size]))
		t.text(6, string(binary.LittleEndian.AppendUint64(nil, uint64(c.least))[:size]))
	})
}
