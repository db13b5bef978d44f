package segment

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/klauspost/compress/zstd"

	"birthmark/core/schema"
	"birthmark/model"
)

// Kind is the effect of an update on the chain.
type Kind byte

const (
	Append    Kind = iota // adds blocks
	Rollback              // removes blocks
	Catalogue             // changes the indexes or rows of them; the tip stays
	Promotion             // begins a lineage, and changes nothing else
)

func (k Kind) String() string {
	if names := []string{"append", "rollback", "catalogue", "promotion"}; int(k) < len(names) {
		return names[k]
	}
	return fmt.Sprintf("kind %d", byte(k))
}

// Segment is one update.
type Segment struct {
	schema.Position // Hash is the SHA-256 of the encoded segment, set by Encode and Decode

	Previous  model.Hash // [schema.Position.Hash] before the update
	Kind      Kind
	From, To  model.Point    // the tip before and after
	Origin    schema.Lineage // of a promotion: the lineage that it continues
	Made      time.Time      // when it was recorded, in microseconds
	Catalogue model.Hash     // SHA-256 of meta's row indexes before the update
	Families  []Family       // by name, those with changes
}

// Family is the changed rows of a family in the order of their keys.
type Family struct {
	Name string
	Rows []Row
}

// Row is a changed row.
type Row struct {
	Key, Value []byte
	Deleted    bool
}

// The encoding of a segment: see docs/scaling.md.
const (
	magic      = "BMS1"
	headerSize = len(magic) + 16 + 8 + 32 + 4 // magic, lineage, seq, previous hash, size of the content
	hashSize   = sha256.Size

	// MaxContent is the largest content in bytes before compression. A larger update is not recorded.
	MaxContent = 512 << 20
	// MaxSize is the largest encoded segment in bytes.
	MaxSize = MaxContent + MaxContent/8
)

var errTooLarge = fmt.Errorf("the rows have more than %d bytes", MaxContent)

var encoder = sync.OnceValue(func() *zstd.Encoder {
	e, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderCRC(false), zstd.WithEncoderLevel(zstd.SpeedFastest))
	if err != nil {
		panic(err) // the options are constant
	}
	return e
})

var decoder = sync.OnceValue(func() *zstd.Decoder {
	d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(0), zstd.WithDecoderMaxMemory(MaxContent))
	if err != nil {
		panic(err)
	}
	return d
})

// Encode encodes the segment and sets its hash. The error is that the content is larger than [MaxContent].
func (s *Segment) Encode() ([]byte, error) {
	content := []byte{byte(s.Kind)}
	for _, p := range []model.Point{s.From, s.To} {
		tip := schema.AppendTip(nil, p)
		content = append(binary.AppendUvarint(content, uint64(len(tip))), tip...)
	}
	content = append(content, s.Origin[:]...)
	content = binary.AppendUvarint(content, uint64(s.Made.UnixMicro()))
	content = append(content, s.Catalogue[:]...)
	content = binary.AppendUvarint(content, uint64(len(s.Families)))
	for _, f := range s.Families {
		content = appendBytes(content, []byte(f.Name))
		content = binary.AppendUvarint(content, uint64(len(f.Rows)))
		var before []byte
		for i := range f.Rows {
			content = f.Rows[i].appendTo(content, before)
			before = f.Rows[i].Key
		}
		if len(content) > MaxContent {
			break
		}
	}
	if len(content) > MaxContent {
		return nil, errTooLarge
	}
	out := make([]byte, 0, headerSize+len(content)/2+hashSize)
	out = append(out, magic...)
	out = append(out, s.Lineage[:]...)
	out = binary.BigEndian.AppendUint64(out, s.Seq)
	out = append(out, s.Previous[:]...)
	out = binary.BigEndian.AppendUint32(out, uint32(len(content)))
	out = encoder().EncodeAll(content, out)
	s.Hash = sha256.Sum256(out)
	return append(out, s.Hash[:]...), nil
}

func appendBytes(b, text []byte) []byte {
	return append(binary.AppendUvarint(b, uint64(len(text))), text...)
}

// appendTo appends the number of bytes that the key shares with the one before, the rest of the key, and the size of
// the value plus 1, 0 for a deletion, with the value.
func (r *Row) appendTo(b, before []byte) []byte {
	shared := 0
	for shared < min(len(before), len(r.Key)) && before[shared] == r.Key[shared] {
		shared++
	}
	b = appendBytes(binary.AppendUvarint(b, uint64(shared)), r.Key[shared:])
	if r.Deleted {
		return append(b, 0)
	}
	b = binary.AppendUvarint(b, uint64(len(r.Value))+1)
	return append(b, r.Value...)
}

// Header returns the position of an encoded segment and the hash of the one before, without checking the rest.
func Header(b []byte) (at schema.Position, previous model.Hash, err error) {
	if len(b) < headerSize+hashSize || string(b[:len(magic)]) != magic {
		return at, previous, damaged("no segment: %d bytes", len(b))
	}
	r := b[len(magic):]
	copy(at.Lineage[:], r)
	at.Seq = binary.BigEndian.Uint64(r[16:])
	copy(previous[:], r[24:])
	copy(at.Hash[:], b[len(b)-hashSize:])
	return at, previous, nil
}

func damaged(format string, args ...any) error {
	return model.Errorf(model.BadSource, "bad_segment", "damaged segment: "+format, args...)
}

// Decode decodes a segment, after it has checked its hash. The error is of kind BadSource (bad_segment). The segment
// does not refer to b.
func Decode(b []byte) (*Segment, error) {
	at, previous, err := Header(b)
	if err != nil {
		return nil, err
	}
	if sum := sha256.Sum256(b[:len(b)-hashSize]); at.Hash != sum {
		return nil, damaged("segment %d of lineage %x: its SHA-256 is %x, expected %x", at.Seq, at.Lineage, sum, at.Hash)
	}
	size := binary.BigEndian.Uint32(b[headerSize-4:])
	if size > MaxContent {
		return nil, damaged("segment %d: content of %d bytes, expected at most %d", at.Seq, size, MaxContent)
	}
	content, err := decoder().DecodeAll(b[headerSize:len(b)-hashSize], make([]byte, 0, size))
	if err == nil && len(content) != int(size) {
		err = fmt.Errorf("%d bytes, expected %d", len(content), size)
	}
	if err != nil {
		return nil, damaged("segment %d: its content: %w", at.Seq, err)
	}
	s := &Segment{Position: at, Previous: previous}
	if err := s.parse(content); err != nil {
		return nil, damaged("segment %d: its content: %w", at.Seq, err)
	}
	return s, nil
}

// parse parses the content, to which the rows refer afterwards.
func (s *Segment) parse(content []byte) error {
	r := parser{b: content}
	s.Kind = Kind(r.take(1)[0])
	for _, to := range []*model.Point{&s.From, &s.To} {
		p, err := schema.ParseTip(r.bytes())
		if r.err == nil {
			r.err = err
		}
		*to = p
	}
	copy(s.Origin[:], r.take(len(s.Origin)))
	s.Made = time.UnixMicro(int64(r.uvarint()))
	copy(s.Catalogue[:], r.take(len(s.Catalogue)))
	for range r.count() {
		f := Family{Name: string(r.bytes())}
		if n := len(s.Families); n > 0 && s.Families[n-1].Name >= f.Name {
			r.fail("families out of order")
		}
		n := r.count()
		f.Rows = make([]Row, 0, min(n, len(r.b)/3+1))
		var before []byte
		for range n {
			row := r.row(before)
			if r.err == nil && len(f.Rows) > 0 && bytes.Compare(before, row.Key) >= 0 {
				r.fail("keys out of order")
			}
			if r.err != nil {
				return r.err
			}
			f.Rows, before = append(f.Rows, row), row.Key
		}
		s.Families = append(s.Families, f)
		if r.err != nil {
			return r.err
		}
	}
	if r.err == nil && len(r.b) > 0 {
		r.fail("%d bytes too many", len(r.b))
	}
	if r.err == nil && s.Kind > Promotion {
		r.fail("unknown %v", s.Kind)
	}
	return r.err
}

// parser splits content; the first malformed field sets err.
type parser struct {
	b    []byte
	keys []byte // memory for keys
	err  error
}

func (r *parser) fail(format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf(format, args...)
	}
	r.b = nil
}

func (r *parser) take(n int) []byte {
	if n < 0 || len(r.b) < n {
		r.fail("it ends early")
		return make([]byte, min(max(n, 0), 64))
	}
	b := r.b[:n:n]
	r.b = r.b[n:]
	return b
}

func (r *parser) uvarint() uint64 {
	v, n := binary.Uvarint(r.b)
	if n <= 0 {
		r.fail("a number is malformed")
		return 0
	}
	r.b = r.b[n:]
	return v
}

// count reads a number of elements of at least one byte each.
func (r *parser) count() int {
	n := r.uvarint()
	if n > uint64(len(r.b)) {
		r.fail("it ends early")
		return 0
	}
	return int(n)
}

func (r *parser) bytes() []byte { return r.take(r.count()) }

func (r *parser) row(before []byte) (row Row) {
	shared := r.uvarint()
	if shared > uint64(len(before)) {
		r.fail("a key refers beyond the one before")
		return row
	}
	rest := r.bytes()
	if n := int(shared) + len(rest); cap(r.keys)-len(r.keys) < n {
		r.keys = make([]byte, 0, max(n, 64<<10))
	}
	at := len(r.keys)
	r.keys = append(append(r.keys, before[:shared]...), rest...)
	row.Key = r.keys[at:len(r.keys):len(r.keys)]
	size := r.uvarint()
	if row.Deleted = size == 0; row.Deleted {
		return row
	}
	if size-1 > uint64(len(r.b)) {
		r.fail("it ends early")
		return row
	}
	row.Value = r.take(int(size - 1))
	return row
}

// find returns the change of a row; nil if it is not changed.
func (s *Segment) find(family string, key []byte) *Row {
	i, ok := slices.BinarySearchFunc(s.Families, family, func(f Family, name string) int { return strings.Compare(f.Name, name) })
	if !ok {
		return nil
	}
	rows := s.Families[i].Rows
	if i, ok = slices.BinarySearchFunc(rows, key, func(r Row, key []byte) int { return bytes.Compare(r.Key, key) }); !ok {
		return nil
	}
	return &rows[i]
}

// Meta returns the new value of a row of meta; nil if the segment does not put it.
func (s *Segment) Meta(key []byte) []byte {
	r := s.find(metaName, key)
	if r == nil || r.Deleted {
		return nil
	}
	return append([]byte{}, r.Value...)
}

var metaName = schema.Schema[schema.FamilyMeta].Name

// Rows returns the number of changed rows.
func (s *Segment) Rows() (n int) {
	for _, f := range s.Families {
		n += len(f.Rows)
	}
	return n
}
