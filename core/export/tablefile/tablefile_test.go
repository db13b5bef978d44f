package tablefile

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"

	"birthmark/internal/testrun"
	"birthmark/internal/testseed"
	"birthmark/model"
)

func TestMain(m *testing.M) { testrun.Main(m) }

// integer returns an integer of any size, often at a bound.
func integer(rng *rand.Rand, t Type) int64 {
	switch t {
	case Bool:
		return rng.Int64N(2)
	case Int32:
		return rng.Int64N(math.MaxInt32+1) >> rng.IntN(31)
	case Timestamp:
		return rng.Int64N(1 << 33)
	}
	switch rng.IntN(8) {
	case 0:
		return math.MinInt64
	case 1:
		return math.MaxInt64
	case 2:
		return -rng.Int64()
	}
	return rng.Int64() >> rng.IntN(63)
}

// example is a random table, its rows as texts, and its file.
type example struct {
	table Table
	want  [][]string
	file  bytes.Buffer
}

const absent = "null"

// makeExample writes random batches and groups. like selects columns whose values are equal or ascend.
func makeExample(t *testing.T, rng *rand.Rand, format string) *example {
	t.Helper()
	e := &example{table: Table{Name: "table", Metadata: [][2]string{{"a", "b"}}}}
	for _, kind := range []Type{Int32, Int64, Uint64, Bool, Timestamp, Double, Decimal, Text, Hash} {
		for _, nullable := range []bool{false, true} {
			if kind == Hash && nullable {
				continue
			}
			e.table.Fields = append(e.table.Fields, Field{Name: fmt.Sprintf("f%d", len(e.table.Fields)), Type: kind, Nullable: nullable})
		}
	}
	e.table.Fields = append(e.table.Fields,
		Field{Name: "text", Type: Text, Dictionary: 1, Nullable: true}, Field{Name: "id", Type: Uint64, Dictionary: 1, Nullable: true},
		Field{Name: "list", Type: Text, Dictionary: 2, List: true},
		Field{Name: "wide", Type: Decimal, Dictionary: 3}, Field{Name: "name", Type: Text, Dictionary: 3})
	w, err := New(format, &e.file, &e.table)
	if err != nil {
		t.Fatal(err)
	}
	for range rng.IntN(4) {
		entries := make([]Dictionary, 3)
		for range rng.IntN(4) {
			if err := w.Write(e.batch(rng, entries)); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.EndGroup(entries); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return e
}

// batch makes a batch, adds entries to the dictionaries and the rows to want.
func (e *example) batch(rng *rand.Rand, entries []Dictionary) *Batch {
	b := &Batch{Rows: rng.IntN(400), Columns: make([]Column, len(e.table.Fields)), Positions: make([]Positions, 3)}
	equalValues, nulls := rng.IntN(3) == 0, rng.IntN(3)
	first := len(e.want)
	for range b.Rows {
		e.want = append(e.want, make([]string, len(e.table.Fields)))
	}
	for i := range entries {
		for range 1 + rng.IntN(5) {
			entries[i].Add(fmt.Appendf(nil, "entry \"%d\", %d", i, entries[i].Len()), model.Uint128{Hi: rng.Uint64N(1000), Lo: rng.Uint64()})
		}
		p := &b.Positions[i]
		for range b.Rows {
			switch {
			case i == 1:
				for range rng.IntN(4) * rng.IntN(2) {
					p.At = append(p.At, uint32(rng.IntN(entries[i].Len())))
				}
				p.Ends = append(p.Ends, uint32(len(p.At)))
			case i == 0 && rng.IntN(3) < nulls:
				p.At = append(p.At, NoEntry)
			case equalValues:
				p.At = append(p.At, 0)
			default:
				p.At = append(p.At, uint32(rng.IntN(entries[i].Len())))
			}
		}
	}
	b.Entries = append([]Dictionary(nil), entries...)
	for i := range e.table.Fields {
		e.fill(rng, b, i, first, equalValues, nulls)
	}
	return b
}

// fill fills a column.
func (e *example) fill(rng *rand.Rand, b *Batch, i, first int, equalValues bool, nulls int) {
	f, c := &e.table.Fields[i], &b.Columns[i]
	same := integer(rng, f.Type)
	for r := range b.Rows {
		want := &e.want[first+r][i]
		if f.Dictionary > 0 {
			*want = entryText(b, f, r)
			continue
		}
		null := f.Nullable && rng.IntN(3) < nulls
		if f.Nullable && nulls > 0 {
			c.Nulls = append(c.Nulls, null)
		}
		switch f.Type {
		case Double:
			c.Doubles = append(c.Doubles, rng.NormFloat64())
			*want = fmt.Sprint(c.Doubles[r])
		case Decimal:
			n := model.Uint128{Hi: rng.Uint64N(MaxDecimal.Hi), Lo: rng.Uint64()}
			if rng.IntN(3) == 0 {
				n = MaxDecimal
			}
			c.Amounts = append(c.Amounts, n)
			*want = n.Big().String()
		case Text:
			text := fmt.Sprintf("text \"%d\",\n", rng.Uint32()>>rng.IntN(32))[:rng.IntN(8)]
			if null {
				text = ""
			}
			c.Bytes = append(c.Bytes, text...)
			c.Ends = append(c.Ends, uint32(len(c.Bytes)))
			*want = text
		case Hash:
			var h model.Hash
			binary.BigEndian.PutUint64(h[rng.IntN(24):], rng.Uint64())
			c.Bytes = append(c.Bytes, h[:]...)
			*want = string(h[:])
		default:
			n := same
			if !equalValues {
				n = integer(rng, f.Type)
			}
			c.Ints = append(c.Ints, n)
			*want = integerText(f.Type, n)
		}
		if null {
			*want = absent
		}
	}
}

func integerText(t Type, n int64) string {
	switch t {
	case Uint64:
		return fmt.Sprint(uint64(n))
	case Bool:
		return fmt.Sprint(n == 1)
	case Timestamp:
		return fmt.Sprint(n * 1000)
	}
	return fmt.Sprint(n)
}

func entryText(b *Batch, f *Field, r int) string {
	p, d := &b.Positions[f.Dictionary-1], &b.Entries[f.Dictionary-1]
	switch {
	case f.List:
		from, list := uint32(0), []string{}
		if r > 0 {
			from = p.Ends[r-1]
		}
		for _, at := range p.At[from:p.Ends[r]] {
			list = append(list, string(d.Text(at)))
		}
		return fmt.Sprint(list)
	case p.At[r] == NoEntry:
		return absent
	case f.Type == Text:
		return string(d.Text(p.At[r]))
	case f.Type == Uint64:
		return fmt.Sprint(d.IDs[p.At[r]].Lo)
	}
	return d.IDs[p.At[r]].Big().String()
}

// Another implementation reads the files of random tables of all types.
func TestParquetIsReadEqual(t *testing.T) {
	rng := testseed.Rand(t)
	for range testrun.Amount(200, 40) {
		e := makeExample(t, rng, "parquet")
		f, err := parquet.OpenFile(bytes.NewReader(e.file.Bytes()), int64(e.file.Len()))
		if err != nil {
			t.Fatal(err)
		}
		if v, ok := f.Lookup("a"); !ok || v != "b" {
			t.Errorf("metadata %q", v)
		}
		e.compareTypes(t, f.Metadata())
		n := 0
		for _, g := range f.RowGroups() {
			rows := g.Rows()
			buffer := make([]parquet.Row, 100)
			for {
				k, err := rows.ReadRows(buffer)
				for _, values := range buffer[:k] {
					if n < len(e.want) {
						e.compare(t, n, values)
					}
					n++
				}
				if k == 0 || err != nil {
					break
				}
			}
			if err := rows.Close(); err != nil {
				t.Fatal(err)
			}
		}
		if n != len(e.want) || f.NumRows() != int64(n) {
			t.Fatalf("%d rows, the footer has %d, expected %d", n, f.NumRows(), len(e.want))
		}
		if t.Failed() {
			return
		}
	}
}

// compareTypes compares the types of columns, which the library does not need to read texts.
func (e *example) compareTypes(t *testing.T, m *format.FileMetaData) {
	t.Helper()
	physical := map[Type]format.Type{
		Text: format.ByteArray, Hash: format.FixedLenByteArray, Decimal: format.FixedLenByteArray, Int32: format.Int32,
		Int64: format.Int64, Uint64: format.Int64, Timestamp: format.Int64, Bool: format.Boolean, Double: format.Double,
	}
	var got, want []string
	for _, element := range m.Schema {
		if element.Type.Valid {
			got = append(got, fmt.Sprint("schema ", element.Type.V))
		}
	}
	for _, f := range e.table.Fields {
		want = append(want, fmt.Sprint("schema ", physical[f.Type]))
	}
	for _, g := range m.RowGroups {
		for i, c := range g.Columns {
			got = append(got, fmt.Sprint("chunk ", c.MetaData.Type))
			want = append(want, fmt.Sprint("chunk ", physical[e.table.Fields[i].Type]))
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("types %q, expected %q", got, want)
	}
}

func (e *example) compare(t *testing.T, n int, values parquet.Row) {
	t.Helper()
	got, lists := make([]string, len(e.table.Fields)), map[int][]string{}
	for _, v := range values {
		i := v.Column()
		switch f := &e.table.Fields[i]; {
		case f.List:
			if lists[i] == nil {
				lists[i] = []string{}
			}
			if !v.IsNull() {
				lists[i] = append(lists[i], string(v.ByteArray()))
			}
			got[i] = fmt.Sprint(lists[i])
		case v.IsNull():
			got[i] = absent
		case f.Type == Double:
			got[i] = fmt.Sprint(v.Double())
		case f.Type == Decimal:
			b := v.ByteArray()
			got[i] = model.Uint128{Hi: binary.BigEndian.Uint64(b), Lo: binary.BigEndian.Uint64(b[8:])}.Big().String()
		case f.Type == Text || f.Type == Hash:
			got[i] = string(v.ByteArray())
		case f.Type == Int32:
			got[i] = fmt.Sprint(v.Int32())
		case f.Type == Bool:
			got[i] = fmt.Sprint(v.Boolean())
		case f.Type == Uint64:
			got[i] = fmt.Sprint(v.Uint64())
		default:
			got[i] = fmt.Sprint(v.Int64())
		}
	}
	for i, want := range e.want[n] {
		if got[i] != want {
			t.Errorf("row %d: %s is %q, expected %q", n, e.table.Fields[i].Name, got[i], want)
		}
	}
}

// The statistics of a column are its least and its largest value, in the order of its type.
func TestStatisticsAreTheRangeOfTheColumn(t *testing.T) {
	var file bytes.Buffer
	table := &Table{Name: "t", Fields: []Field{{Name: "s", Type: Int64}, {Name: "u", Type: Uint64}, {Name: "n", Type: Int32, Nullable: true}}}
	w, err := New("parquet", &file, table)
	if err != nil {
		t.Fatal(err)
	}
	b := &Batch{Rows: 3, Columns: []Column{
		{Ints: []int64{-5, 7, 0}}, {Ints: []int64{-1, 1, 5}}, {Ints: []int64{9, 0, 4}, Nulls: []bool{false, true, false}},
	}}
	if err := w.Write(b); err != nil {
		t.Fatal(err)
	}
	if err := w.EndGroup(nil); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	f, err := parquet.OpenFile(bytes.NewReader(file.Bytes()), int64(file.Len()))
	if err != nil {
		t.Fatal(err)
	}
	columns := f.Metadata().RowGroups[0].Columns
	for i, want := range []struct{ least, most uint64 }{{^uint64(4), 7}, {1, ^uint64(0)}, {4, 9}} {
		s := columns[i].MetaData.Statistics
		var least, most [8]byte
		copy(least[:], s.MinValue)
		copy(most[:], s.MaxValue)
		if l, m := binary.LittleEndian.Uint64(least[:]), binary.LittleEndian.Uint64(most[:]); l != want.least || m != want.most {
			t.Errorf("column %d: from %d to %d, expected %d to %d", i, int64(l), int64(m), int64(want.least), int64(want.most))
		}
	}
	if n := columns[2].MetaData.Statistics.NullCount; n != 1 {
		t.Errorf("%d nulls", n)
	}
}

// An amount with more than 38 digits is an error, not another amount.
func TestAmountsThatDoNotFitAreErrors(t *testing.T) {
	var file bytes.Buffer
	w, err := New("parquet", &file, &Table{Name: "t", Fields: []Field{{Name: "a", Type: Decimal}}})
	if err != nil {
		t.Fatal(err)
	}
	over, _ := MaxDecimal.Add(model.Uint128Of(1))
	if err := w.Write(&Batch{Rows: 1, Columns: []Column{{Amounts: []model.Uint128{over}}}}); err == nil {
		t.Error("10^38 was written")
	}
}
