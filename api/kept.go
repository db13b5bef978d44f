package api

import "sync"

// keptAnswers are the answers of one chain that were asked for lately, as they were sent. They hold until the chain moves: what
// is asked again before is not read again. They take no more than so many bytes; which ones go first is left to chance, which
// a client that asks for everything cannot make use of.
type keptAnswers struct {
	most int

	mu    sync.Mutex
	at    <-chan struct{} // of [served.Chain.Moved] when they were made
	bytes int
	all   map[string]*keptAnswer // by path and query
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
	if k.at != at {
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
