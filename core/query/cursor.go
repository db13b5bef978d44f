package query

import (
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"

	"birthmark/core/schema"
	"birthmark/model"
	"birthmark/storage"
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

func (p Page) limit() (int, error) {
	if p.Limit < 0 || p.Limit > MaxLimit {
		return 0, model.Errorf(model.Usage, "bad_value", "limit %d: expected 1 to %d", p.Limit, MaxLimit)
	}
	if p.Limit == 0 {
		return DefaultLimit, nil
	}
	return p.Limit, nil
}

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

// cursorScope identifies a list. A cursor is valid only for the list that it was created for.
func cursorScope(parts ...string) (id [8]byte) {
	h := sha256.New()
	for _, p := range parts {
		fmt.Fprintf(h, "%d:%s", len(p), p)
	}
	copy(id[:], h.Sum(nil))
	return id
}

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
	b, err := q.R.Get(schema.FamilyBlock, h.AppendTo(nil))
	if errors.Is(err, storage.ErrNotFound) {
		return mark, nil
	}
	if err != nil {
		return mark, err
	}
	row, err := schema.ParseBlockRow(b)
	copy(mark[:], row.Hash[:])
	return mark, err
}

// next returns the cursor of a page that ends with position, whose block has height h.
func (q *Query) next(question [8]byte, h model.HeightPk, position []byte) (*string, error) {
	mark, err := q.blockMark(h)
	if err != nil {
		return nil, err
	}
	c := newCursor(question, mark, position)
	s := c.String()
	return &s, nil
}

// anySize disables the size check, for cursors with positions of variable size.
const anySize = -1

// cursor parses the cursor of a page and checks that its position has size bytes. It returns nil for the first page.
func (q *Query) cursor(p Page, question [8]byte, size int) (*cursor, error) {
	if p.After == "" {
		return nil, nil
	}
	c, err := parseCursor(p.After)
	if err != nil {
		return nil, model.Errorf(model.Usage, "bad_cursor", "cursor %q: not one of ours", p.After)
	}
	if c.mark != newCursor(question, c.block, c.position).mark || size != anySize && len(c.position) != size {
		return nil, model.Errorf(model.Usage, "bad_cursor", "cursor %q is damaged or belongs to another question: ask with the same index, value, terms, range and order", p.After)
	}
	return &c, nil
}

// after returns the position of size bytes after which a page starts, or nil for the first page.
func (q *Query) after(p Page, question [8]byte, size int) ([]byte, error) {
	c, err := q.cursor(p, question, size)
	if c == nil || err != nil {
		return nil, err
	}
	pk, err := model.ParseUtxoPk(c.position[:model.PkSize])
	if err != nil {
		return nil, err
	}
	return c.position, q.stands(p, c, pk.Height())
}

// stands returns an error (cursor_rolled_back) if the cursor's block at h was rolled back.
func (q *Query) stands(p Page, c *cursor, h model.HeightPk) error {
	mark, err := q.blockMark(h)
	if err == nil && mark != c.block {
		err = model.Errorf(model.Usage, "cursor_rolled_back", "the block of cursor %q (height %d) is no longer part of the chain: begin again", p.After, h)
	}
	return err
}

// behind trims s to the part that follows the output of the page's cursor.
func (q *Query) behind(s Span, p Page, question [8]byte) (Span, error) {
	position, err := q.after(p, question, model.PkSize)
	if position == nil || err != nil {
		return s, err
	}
	pk, err := model.ParseUtxoPk(position)
	return s.behind(pk, p.Descending), err
}

// behindTx trims s to the part that follows the transaction of the page's cursor.
func (q *Query) behindTx(s Span, p Page, question [8]byte) (Span, error) {
	position, err := q.after(p, question, model.PkSize)
	if position == nil || err != nil {
		return s, err
	}
	pk, err := model.ParseTxPk(position)
	return s.BehindTx(pk, p.Descending), err
}
