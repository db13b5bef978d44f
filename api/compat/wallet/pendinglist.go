package wallet

import (
	"slices"
	"sync"

	"birthmark/core/meter"
	"birthmark/core/pending"
)

// pendingList is the list of the unconfirmed transactions of a script in an overlay. Requests share long lists.
type pendingList struct {
	made sync.Once
	txs  []*pending.Tx // in the order of arrival

	ordered sync.Once
	sorted  []*pending.Tx // see [compareInStatus]

	memory meter.Shared

	users int // requests that have the list; guarded by pendingLists.mu
}

// pendingLists are the long lists that requests have.
type pendingLists struct {
	mu sync.Mutex
	by map[pendingKey]*pendingList
}

type pendingKey struct {
	pool *pending.Overlay
	key  Key
}

// longList is the number of transactions above which requests share a list. Tests change it.
var longList = 64

// listedBytes is the memory of an element of both lists.
const listedBytes = 16

var noPending pendingList

// unconfirmedOf returns the transactions of the mempool that pay to a script or spend from it.
func (v *View) unconfirmedOf(key Key) (*pendingList, error) {
	if v.pool == nil || v.poolIndex < 0 {
		return &noPending, nil
	}
	var few []*pending.Tx
	for t := range v.pool.Value(v.poolIndex, key[:]) {
		if few = append(few, t); len(few) > longList {
			break
		}
	}
	m := meter.Of(v.q.Ctx)
	l := &pendingList{txs: few}
	if len(few) > longList {
		pool := v.pool.Shared()
		l = v.chain.pending.share(pendingKey{pool, key}, m)
		l.made.Do(func() {
			l.txs = few
			for t := range pool.ValueAfter(v.poolIndex, key[:], few[len(few)-1].Arrival) {
				l.txs = append(l.txs, t)
			}
		})
		if err := m.HoldShared(&l.memory, int64(listedBytes*len(l.txs))); err != nil {
			return nil, err
		}
	}
	return l, m.Rows(len(l.txs) - len(few))
}

// share returns a list that concurrent requests share. A request without a meter gets its own list.
func (ls *pendingLists) share(k pendingKey, m *meter.Meter) *pendingList {
	ls.mu.Lock()
	l := ls.by[k]
	if l == nil {
		l = new(pendingList)
	}
	if m == nil {
		ls.mu.Unlock()
		return l
	}
	if l.users++; l.users == 1 {
		if ls.by == nil {
			ls.by = map[pendingKey]*pendingList{}
		}
		ls.by[k] = l
	}
	ls.mu.Unlock()
	m.AtEnd(func() {
		ls.mu.Lock()
		defer ls.mu.Unlock()
		if l.users--; l.users == 0 {
			delete(ls.by, k)
		}
	})
	return l
}

// inStatusOrder returns the transactions in the order of [compareInStatus].
func (l *pendingList) inStatusOrder(pool *pending.Overlay) []*pending.Tx {
	l.ordered.Do(func() {
		l.sorted = slices.Clone(l.txs)
		slices.SortFunc(l.sorted, func(a, b *pending.Tx) int {
			return compareInStatus(&a.ID, &b.ID, pool.UnconfirmedParent(a), pool.UnconfirmedParent(b))
		})
	})
	return l.sorted
}
