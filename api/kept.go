package api

import (
	"context"
	"sync"

	"birthmark/core"
)

// keptAnswers are the answers of one chain that were asked for lately, as they were sent. They hold until the chain moves, and
// longer where nothing moved that they rest on: what is asked again before is not read again. They take no more than so many
// bytes; which ones go first is left to chance, which a client that asks for everything cannot make use of.
type keptAnswers struct {
	most int

	mu    sync.Mutex
	at    <-chan struct{} // of [served.Chain.Moved] when an answer was kept last; nil where they hold for good
	names *tipNames       // of that answer
	bytes int
	all   map[string]*keptAnswer // by what was asked
}

// keptAnswer is an answer and what its headers say of its tip. It is not changed.
type keptAnswer struct {
	text  []byte
	at    <-chan struct{} // when it was the answer
	names *tipNames       // of the tip then
	rests *core.Kept      // nil: on the tip
}

// keptOverhead is what an answer takes besides its bytes: its place in the map, the path, its headers, what it rests on.
const keptOverhead = 512

func (a *keptAnswer) size(question string) int { return len(a.text) + 2*len(question) + keptOverhead }

// find is the answer to a question, nil where there is none; at is the chain's channel now. What an answer of before rests on
// is looked at after that was asked for: it is the answer at that tip.
func (k *keptAnswers) find(at <-chan struct{}, question string) *keptAnswer {
	k.mu.Lock()
	defer k.mu.Unlock()
	a := k.all[question]
	switch {
	case a == nil || a.at == at:
		return a
	case a.rests == nil || !a.rests.Good():
		k.remove(question, a)
		return nil
	case k.at != at: // how the tip is called is not known yet
		return nil
	}
	a = &keptAnswer{a.text, at, k.names, a.rests}
	k.all[question] = a
	return a
}

// keep takes an answer that was made while at was the chain's channel, and what it rests on beside the tip.
func (k *keptAnswers) keep(at <-chan struct{}, question string, names *tipNames, text []byte, rests *core.Kept) {
	a := &keptAnswer{append([]byte(nil), text...), at, names, rests}
	size := a.size(question)
	k.mu.Lock()
	defer k.mu.Unlock()
	k.at, k.names = at, names
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
