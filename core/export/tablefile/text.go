package tablefile

import (
	"encoding/hex"
	"encoding/json"
	"io"
	"strconv"
	"time"
	"unicode/utf8"

	"birthmark/model"
)

// syntax is a format with one line per row.
type syntax interface {
	header(b []byte, t *Table) []byte
	begin(b []byte) []byte
	// field appends what precedes the value of field n.
	field(b []byte, n int, f *Field) []byte
	null(b []byte) []byte
	text(b, text []byte) []byte
	list(b []byte, n int, text func(i int) []byte) []byte
	// number reports whether a type of integers that exceeds 53 bits is a number.
	number(b []byte, f *Field, digits []byte) []byte
	end(b []byte) []byte
}

// textWriter writes lines.
type textWriter struct {
	w      io.Writer
	table  *Table
	syntax syntax
	b      []byte
	digits []byte
}

func newText(w io.Writer, t *Table, s syntax) *textWriter {
	return &textWriter{w: w, table: t, syntax: s, b: s.header(nil, t)}
}

// Write implements [Writer].
func (w *textWriter) Write(b *Batch) error {
	for row := range b.Rows {
		w.b = w.syntax.begin(w.b)
		for i := range w.table.Fields {
			f := &w.table.Fields[i]
			w.b = w.syntax.field(w.b, i, f)
			if f.Dictionary > 0 {
				w.entry(f, &b.Positions[f.Dictionary-1], &b.Entries[f.Dictionary-1], row)
			} else {
				w.value(f, &b.Columns[i], row)
			}
		}
		w.b = w.syntax.end(w.b)
		if len(w.b) > 256<<10 {
			if err := w.flush(); err != nil {
				return err
			}
		}
	}
	return w.flush()
}

func (w *textWriter) flush() error {
	_, err := w.w.Write(w.b)
	w.b = w.b[:0]
	return err
}

// entry appends the value of a field of a dictionary.
func (w *textWriter) entry(f *Field, at *Positions, d *Dictionary, row int) {
	switch {
	case f.List:
		from := uint32(0)
		if row > 0 {
			from = at.Ends[row-1]
		}
		list := at.At[from:at.Ends[row]]
		w.b = w.syntax.list(w.b, len(list), func(i int) []byte { return d.Text(list[i]) })
	case at.At[row] == NoEntry:
		w.b = w.syntax.null(w.b)
	case f.Type == Text:
		w.b = w.syntax.text(w.b, d.Text(at.At[row]))
	default:
		w.amount(f, d.IDs[at.At[row]])
	}
}

func (w *textWriter) amount(f *Field, n model.Uint128) {
	if n.Hi == 0 {
		w.digits = strconv.AppendUint(w.digits[:0], n.Lo, 10)
	} else {
		w.digits = n.Big().Append(w.digits[:0], 10)
	}
	w.b = w.syntax.number(w.b, f, w.digits)
}

func (w *textWriter) value(f *Field, c *Column, row int) {
	if c.Nulls != nil && c.Nulls[row] {
		w.b = w.syntax.null(w.b)
		return
	}
	switch f.Type {
	case Int32, Int64:
		w.digits = strconv.AppendInt(w.digits[:0], c.Ints[row], 10)
		w.b = w.syntax.number(w.b, f, w.digits)
	case Uint64:
		w.amount(f, model.Uint128Of(uint64(c.Ints[row])))
	case Bool:
		w.b = strconv.AppendBool(w.b, c.Ints[row] != 0)
	case Timestamp:
		w.digits = time.Unix(c.Ints[row], 0).UTC().AppendFormat(w.digits[:0], "2006-01-02 15:04:05")
		w.b = w.syntax.text(w.b, w.digits)
	case Double:
		w.digits = strconv.AppendFloat(w.digits[:0], c.Doubles[row], 'g', -1, 64)
		w.b = w.syntax.number(w.b, f, w.digits)
	case Decimal:
		w.amount(f, c.Amounts[row])
	case Text:
		from := uint32(0)
		if row > 0 {
			from = c.Ends[row-1]
		}
		w.b = w.syntax.text(w.b, c.Bytes[from:c.Ends[row]])
	case Hash:
		size := len(model.Hash{})
		w.digits = hex.AppendEncode(w.digits[:0], c.Bytes[row*size:(row+1)*size])
		w.b = w.syntax.text(w.b, w.digits)
	}
}

// Held implements [Writer].
func (w *textWriter) Held() int { return 0 }

// EndGroup implements [Writer].
func (w *textWriter) EndGroup([]Dictionary) error { return nil }

// Close implements [Writer].
func (w *textWriter) Close() error { return w.flush() }

// csvSyntax is RFC 4180 with line feeds. Null is empty, an empty text is "", and a list is a text in JSON.
type csvSyntax struct{}

func (s csvSyntax) header(b []byte, t *Table) []byte {
	for i := range t.Fields {
		b = append(s.field(b, i, nil), t.Fields[i].Name...)
	}
	return s.end(b)
}

func (csvSyntax) begin(b []byte) []byte { return b }
func (csvSyntax) end(b []byte) []byte   { return append(b, '\n') }
func (csvSyntax) null(b []byte) []byte  { return b }

func (csvSyntax) field(b []byte, n int, _ *Field) []byte {
	if n > 0 {
		b = append(b, ',')
	}
	return b
}

func (csvSyntax) text(b, text []byte) []byte {
	plain := len(text) > 0
	for _, c := range text {
		plain = plain && c != '"' && c != ',' && c != '\n' && c != '\r'
	}
	if plain {
		return append(b, text...)
	}
	b = append(b, '"')
	for _, c := range text {
		if c == '"' {
			b = append(b, '"')
		}
		b = append(b, c)
	}
	return append(b, '"')
}

func (csvSyntax) number(b []byte, _ *Field, digits []byte) []byte { return append(b, digits...) }

func (s csvSyntax) list(b []byte, n int, text func(i int) []byte) []byte {
	return s.text(b, jsonSyntax{}.list(nil, n, text))
}

// jsonSyntax is one JSON object per line. Integers that may exceed 53 bits are texts.
type jsonSyntax struct{}

func (jsonSyntax) header(b []byte, _ *Table) []byte { return b }
func (jsonSyntax) begin(b []byte) []byte            { return append(b, '{') }
func (jsonSyntax) end(b []byte) []byte              { return append(b, "}\n"...) }
func (jsonSyntax) null(b []byte) []byte             { return append(b, "null"...) }

func (jsonSyntax) field(b []byte, n int, f *Field) []byte {
	if n > 0 {
		b = append(b, ',')
	}
	b = append(append(b, '"'), f.Name...)
	return append(b, `":`...)
}

func (jsonSyntax) text(b, text []byte) []byte {
	plain := true
	for _, c := range text {
		plain = plain && c >= ' ' && c != '"' && c != '\\' && c < utf8.RuneSelf
	}
	if plain {
		return append(append(append(b, '"'), text...), '"')
	}
	quoted, err := json.Marshal(string(text))
	if err != nil {
		return append(b, "null"...) // unreachable: a string is always JSON
	}
	return append(b, quoted...)
}

func (s jsonSyntax) number(b []byte, f *Field, digits []byte) []byte {
	if f.Type == Int32 || f.Type == Double {
		return append(b, digits...)
	}
	return s.text(b, digits)
}

func (s jsonSyntax) list(b []byte, n int, text func(i int) []byte) []byte {
	b = append(b, '[')
	for i := range n {
		if i > 0 {
			b = append(b, ',')
		}
		b = s.text(b, text(i))
	}
	return append(b, ']')
}
