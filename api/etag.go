package api

import (
	"context"
	"encoding/hex"
	"hash/fnv"
	"net/http"
	"slices"
	"strconv"
	"sync"

	"birthmark/api/served"
	"birthmark/core/query"
	"birthmark/model"
)

// An answer is determined by the tip and by the indexes of the database. Its ETag is the hash of the tip, and after an
// index was added or dropped in the running server also a hash of the indexes: the tip alone would report "not modified"
// for an answer that the new index changes.

// tipHeaders are the headers that identify a tip. All answers at a tip share them.
type tipHeaders struct {
	tip          model.Point
	indexes      string          // suffix of the ETag
	at           <-chan struct{} // of [served.Chain.Moved] at the tip with the indexes; nil: unknown
	hash, height []string
	etag         string
}

// headers returns the headers of a tip; nil before the first block.
func (c *chain) headers(tip model.Point, indexes string, at <-chan struct{}) *tipHeaders {
	if tip.IsOrigin() {
		return nil
	}
	if h := c.newest.Load(); h != nil && h.tip == tip && h.indexes == indexes && h.at == at {
		return h
	}
	hash := c.Model.FormatHash(tip.Hash)
	h := &tipHeaders{
		tip: tip, indexes: indexes, at: at,
		hash: []string{hash}, height: []string{strconv.FormatUint(uint64(tip.Height), 10)}, etag: `"` + hash + indexes + `"`,
	}
	if at != nil {
		c.newest.Store(h)
	}
	return h
}

// unlessKnown answers a client that has the newest answer, before anything is read.
func unlessKnown(next reader) reader {
	return func(ctx context.Context, q *request) (result, error) {
		_, moved := q.chain.Moved()
		h := q.chain.newest.Load()
		if q.fixed() && h != nil && h.at == moved && served.MatchesETag(q.r.Request.Header["If-None-Match"], h.etag) {
			return result{tip: h, etag: h.etag}, nil
		}
		return next(ctx, q)
	}
}

// write sets the headers of the tip, except the ETag.
func (t *tipHeaders) write(h http.Header) {
	if t != nil {
		h["X-Tip"], h["X-Tip-Height"] = t.hash, t.height
	}
}

// indexesTag identifies the indexes of a database in ETags.
type indexesTag struct {
	mu    sync.Mutex
	first *string // indexes at the first request; their tag is empty
	last  string  // indexes that tag belongs to
	tag   string
}

func (t *indexesTag) of(ctx context.Context, v *query.View) (string, error) {
	states, err := v.IndexStatesWithRaw(ctx)
	if err != nil {
		return "", err
	}
	text := make([]byte, 0, 256)
	for i := range states {
		x := &states[i]
		if x.Dropping || slices.Contains(x.Adding, "values") {
			continue // not part of answers
		}
		text = append(append(text, x.Name...), 0)
		text = append(append(text, x.When...), 0)
		text = append(append(text, x.Value...), '\n')
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.first == nil {
		first := string(text)
		t.first = &first
	}
	if string(text) == *t.first {
		return "", nil
	}
	if string(text) != t.last {
		t.last, t.tag = string(text), "-"+shortHash(text)
	}
	return t.tag, nil
}

func shortHash(text []byte) string {
	h := fnv.New64a()
	h.Write(text)
	return hex.EncodeToString(h.Sum(nil))
}

// tagOf returns an ETag made of the text of an answer that the tip, which may be nil, does not determine.
func tagOf(tip *tipHeaders, text []byte) string {
	if tip == nil {
		return `"` + shortHash(text) + `"`
	}
	return `"` + tip.hash[0] + "-" + shortHash(text) + `"`
}
