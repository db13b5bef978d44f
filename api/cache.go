package api

import (
	"context"
	"slices"
	"strings"
	"sync"

	"birthmark/core/query"
	"birthmark/model"
)

// answerCache caches answers of one chain as they were sent, up to a number of bytes. Evicted entries are random, so
// that a client cannot choose which ones.
type answerCache struct {
	maxBytes int

	mu    sync.Mutex
	bytes int
	all   map[string]*cachedAnswer // by question
}

// cachedAnswer is an answer and the tip it is valid for. It is immutable.
type cachedAnswer struct {
	text []byte
	at   <-chan struct{} // of [served.Chain.Moved] at that tip; nil: valid at any tip
	tip  *tipHeaders

	final bool // the answer can no longer change
}

// cacheOverhead is the memory of an entry in addition to its text, in bytes: map entry, path and headers.
const cacheOverhead = 512

func (a *cachedAnswer) size(question string) int {
	return len(a.text) + 2*len(question) + cacheOverhead
}

// find returns the answer to a question at the tip that at belongs to; nil if there is none.
func (c *answerCache) find(at <-chan struct{}, question string) *cachedAnswer {
	c.mu.Lock()
	defer c.mu.Unlock()
	a := c.all[question]
	if a != nil && a.at != at {
		c.remove(question, a)
		return nil
	}
	return a
}

// add caches an answer, unless it is larger than a sixteenth of the cache.
func (c *answerCache) add(at <-chan struct{}, question string, tip *tipHeaders, text []byte, final bool) {
	a := &cachedAnswer{slices.Clone(text), at, tip, final}
	size := a.size(question)
	c.mu.Lock()
	defer c.mu.Unlock()
	if size > c.maxBytes/16 {
		return
	}
	if c.all == nil {
		c.all = map[string]*cachedAnswer{}
	}
	if old := c.all[question]; old != nil {
		c.remove(question, old)
	}
	for other, old := range c.all {
		if c.bytes+size <= c.maxBytes {
			break
		}
		c.remove(other, old)
	}
	c.all[question] = a
	c.bytes += size
}

func (c *answerCache) remove(question string, a *cachedAnswer) {
	c.bytes -= a.size(question)
	delete(c.all, question)
}

// encoded is a JSON document as it is sent.
type encoded []byte

// block returns the document of a block from the cache, or the answer to make it of. The content of a block does not
// change, and the hashes of thousands of transactions are as expensive to read as ten other answers: the cache is keyed
// by block hash and survives new tips. Only whether the block is on the chain is read each time.
func (q *request) block(ctx context.Context, v *query.View) (any, error) {
	p, err := v.PointOf(ctx, q.args[0])
	if err != nil {
		return nil, err
	}
	q.final = q.chain.final(v, p, q.args[0])
	hash := string(p.Hash[:])
	if a := q.chain.blocks.find(nil, hash); a != nil {
		return encoded(a.text), nil
	}
	q.cacheAs = hash
	return v.Block(ctx, q.args[0])
}

// final reports whether an answer about a single block can no longer change: enough blocks are above the block,
// and ref, the block in the request, is not relative to the tip.
func (c *chain) final(v *query.View, p model.Point, ref string) bool {
	fixed := strings.Trim(ref, "0123456789") == "" || ref == c.Model.FormatHash(p.Hash)
	return fixed && p.Height+c.deep <= v.Tip.Height
}
