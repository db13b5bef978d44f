package run

import (
	"errors"
	"fmt"
	"io"
	"slices"
)

// Query is a lookup in a batch.
type Query struct {
	Tag     uint64
	Extra   uint16
	Found   bool
	Index   int32  // free for the caller
	Slot    int32  // number of the entry in the run that has it: see MarkDead
	Payload int32  // position of the payload: see Scratch.Payload
	Pk      uint64 // pointer, if found
}

// Scratch is memory that lookups reuse. It must not be used by two goroutines at a time.
type Scratch struct {
	Pages int64 // pages that were read
	Cold  int64 // pages of them that were not in the page cache

	hits     []hit  // queries that passed the filter
	cold     []span // hits of pages that are not in memory
	buffer   []byte // two pages
	payloads []byte
	payload  int    // bytes of each payload
	touch    uint64 // uses the words that candidates loads
}

// hit is a query that the filter lets through, and the page that may have it.
type hit struct{ query, page int32 }

// span is the range of hits of a page.
type span struct{ from, to int32 }

const (
	// around is the number of pages on both sides of the expected one that are searched first.
	around = 8

	// touched is the number of queries whose filter blocks are loaded at once: the processor waits for memory once.
	touched = 16

	// readAhead is the number of cold pages that the system reads in parallel.
	readAhead = 256
)

// Reset discards the payloads. Call it before a batch of queries, not between the runs of a batch.
func (s *Scratch) Reset() { s.payloads = s.payloads[:0] }

// Payload returns the payload of a query that was found since Reset. It is valid until the next Reset.
func (s *Scratch) Payload(q *Query) []byte {
	return s.payloads[q.Payload : int(q.Payload)+s.payload : int(q.Payload)+s.payload]
}

// Lookup searches the queries that are not found yet, and sets Found, Pk, Slot and Payload. Queries must be sorted by
// tag. Dead entries and those at or after the limit are not found. Of several entries of equal tag and extra, the first
// one is found.
//
// Pages that are in the page cache are read first. The system then reads all others in parallel, so that a batch waits
// for the disk about once per 256 pages.
func (r *Run) Lookup(qs []Query, s *Scratch) error {
	if s.payload != r.layout.payload && len(s.payloads) > 0 {
		return fmt.Errorf("look up payloads of %d bytes in cache file %s: it has %d", s.payload, r.path, r.layout.payload)
	}
	if s.payload = r.layout.payload; s.buffer == nil {
		s.buffer = make([]byte, 2*pageSize)
	}
	r.candidates(qs, s)
	page := s.buffer[:pageSize]
	s.cold = s.cold[:0]
	for from, to := 0, 0; from < len(s.hits); from = to {
		number := s.hits[from].page
		for to = from + 1; to < len(s.hits) && s.hits[to].page == number; {
			to++
		}
		if cached, err := r.readIfCached(page, int(number), s); err != nil {
			return err
		} else if !cached {
			s.cold = append(s.cold, span{int32(from), int32(to)})
		} else if err := r.search(qs, page, s.hits[from:to], s); err != nil {
			return err
		}
	}
	ahead := 0
	for i, c := range s.cold {
		for ; ahead < min(len(s.cold), i+readAhead); ahead++ {
			adviseNeeded(r.file, r.layout.pageAt(int(s.hits[s.cold[ahead].from].page)), pageSize)
		}
		if err := r.read(page, int(s.hits[c.from].page), s); err != nil {
			return err
		}
		if err := r.search(qs, page, s.hits[c.from:c.to], s); err != nil {
			return err
		}
	}
	s.Cold += int64(len(s.cold))
	return nil
}

// candidates sets the hits: the queries that are not found yet and pass the filter, with their pages.
func (r *Run) candidates(qs []Query, s *Scratch) {
	s.hits = s.hits[:0]
	if len(r.index) == 0 {
		return
	}
	sum := uint64(0)
	for from := 0; from < len(qs); from += touched {
		group := qs[from:min(from+touched, len(qs))]
		for i := range group {
			sum += r.filter.Block(group[i].Tag)[0]
		}
		for i := range group {
			if q := &group[i]; !q.Found && r.filter.Has(q.Tag) {
				if page := r.pageOf(q.Tag); page < len(r.index) {
					s.hits = append(s.hits, hit{int32(from + i), int32(page)})
				}
			}
		}
	}
	s.touch = sum
}

// pageOf returns the first page whose last tag is not lower than a tag, as far as the index has it; the number of pages
// without one. As tags are uniformly distributed, interpolating twice comes within a few pages of it.
func (r *Run) pageOf(tag uint64) int {
	index, high, n := r.index, uint32(tag>>32), int64(len(r.index))
	guess := int64(high) * n >> 32
	guess = min(max(guess+(int64(high)-int64(index[guess]))*n>>32, 0), n-1)
	low, up := max(guess-around, 0), min(guess+around, n)
	if index[low] >= high {
		low = 0
	}
	if index[up-1] < high {
		up = n
	}
	i, _ := slices.BinarySearch(index[low:up], high)
	return int(low) + i
}

// search looks up queries in their page.
func (r *Run) search(qs []Query, page []byte, hits []hit, s *Scratch) error {
	number := int(hits[0].page)
	for _, h := range hits {
		q := &qs[h.query]
		more := r.find(q, page, number, s)
		for next := number + 1; more && next < len(r.index); next++ {
			following := s.buffer[pageSize:]
			if err := r.read(following, next, s); err != nil {
				return err
			}
			more = r.find(q, following, next, s)
		}
	}
	return nil
}

// find searches an entry in a page. More is true if it is not found, and the next page may have it.
func (r *Run) find(q *Query, page []byte, number int, s *Scratch) (more bool) {
	l := &r.layout
	n := l.entriesOf(number)
	i := lowerBound(page, n, q.Tag)
	for ; i < n && tagOf(page, i) == q.Tag; i++ {
		rest := l.rest(page, i)
		slot := number*l.perPage + i
		if extraOf(rest) != q.Extra || pkOf(rest) >= r.limit.Load() || r.dead.Load().has(slot) {
			continue
		}
		q.Found, q.Pk, q.Slot, q.Payload = true, pkOf(rest), int32(slot), int32(len(s.payloads))
		s.payloads = append(s.payloads, rest[restSize:]...)
		return false
	}
	return i == n
}

// lowerBound returns the first of the n entries of a page whose tag is not lower than the given one, or n.
func lowerBound(page []byte, n int, tag uint64) int {
	low, high := 0, n
	for low < high {
		if middle := (low + high) / 2; tagOf(page, middle) < tag {
			low = middle + 1
		} else {
			high = middle
		}
	}
	return low
}

// read reads a page, and waits for the disk if necessary.
func (r *Run) read(page []byte, number int, s *Scratch) error {
	s.Pages++
	if _, err := r.file.ReadAt(page, r.layout.pageAt(number)); errors.Is(err, io.EOF) {
		return r.damaged("page %d is missing", number)
	} else if err != nil {
		return fmt.Errorf("read cache file: %w", err)
	}
	return r.verify(number, page)
}

// readIfCached reads a page if it is in the page cache.
func (r *Run) readIfCached(page []byte, number int, s *Scratch) (cached bool, err error) {
	if !readIfCached(r.file, page, r.layout.pageAt(number)) {
		return false, nil
	}
	s.Pages++
	return true, r.verify(number, page)
}
