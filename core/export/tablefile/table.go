package tablefile

import (
	"encoding/binary"
	"fmt"
	"io"

	"birthmark/model"
)

// Type is the type of a field.
type Type uint8

const (
	Int32     Type = iota // from 0 to 2^31-1
	Int64                 // signed
	Uint64                // a pointer
	Bool                  // 0 or 1
	Timestamp             // unix seconds; a TIMESTAMP without time zone, in UTC
	Double                // of 64 bits
	Decimal               // an integer of up to 38 digits
	Text                  // UTF-8
	Hash                  // 32 bytes
)

// Field is a column of a table.
type Field struct {
	Name     string
	Type     Type
	Nullable bool
	// Dictionary is the number of the dictionary, from 1, whose entries are the values; 0: the values are in the batch.
	// The type is then Text for the text of an entry, Uint64 or Decimal for its id.
	Dictionary int
	// List: a row has any number of entries of the dictionary.
	List bool
}

// Table describes the files of a table.
type Table struct {
	Name   string
	Fields []Field
	// Metadata are keys and values in the footer of a Parquet file.
	Metadata [][2]string
}

// Dictionaries returns the number of dictionaries.
func (t *Table) Dictionaries() (n int) {
	for _, f := range t.Fields {
		n = max(n, f.Dictionary)
	}
	return n
}

// NoEntry is the position of an entry that is null.
const NoEntry = ^uint32(0)

// Dictionary is a list of texts with ids. The texts of the last entries may be absent until they are needed.
type Dictionary struct {
	// Texts are the texts of entries, each with its size before it, as uint32 in little-endian: the form of a page of
	// Parquet.
	Texts []byte
	Ends  []uint32        // of each text in Texts
	IDs   []model.Uint128 // of each entry
}

// Add appends an entry and returns its position.
func (d *Dictionary) Add(text []byte, id model.Uint128) uint32 {
	d.AddText(text)
	d.IDs = append(d.IDs, id)
	return uint32(len(d.Ends) - 1)
}

// AddText appends the text of the first entry that has none.
func (d *Dictionary) AddText(text []byte) {
	d.Texts = binary.LittleEndian.AppendUint32(d.Texts, uint32(len(text)))
	d.Texts = append(d.Texts, text...)
	d.Ends = append(d.Ends, uint32(len(d.Texts)))
}

// Len returns the number of entries.
func (d *Dictionary) Len() int { return len(d.IDs) }

// Text returns the text of an entry.
func (d *Dictionary) Text(i uint32) []byte {
	from := uint32(0)
	if i > 0 {
		from = d.Ends[i-1]
	}
	return d.Texts[from+4 : d.Ends[i]]
}

// Column is the values of one field in a batch.
type Column struct {
	Ints    []int64         // of Int32, Int64, Uint64, Bool and Timestamp
	Doubles []float64       // of Double
	Amounts []model.Uint128 // of Decimal
	Bytes   []byte          // of Text, joined, and of Hash
	Ends    []uint32        // of each Text in Bytes
	Nulls   []bool          // nil: no value is null; the values of nulls are ignored
}

// Positions are the entries of a dictionary in a batch.
type Positions struct {
	At   []uint32 // NoEntry: null
	Ends []uint32 // of the entries of each row in At, if the field is a list; else nil
}

// Batch is consecutive rows.
type Batch struct {
	Rows      int
	Columns   []Column     // one per field; those of dictionaries are empty
	Positions []Positions  // one per dictionary
	Entries   []Dictionary // one per dictionary: the entries up to now; Parquet does not need their texts
}

// Writer writes a file.
type Writer interface {
	// Write appends rows.
	Write(b *Batch) error
	// Held returns the number of bytes of the group that are in memory.
	Held() int
	// EndGroup ends a group. The dictionaries are those of its last batch, with all texts.
	EndGroup(entries []Dictionary) error
	// Close ends the file, after EndGroup.
	Close() error
}

// Formats are the names of the formats, and the extensions of their files.
var Formats = []string{"parquet", "csv", "ndjson"}

// New returns a writer of a format.
func New(format string, w io.Writer, t *Table) (Writer, error) {
	switch format {
	case "parquet":
		return newParquet(w, t)
	case "csv":
		return newText(w, t, csvSyntax{}), nil
	case "ndjson":
		return newText(w, t, jsonSyntax{}), nil
	}
	return nil, fmt.Errorf("no format %q", format)
}

// SQL returns the type of a field in SQL.
func (f *Field) SQL() string {
	name := [...]string{
		Int32: "INTEGER", Int64: "BIGINT", Uint64: "UBIGINT", Bool: "BOOLEAN", Timestamp: "TIMESTAMP", Double: "DOUBLE",
		Decimal: "DECIMAL(38,0)", Text: "VARCHAR", Hash: "BLOB",
	}[f.Type]
	if f.List {
		name += "[]"
	}
	return name
}
