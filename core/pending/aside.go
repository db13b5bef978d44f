package pending

import (
	"slices"
	"time"

	"birthmark/model"
)

const (
	maxAside  = 1000        // transactions, in addition to children of transactions that are being fetched
	asideTime = time.Minute // how long one is kept
)

// aside are transactions that spend outputs that are not known: the parent may not have arrived yet, or the source is
// ahead of the database.
type aside struct {
	txs     map[model.Hash]*waiting
	parents map[string][]*waiting // by what they wait for: see parentOf
	extra   int                   // transactions that are being fetched
}

type waiting struct {
	tx    *model.Unconfirmed
	since time.Time
	on    string
}

func newAside() aside {
	return aside{txs: map[model.Hash]*waiting{}, parents: map[string][]*waiting{}}
}

// put keeps a transaction until its parent arrives. It does nothing if there are too many.
func (a *aside) put(p *Pool, t *model.Unconfirmed, parent string) {
	a.drop(t.Hash)
	if len(a.txs) >= maxAside+a.extra {
		return
	}
	w := &waiting{t, p.now(), parent}
	a.txs[t.Hash] = w
	a.parents[parent] = append(a.parents[parent], w)
}

func (a *aside) drop(id model.Hash) {
	w := a.txs[id]
	if w == nil {
		return
	}
	delete(a.txs, id)
	rest := slices.DeleteFunc(a.parents[w.on], func(other *waiting) bool { return other == w })
	if a.parents[w.on] = rest; len(rest) == 0 {
		delete(a.parents, w.on)
	}
}

// take removes and returns the transactions that wait for a parent.
func (a *aside) take(parent string) (txs []*model.Unconfirmed) {
	for _, w := range a.parents[parent] {
		txs = append(txs, w.tx)
		delete(a.txs, w.tx.Hash)
	}
	delete(a.parents, parent)
	return txs
}

// takeAll removes and returns all transactions.
func (a *aside) takeAll() (txs []*model.Unconfirmed) {
	for _, w := range a.txs {
		txs = append(txs, w.tx)
	}
	*a = aside{map[model.Hash]*waiting{}, map[string][]*waiting{}, a.extra}
	return txs
}

// expire removes the transactions that have waited for a minute.
func (a *aside) expire(now time.Time) {
	for id, w := range a.txs {
		if now.Sub(w.since) > asideTime {
			a.drop(id)
		}
	}
}
