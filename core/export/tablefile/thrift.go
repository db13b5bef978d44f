package tablefile

import "encoding/binary"

// thrift writes the compact protocol of Thrift, in which Parquet has its headers and its footer. Fields must be written
// in ascending order of their ids.
type thrift struct {
	b    []byte
	last []int16 // id of the last field of each open struct
}

// Types of the compact protocol.
const (
	thriftTrue   = 1
	thriftFalse  = 2
	thriftByte   = 3
	thriftI16    = 4
	thriftI32    = 5
	thriftI64    = 6
	thriftBinary = 8
	thriftList   = 9
	thriftStruct = 12
)

func (t *thrift) begin() { t.last = append(t.last, 0) }

func (t *thrift) end() {
	t.b = append(t.b, 0)
	t.last = t.last[:len(t.last)-1]
}

func (t *thrift) field(id int16, kind byte) {
	last := &t.last[len(t.last)-1]
	if delta := id - *last; delta > 0 && delta < 16 {
		t.b = append(t.b, byte(delta)<<4|kind)
	} else {
		t.b = binary.AppendVarint(append(t.b, kind), int64(id))
	}
	*last = id
}

func (t *thrift) i16(id int16, v int64)   { t.number(id, thriftI16, v) }
func (t *thrift) i32(id int16, v int64)   { t.number(id, thriftI32, v) }
func (t *thrift) i64(id int16, v int64)   { t.number(id, thriftI64, v) }
func (t *thrift) byte(id int16, v byte)   { t.field(id, thriftByte); t.b = append(t.b, v) }
func (t *thrift) text(id int16, v string) { t.field(id, thriftBinary); t.string(v) }

func (t *thrift) number(id int16, kind byte, v int64) {
	t.field(id, kind)
	t.b = binary.AppendVarint(t.b, v)
}

func (t *thrift) bool(id int16, v bool) {
	if v {
		t.field(id, thriftTrue)
	} else {
		t.field(id, thriftFalse)
	}
}

// struct_ writes a field that is a struct.
func (t *thrift) struct_(id int16, fields func()) {
	t.field(id, thriftStruct)
	t.element(fields)
}

// element writes a struct of a list.
func (t *thrift) element(fields func()) {
	t.begin()
	fields()
	t.end()
}

func (t *thrift) list(id int16, kind byte, n int) {
	t.field(id, thriftList)
	if n < 15 {
		t.b = append(t.b, byte(n)<<4|kind)
		return
	}
	t.b = binary.AppendUvarint(append(t.b, 0xf0|kind), uint64(n))
}

func (t *thrift) string(v string) {
	t.b = binary.AppendUvarint(t.b, uint64(len(v)))
	t.b = append(t.b, v...)
}
