package api

import (
	"context"
	"sync"

	"birthmark/core"
)

// keptAnswers caches the answers of one chain as they were sent, at most a number of bytes of them. An answer is valid for the
// tip at which it was made. Which entries are evicted is random, so that a client that requests everything gains nothing.
type keptAnswers struct {
	most int

	mu    sync.Mutex
	bytes int
	all   map[string]*keptAnswer // by question
}

// keptAnswer is an answer, the channel of [served.Chain.Moved] at its tip (nil: it is valid at any tip), and the headers of
// that tip. It is immutable.
type keptAnswer struct {
	text  []byte
	at    <-chan struct{}
	names *tipNames
}

// keptOverhead is the memory of an entry in addition to its text, in bytes: map entry, path and headers.
const keptOverhead = 512

func (a *keptAnswer) size(question string) int { return len(a.text) + 2*len(question) + keptOverhead }

// find returns the answer to a question, nil if there is none for the tip that at belongs to.
func (k *keptAnswers) find(at <-chan struct{}, question string) *keptAnswer {
	k.mu.Lock()
	defer k.mu.Unlock()
	a := k.all[question]
	if a != nil && a.at != at {
		k.remove(question, a)
		return nil
	}
	return a
}

// keep adds an answer that was made while at was the chain's channel.
func (k *keptAnswers) keep(at <-chan struct{}, question string, names *tipNames, text []byte) {
	a := &keptAnswer{append([]byte(nil), text...), at, names}
	size := a.size(question)
	k.mu.Lock()
	defer k.mu.Unlock()
	if size > k.most/16 {
		return
	}
	if k.all == nil {
		k.all = map[string]*keptAnswer{}
	}
	if known := k.all[question]; known != nil {
		k.remove(question, known)
	}
	for other, old := range k.all {
		if k.bytes+size <= k.most {
			break
		}
		k.remove(other, old)
	}
	k.all[question] = a
	k.bytes += size
}

func (k *keptAnswers) remove(question string, a *keptAnswer) {
	k.bytes -= a.size(question)
	delete(k.all, question)
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
