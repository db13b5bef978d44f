package api

import (
	"context"
	"sync"

	"birthmark/core"
)

// keptAnswers are the answers of one chain that were asked for lately, as they were sent. They hold until the chain moves: what
// is asked again before is not read again. They take no more than so many bytes; which ones go first is left to chance, which
// a client that asks for everything cannot make use of.
type keptAnswers struct {
	most int

	mu    sync.Mutex
	at    <-chan struct{} // of [served.Chain.Moved] when they were made; nil where they hold longer
	bytes int
	all   map[string]*keptAnswer // by what was asked
}

// keptAnswer is an answer and what its headers say of its tip. It is not changed.
type keptAnswer struct {
	text  []byte
	names *tipNames
}

// keptOverhead is what an answer takes besides its bytes: its place in the map, the path, its headers.
const keptOverhead = 256

// find is the answer to a question, nil where there is none; at is the chain's channel now.
func (k *keptAnswers) find(at <-chan struct{}, question string) *keptAnswer {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.at != at {
		return nil
	}
	return k.all[question]
}

// keep takes an answer that was made while at was the chain's channel.
func (k *keptAnswers) keep(at <-chan struct{}, question string, names *tipNames, text []byte) {
	size := len(text) + 2*len(question) + keptOverhead
	if size > k.most/16 {
		return
	}
	a := &keptAnswer{append([]byte(nil), text...), names}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.at != at || k.all == nil {
		k.at, k.bytes, k.all = at, 0, map[string]*keptAnswer{}
	}
	if _, known := k.all[question]; known {
		return
	}
	for other, old := range k.all {
		if k.bytes+size <= k.most {
			break
		}
		k.bytes -= len(old.text) + 2*len(other) + keptOverhead
		delete(k.all, other)
	}
	k.all[question] = a
	k.bytes += size
}

// written is a document as it is sent.
type written []byte

// block is the document of a block, or the answer to make it of. What is in a block is the same as long as it is one of the
// chain, and reading the hashes of thousands of transactions costs as much as ten other answers: documents of blocks are kept
// beyond the tip, by the block's hash, and what is read is whether the block is there.
func (q *request) block(ctx context.Context, v *core.View) (any, error) {
	p, err := v.PointOf(ctx, q.args[0])
	if err != nil {
		return nil, err
	}
	hash := string(p.Hash[:])
	if k := q.chain.blocks.find(nil, hash); k != nil {
		return written(k.text), nil
	}
	q.keepAs = hash
	return v.Block(ctx, q.args[0])
}
