package tablefile

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"math/bits"
	"sync"

	"github.com/klauspost/compress/zstd"

	"birthmark/model"
)

// Enumerations of Parquet's metadata: https://github.com/apache/parquet-format/blob/master/src/main/thrift/parquet.thrift
const (
	physicalBoolean = 0
	physicalInt32   = 1
	physicalInt64   = 2
	physicalDouble  = 5
	physicalBytes   = 6
	physicalFixed   = 7

	convertedUTF8    = 0
	convertedList    = 3
	convertedDecimal = 5
	convertedUint64  = 14

	required = 0
	optional = 1
	repeated = 2

	encodingPlain       = 0
	encodingRLE         = 3
	encodingDelta       = 5
	encodingDeltaLength = 6
	encodingDictionary  = 8

	codecNone = 0
	codecZstd = 6

	dataPage       = 0
	dictionaryPage = 2
)

const (
	magic     = "PAR1"
	createdBy = "birthmark"

	decimalSize   = 16
	decimalDigits = 38
)

// zstdEncoder compresses pages of all files.
var zstdEncoder = sharedEncoder()

func sharedEncoder() *zstd.Encoder {
	e, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithWindowSize(1<<20), zstd.WithEncoderCRC(false))
	if err != nil {
		panic(err) // the options are constants
	}
	return e
}

// parquetWriter writes a file of Parquet: zstd, one data page per batch and column, data pages of version 1.
type parquetWriter struct {
	w       io.Writer
	at      int64 // bytes written
	table   *Table
	columns []chunk
	rows    int64 // of the open group
	total   int64
	groups  []group

	pages []page // of the dictionaries, in a batch

	*scratch
	header int64 // size of the header of the last page

	slabs   []*[slabSize]byte // of the pages of the group
	slabbed int               // used bytes of the last one
	held    int               // bytes of the pages of the group
}

// scratch is memory of a writer that another one can use after it.
type scratch struct{ plain, packed, zstd []byte }

var freeScratch = sync.Pool{New: func() any { return &scratch{} }}

// page is the encoded positions of a dictionary, which all fields of the dictionary have.
type page struct {
	full, nullable []byte   // header and compressed bytes, without and with levels; nil: not encoded yet
	size           [2]int64 // uncompressed, with headers
}

// chunk is a column of the open group.
type chunk struct {
	pages    [][]byte
	size     int64 // uncompressed, with headers
	values   int64
	nulls    int64
	limited  bool // least and most are set
	least    int64
	most     int64
	encoding int64
}

// group is a row group in the footer.
type group struct {
	columns []chunkAt
	rows    int64
	offset  int64
}

type chunkAt struct {
	chunk
	dictionary, data     int64 // offsets; dictionary 0: none
	compressed, original int64
}

func newParquet(w io.Writer, t *Table) (*parquetWriter, error) {
	p := &parquetWriter{scratch: freeScratch.Get().(*scratch), w: w, table: t, columns: make([]chunk, len(t.Fields)), pages: make([]page, t.Dictionaries())}
	return p, p.write([]byte(magic))
}

func (p *parquetWriter) write(b []byte) error {
	n, err := p.w.Write(b)
	p.at += int64(n)
	return err
}

// Write implements [Writer].
func (p *parquetWriter) Write(b *Batch) error {
	if b.Rows == 0 {
		return nil
	}
	clear(p.pages)
	for i := range p.table.Fields {
		if err := p.page(i, b); err != nil {
			return err
		}
	}
	p.rows += int64(b.Rows)
	return nil
}

// page appends the page of a field.
func (p *parquetWriter) page(i int, b *Batch) error {
	f, c := &p.table.Fields[i], &p.columns[i]
	if f.Dictionary > 0 {
		p.dictionaryPage(f, c, &b.Positions[f.Dictionary-1], &p.pages[f.Dictionary-1], b.Rows, b.Entries[f.Dictionary-1].Len())
		return nil
	}
	values := &b.Columns[i]
	plain := p.plain[:0]
	if nulls := values.Nulls; f.Nullable {
		plain = appendLevels(plain, b.Rows, func(i int) bool { return nulls == nil || !nulls[i] })
	}
	plain, encoding, err := p.values(plain, f, c, values, b.Rows)
	if err != nil {
		return fmt.Errorf("column %s: %w", f.Name, err)
	}
	p.plain = plain
	c.encoding = encoding
	c.values += int64(b.Rows)
	c.pages = append(c.pages, p.slab(plain, dataPage, b.Rows, encoding, f.codec()))
	c.size += int64(len(plain)) + p.header
	return nil
}

// codec returns the compression of a field: hashes cannot be compressed.
func (f *Field) codec() int64 {
	if f.Type == Hash {
		return codecNone
	}
	return codecZstd
}

// values appends the values that are not null.
func (p *parquetWriter) values(b []byte, f *Field, c *chunk, v *Column, rows int) ([]byte, int64, error) {
	null := func(i int) bool { return v.Nulls != nil && v.Nulls[i] }
	for i := range rows {
		if null(i) {
			c.nulls++
		}
	}
	switch f.Type {
	case Int32, Int64, Uint64, Timestamp:
		ints := v.Ints
		if v.Nulls != nil {
			ints = nil
			for i, n := range v.Ints[:rows] {
				if !null(i) {
					ints = append(ints, n)
				}
			}
		}
		if f.Type == Timestamp {
			millis := make([]int64, len(ints))
			for i, n := range ints {
				millis[i] = n * 1000
			}
			ints = millis
		}
		c.extend(ints, f.Type == Uint64)
		return appendDelta(b, ints), encodingDelta, nil
	case Bool:
		packed, n := byte(0), 0
		for i, value := range v.Ints[:rows] {
			if null(i) {
				continue
			}
			packed |= byte(value) << (n % 8)
			if n++; n%8 == 0 {
				b, packed = append(b, packed), 0
			}
		}
		if n%8 > 0 {
			b = append(b, packed)
		}
		return b, encodingPlain, nil
	case Double:
		for i, value := range v.Doubles[:rows] {
			if !null(i) {
				b = binary.LittleEndian.AppendUint64(b, math.Float64bits(value))
			}
		}
		return b, encodingPlain, nil
	case Decimal:
		for i, value := range v.Amounts[:rows] {
			if null(i) {
				continue
			}
			if value.Cmp(MaxDecimal) > 0 {
				return b, 0, fmt.Errorf("%s has more than %d digits", value.Big(), decimalDigits)
			}
			b = appendDecimal(b, value)
		}
		return b, encodingPlain, nil
	case Text:
		sizes, from := make([]int64, 0, rows), uint32(0)
		for i, end := range v.Ends[:rows] {
			if !null(i) {
				sizes = append(sizes, int64(end-from))
			}
			from = end
		}
		b = appendDelta(b, sizes)
		return append(b, v.Bytes...), encodingDeltaLength, nil // a null has no bytes
	case Hash:
		return append(b, v.Bytes...), encodingPlain, nil
	}
	return b, 0, fmt.Errorf("unknown type %d", f.Type)
}

// MaxDecimal is 10^38-1, the largest value of a Decimal.
var MaxDecimal = model.Uint128{Hi: 0x4b3b4ca85a86c47a, Lo: 0x098a223fffffffff}

func appendDecimal(b []byte, n model.Uint128) []byte {
	return binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(b, n.Hi), n.Lo)
}

// extend extends the range of the values of a chunk.
func (c *chunk) extend(values []int64, unsigned bool) {
	flip := int64(0)
	if unsigned {
		flip = math.MinInt64 // makes the order of signed numbers that of unsigned ones
	}
	for _, v := range values {
		if !c.limited {
			c.limited, c.least, c.most = true, v, v
		}
		if v^flip < c.least^flip {
			c.least = v
		}
		if v^flip > c.most^flip {
			c.most = v
		}
	}
}

// dictionaryPage appends the page of a field whose values are entries. The fields of a dictionary share its pages.
func (p *parquetWriter) dictionaryPage(f *Field, c *chunk, at *Positions, shared *page, rows, entries int) {
	levels := 0
	if f.Nullable || f.List {
		levels = 1
	}
	made := &shared.full
	if levels == 1 {
		made = &shared.nullable
	}
	values := rows
	if f.List {
		values = listValues(at, rows)
	}
	if *made == nil {
		plain := p.plain[:0]
		present := at.At
		switch {
		case f.List:
			plain = appendListLevels(plain, at, rows, values)
		case f.Nullable:
			plain = appendLevels(plain, rows, func(i int) bool { return at.At[i] != NoEntry })
			present = present[:0:0]
			for _, n := range at.At {
				if n != NoEntry {
					present = append(present, n)
				}
			}
		}
		width := bits.Len(uint(max(entries, 1) - 1))
		plain = appendHybrid(append(plain, byte(width)), present, width)
		p.plain = plain
		*made = p.slab(plain, dataPage, values, encodingDictionary, codecZstd)
		shared.size[levels] = int64(len(plain)) + p.header
	}
	c.pages = append(c.pages, *made)
	c.size += shared.size[levels]
	c.encoding = encodingDictionary
	c.values += int64(values)
	if !f.List {
		for _, n := range at.At {
			if n == NoEntry {
				c.nulls++
			}
		}
	}
}

// listValues returns the number of values of a column of lists: an empty list is one, without an entry.
func listValues(at *Positions, rows int) int {
	n, from := len(at.At), uint32(0)
	for _, end := range at.Ends[:rows] {
		if end == from {
			n++
		}
		from = end
	}
	return n
}

// appendListLevels appends the levels of a required list of required entries: repetition 0 begins a row, definition 0 is
// an empty list.
func appendListLevels(b []byte, at *Positions, rows, values int) []byte {
	follows, defined := make([]bool, 0, values), make([]bool, 0, values)
	from := uint32(0)
	for _, end := range at.Ends[:rows] {
		for i := from; i < end; i++ {
			follows, defined = append(follows, i > from), append(defined, true)
		}
		if end == from {
			follows, defined = append(follows, false), append(defined, false)
		}
		from = end
	}
	b = appendLevels(b, values, func(i int) bool { return follows[i] })
	return appendLevels(b, values, func(i int) bool { return defined[i] })
}

// slabSize is the size of the memory in which the pages of a group are.
const slabSize = 1 << 20

// freeSlabs are slabs of finished groups of all files.
var freeSlabs = sync.Pool{New: func() any { return new([slabSize]byte) }}

// slab returns the header and the compressed bytes of a page, in memory that is valid until the end of the group.
func (p *parquetWriter) slab(plain []byte, kind int64, values int, encoding, codec int64) []byte {
	packed := p.pack(plain, codec)
	p.packed = append(p.pageHeader(p.packed[:0], len(plain), len(packed), kind, values, encoding), packed...)
	p.held += len(p.packed)
	if len(p.packed) > slabSize/4 {
		return append([]byte(nil), p.packed...)
	}
	if len(p.slabs) == 0 || len(p.packed) > slabSize-p.slabbed {
		p.slabs, p.slabbed = append(p.slabs, freeSlabs.Get().(*[slabSize]byte)), 0
	}
	to := p.slabs[len(p.slabs)-1][p.slabbed:]
	n := copy(to, p.packed)
	p.slabbed += n
	return to[:n:n]
}

// pack returns the compressed bytes of a page, valid until the next call.
func (p *parquetWriter) pack(plain []byte, codec int64) []byte {
	if codec == codecNone {
		return plain
	}
	p.zstd = zstdEncoder.EncodeAll(plain, p.zstd[:0])
	return p.zstd
}

// pageHeader appends the header of a page.
func (p *parquetWriter) pageHeader(b []byte, plain, packed int, kind int64, values int, encoding int64) []byte {
	begin, t := len(b), thrift{b: b}
	t.begin()
	t.i32(1, kind)
	t.i32(2, int64(plain))
	t.i32(3, int64(packed))
	if kind == dictionaryPage {
		t.struct_(7, func() {
			t.i32(1, int64(values))
			t.i32(2, encodingPlain)
		})
	} else {
		t.struct_(5, func() {
			t.i32(1, int64(values))
			t.i32(2, encoding)
			t.i32(3, encodingRLE)
			t.i32(4, encodingRLE)
		})
	}
	t.end()
	p.header = int64(len(t.b) - begin)
	return t.b
}

// Held implements [Writer].
func (p *parquetWriter) Held() int { return p.held }

// EndGroup implements [Writer].
func (p *parquetWriter) EndGroup(entries []Dictionary) error {
	if p.rows == 0 {
		return nil
	}
	g := group{columns: make([]chunkAt, len(p.columns)), rows: p.rows, offset: p.at}
	for i := range p.columns {
		c, f, to := &p.columns[i], &p.table.Fields[i], &g.columns[i]
		begin := p.at
		if f.Dictionary > 0 {
			to.dictionary = p.at
			d := &entries[f.Dictionary-1]
			plain := d.Texts
			if f.Type != Text {
				plain = p.plain[:0]
				for _, id := range d.IDs {
					if f.Type == Uint64 {
						plain = binary.LittleEndian.AppendUint64(plain, id.Lo)
					} else {
						plain = appendDecimal(plain, id)
					}
				}
				p.plain = plain
			}
			packed := p.pack(plain, codecZstd)
			p.packed = p.pageHeader(p.packed[:0], len(plain), len(packed), dictionaryPage, d.Len(), encodingPlain)
			c.size += int64(len(plain)) + p.header
			if err := errors.Join(p.write(p.packed), p.write(packed)); err != nil {
				return err
			}
		}
		to.data = p.at
		for _, page := range c.pages {
			if err := p.write(page); err != nil {
				return err
			}
		}
		to.chunk, to.compressed, to.original = *c, p.at-begin, c.size
		to.pages = nil
		clear(c.pages)
		*c = chunk{pages: c.pages[:0]}
	}
	for _, s := range p.slabs {
		freeSlabs.Put(s)
	}
	p.slabs, p.held = p.slabs[:0], 0
	p.total += p.rows
	p.rows = 0
	p.groups = append(p.groups, g)
	return nil
}

// Close implements [Writer].
func (p *parquetWriter) Close() error {
	freeScratch.Put(p.scratch)
	footer := p.footer()
	footer = binary.LittleEndian.AppendUint32(footer, uint32(len(footer)))
	return p.write(append(footer, magic...))
}
