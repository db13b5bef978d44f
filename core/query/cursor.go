package query

import (
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strconv"

	"birthmark/core/query/pointers"
	"birthmark/core/query/setops"
	"birthmark/core/schema"
	"birthmark/model"
)

// Page selects a part of a list.
type Page struct {
	Limit      int    // maximum number of entries; 0: DefaultLimit
	After      string // cursor of the previous page; empty: start at the beginning
	Descending bool   // newest first
	Budget     int    // maximum number of rows that one page of Find reads; 0: 100,000
}

const (
	DefaultLimit = 25
	MaxLimit     = 10_000
)

// cursor is the position after a page: the pointer of its last entry. It contains the hash of the entry's block,
// which detects cursors whose block was rolled back.
//
//	version (1 byte) | checksum of the list and the rest (8 bytes of a SHA-256) | block hash (first 8 bytes) | pointer
type cursor struct {
	mark     [8]byte
	block    [8]byte
	position []byte
}

// newCursor returns a cursor of the list that question identifies.
func newCursor(question, block [8]byte, position []byte) cursor {
	c := cursor{block: block, position: position}
	sum := sha256.Sum256(slices.Concat(question[:], block[:], position))
	copy(c.mark[:], sum[:])
	return c
}

const cursorVersion = 1

func (c *cursor) String() string {
	b := append([]byte{cursorVersion}, c.mark[:]...)
	b = append(b, c.block[:]...)
	return base64.RawURLEncoding.EncodeToString(append(b, c.position...))
}

var errCursor = errors.New("not a cursor")

func parseCursor(s string) (c cursor, err error) {
	b, err := base64.RawURLEncoding.Strict().DecodeString(s)
	if err != nil || len(b) < 1+8+8+model.PkSize || b[0] != cursorVersion {
		return c, errCursor
	}
	copy(c.mark[:], b[1:])
	copy(c.block[:], b[9:])
	c.position = slices.Clone(b[17:])
	if c.String() != s { // the decoder ignores line breaks
		return c, errCursor
	}
	return c, nil
}

// blockMark returns the first 8 bytes of the hash of the block at h, or zeros if no block exists at h: genesis is
// never rolled back and may have no block.
func (q *Query) blockMark(h model.HeightPk) (mark [8]byte, err error) {
	row, _, err := schema.FindBlock(q.R, h)
	copy(mark[:], row.Hash[:])
	return mark, err
}

// parseMark returns the mark of the block at h from its row, which may be nil.
func parseMark(h model.HeightPk, b []byte) (mark [8]byte, err error) {
	if b == nil {
		return mark, nil
	}
	row, err := schema.ParseBlockRow(b)
	if err != nil {
		return mark, fmt.Errorf("block at height %d: %w", h, err)
	}
	copy(mark[:], row.Hash[:])
	return mark, nil
}

// list is a page of one list that is being read.
type list struct {
	Page
	q     *Query
	limit int
	scope []string
}

// Limit returns the limit of a page, or the default for 0. One above [MaxLimit] is a Usage error (bad_value).
func Limit(n int) (int, error) {
	if n < 0 || n > MaxLimit {
		return 0, model.Errorf(model.Usage, "bad_value", "limit %d: expected 1 to %d", n, MaxLimit)
	}
	return cmp.Or(n, DefaultLimit), nil
}

// list checks the limit of a page. Scope and the order identify the list.
func (q *Query) list(p Page, scope ...string) (*list, error) {
	limit, err := Limit(p.Limit)
	return &list{Page: p, q: q, limit: limit, scope: scope}, err
}

// id identifies the list in its cursors. A cursor is valid only for the list that it was created for.
func (l *list) id() (id [8]byte) {
	order := "asc"
	if l.Descending {
		order = "desc"
	}
	b := make([]byte, 0, 256)
	for _, part := range append(l.scope, order) {
		b = append(strconv.AppendInt(b, int64(len(part)), 10), ':')
		b = append(b, part...)
	}
	sum := sha256.Sum256(b)
	copy(id[:], sum[:])
	return id
}

// position of an entry of a list: the height of its block, and the pointer or key after which the next page starts.
type position struct {
	height model.HeightPk
	key    []byte
}

// at returns the position of an output, or of a value that was born in it.
func at(pk model.UtxoPk) position { return position{pk.Height(), pk.AppendTo(nil)} }

// page reads one page of rows. next is the cursor of the following page, nil if this is the last one.
func page[T any](l *list, rows iter.Seq2[T, error], at func(*T) position) (page []T, next *string, err error) {
	for row, err := range rows {
		if err != nil {
			return nil, nil, err
		}
		if page = append(page, row); len(page) > l.limit {
			break
		}
	}
	return cut(l, page, at)
}

// cut cuts rows, which were read up to one more than the limit, to a page.
func cut[T any](l *list, rows []T, at func(*T) position) (page []T, next *string, err error) {
	if len(rows) > l.limit {
		rows = rows[:l.limit]
		next, err = l.next(at(&rows[l.limit-1]))
	}
	return rows, next, err
}

// next returns the cursor of a page that ends with p.
func (l *list) next(p position) (next *string, err error) {
	load := l.q.NewLoad()
	l.loadNext(load, p, &next)
	return next, load.Read()
}

// loadNext sets *next to the cursor of a page that ends with p when load is read.
func (l *list) loadNext(load *pointers.Load, p position, next **string) {
	load.Found(schema.FamilyBlock, [][]byte{p.height.AppendTo(nil)}, func(rows [][]byte) error {
		mark, err := parseMark(p.height, rows[0])
		c := newCursor(l.id(), mark, p.key)
		s := c.String()
		*next = &s
		return err
	})
}

// anySize disables the size check, for cursors with positions of variable size.
const anySize = -1

// cursor parses the cursor of the page and checks that its position has size bytes. It returns nil for the first page.
func (l *list) cursor(size int) (*cursor, error) {
	if l.After == "" {
		return nil, nil
	}
	c, err := parseCursor(l.After)
	if err != nil {
		return nil, model.Errorf(model.Usage, "bad_cursor",
			"invalid cursor %q: pass the value of next of the previous page", l.After)
	}
	if c.mark != newCursor(l.id(), c.block, c.position).mark || size != anySize && len(c.position) != size {
		return nil, model.Errorf(model.Usage, "bad_cursor",
			"cursor %q is damaged or belongs to another list: "+
				"repeat the index, value, terms, range and order of the previous page", l.After)
	}
	return &c, nil
}

// start returns the position of size bytes after which the page starts, or nil for the first page.
func (l *list) start(size int) ([]byte, error) {
	c, err := l.cursor(size)
	if c == nil || err != nil {
		return nil, err
	}
	pk, err := model.ParseUtxoPk(c.position[:model.PkSize])
	if err != nil {
		return nil, err
	}
	return c.position, l.checkBlock(c, pk.Height())
}

// checkBlock returns an error (cursor_rolled_back) if the cursor's block at h was rolled back.
func (l *list) checkBlock(c *cursor, h model.HeightPk) error {
	mark, err := l.q.blockMark(h)
	if err == nil && mark != c.block {
		err = model.Errorf(model.Usage, "cursor_rolled_back",
			"the block of cursor %q (height %d) is no longer part of the chain: start from the first page", l.After, h)
	}
	return err
}

// span returns the positions of a range that follow the cursor: an output, or a transaction if txs is set.
func (l *list) span(r Range, txs bool) (setops.Span, error) {
	s, err := l.q.Span(r)
	if err != nil {
		return s, err
	}
	position, err := l.start(model.PkSize)
	if position == nil || err != nil {
		return s, err
	}
	if txs {
		tx, err := model.ParseTxPk(position)
		return s.AfterTx(tx, l.Descending), err
	}
	pk, err := model.ParseUtxoPk(position)
	return s.After(pk, l.Descending), err
}
