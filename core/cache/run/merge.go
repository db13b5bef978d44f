package run

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
)

// readBuffer is the number of pages that merges read at once from each run.
const readBuffer = 256

// Merge writes the live entries of several runs of one payload size to a new run: entries that are not dead, are below
// the limit of their run, and for which keep returns true if it is not nil. Of equal tags and extras, the entries of
// later runs are first, so that lookups find the latest one.
func Merge(path string, runs []*Run, keep func(pk uint64) bool) (*Run, error) {
	if len(runs) == 0 {
		return nil, errors.New("merge cache files: none given")
	}
	expected := 0
	var cursors []*cursor
	for _, r := range runs {
		if r.layout.payload != runs[0].layout.payload {
			return nil, fmt.Errorf("merge cache files: payloads of %d bytes in %s, of %d in %s",
				runs[0].layout.payload, runs[0].path, r.layout.payload, r.path)
		}
		expected += r.Len() - r.Dead()
		cursors = append(cursors, r.newCursor(keep))
	}
	w, err := Create(path, runs[0].layout.payload, expected)
	if err != nil {
		return nil, err
	}
	if err := w.merge(cursors); err != nil {
		w.Abort()
		return nil, err
	}
	return w.Finish()
}

func (w *Writer) merge(cursors []*cursor) error {
	advance := func(i int) error {
		c := cursors[i]
		if !c.next() {
			cursors = slices.Delete(cursors, i, i+1)
			return c.err
		}
		return nil
	}
	for i := len(cursors) - 1; i >= 0; i-- {
		if err := advance(i); err != nil {
			return err
		}
	}
	for len(cursors) > 0 {
		least := 0
		for i, c := range cursors[1:] {
			if l := cursors[least]; c.tag < l.tag || c.tag == l.tag && extraOf(c.rest) <= extraOf(l.rest) {
				least = i + 1
			}
		}
		c := cursors[least]
		rest, err := w.place(c.tag, extraOf(c.rest))
		if err != nil {
			return err
		}
		copy(rest, c.rest)
		if err := advance(least); err != nil {
			return err
		}
	}
	return nil
}

// All returns the live entries in order. A payload is valid until the next one. An error ends the sequence. Entries may
// be marked dead meanwhile.
func (r *Run) All() iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		c := r.newCursor(nil)
		for c.next() {
			if !yield(Entry{c.tag, extraOf(c.rest), pkOf(c.rest), int32(c.slot), c.rest[restSize:]}, nil) {
				return
			}
		}
		if c.err != nil {
			yield(Entry{}, c.err)
		}
	}
}

// cursor reads the live entries of a run in order.
type cursor struct {
	tag  uint64
	rest []byte // without the tag
	slot int    // of the current entry
	err  error

	r      *Run
	dead   *deadBits
	limit  uint64
	keep   func(pk uint64) bool
	buffer []byte
	unread []byte // pages in buffer after the current one
	page   []byte // the current page
	pages  int    // started so far
	i, n   int    // next entry of the page, and their number
}

func (r *Run) newCursor(keep func(pk uint64) bool) *cursor {
	return &cursor{r: r, slot: -1, keep: keep, dead: r.dead.Load(), limit: r.limit.Load(),
		buffer: make([]byte, min(readBuffer, max(1, r.layout.pages))*pageSize)}
}

// next moves to the next live entry; false at the end and after an error.
func (c *cursor) next() bool {
	l := &c.r.layout
	for {
		if c.i == c.n && !c.nextPage() {
			return false
		}
		i := c.i
		c.i++
		c.tag, c.rest = tagOf(c.page, i), l.rest(c.page, i)
		c.slot++
		pk := pkOf(c.rest)
		if pk < c.limit && !c.dead.has(c.slot) && (c.keep == nil || c.keep(pk)) {
			return true
		}
	}
}

func (c *cursor) nextPage() bool {
	l := &c.r.layout
	if c.err != nil || c.pages == l.pages {
		return false
	}
	if len(c.unread) == 0 {
		n := min(len(c.buffer), (l.pages-c.pages)*pageSize)
		c.unread = c.buffer[:n]
		at := l.pageAt(c.pages)
		if _, err := c.r.file.ReadAt(c.unread, at); errors.Is(err, io.EOF) {
			c.err = c.r.damaged("pages after page %d are missing", c.pages)
			return false
		} else if err != nil {
			c.err = fmt.Errorf("read cache file: %w", err)
			return false
		}
		adviseNeeded(c.r.file, at+int64(n), min(int64(len(c.buffer)), l.filterAt()-at-int64(n)))
	}
	c.page, c.unread = c.unread[:pageSize], c.unread[pageSize:]
	if c.err = c.r.verify(c.pages, c.page); c.err != nil {
		return false
	}
	c.i, c.n = 0, l.entriesOf(c.pages)
	c.pages++
	return true
}
