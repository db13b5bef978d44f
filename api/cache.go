package api

import (
	"context"
	"slices"
	"strings"

	"birthmark/api/bounded"
	"birthmark/core/meter"
	"birthmark/core/query"
	"birthmark/model"
)

// answerCache caches answers of one chain as they were sent.
type answerCache = bounded.Cache[string, cachedAnswer]

// cachedAnswer is the answer to a question, which is a path with its parameters.
type cachedAnswer struct {
	question string
	result
	memory *meter.Shared // of requests that send it, also after it was evicted; nil: they copy it
}

// newAnswerCache returns a cache of a number of bytes. The size of an answer includes its key and its headers.
func newAnswerCache(bytes int) answerCache {
	return answerCache{Max: bytes, Largest: bytes / 16, Size: func(a cachedAnswer) int {
		return len(a.text) + 2*len(a.question) + 352
	}}
}

// cached answers from the cache, until the tip or the indexes change.
func cached(next reader) reader {
	return func(ctx context.Context, q *request) (result, error) {
		_, moved := q.chain.Moved()
		if !q.fixed() || q.op.lasting {
			return next(ctx, q)
		}
		question := q.r.URL.EscapedPath() + "?" + q.r.URL.RawQuery
		if a, ok := q.chain.answers.Get(question); ok && a.tip.at == moved {
			return a.result, meter.Of(ctx).HoldShared(a.memory, int64(len(a.text)-meter.Free))
		}
		res, err := next(ctx, q)
		if err == nil && res.fixed && res.tip.at != nil {
			kept := res
			if kept.own {
				kept.text, kept.own = slices.Clone(res.text), false
			}
			q.chain.answers.Put(question, cachedAnswer{question, kept, new(meter.Shared)})
		}
		return res, err
	}
}

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
	if a, ok := q.chain.blocks.Get(hash); ok {
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
