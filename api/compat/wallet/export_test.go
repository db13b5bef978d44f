package wallet

import (
	"slices"
	"testing"

	"birthmark/model"
)

// InStatusOrder sorts unconfirmed transactions in place in the order of [compareInStatus].
func InStatusOrder(entries []Entry) []Entry {
	slices.SortFunc(entries, func(a, b Entry) int {
		return compareInStatus(&a.Tx, &b.Tx, a.UnconfirmedParent, b.UnconfirmedParent)
	})
	return entries
}

// StatusOf returns the status hash of a history.
func StatusOf(entries []Entry) (status [32]byte) {
	h := newStatusHash()
	for i := range entries {
		h.add(&entries[i])
	}
	h.sum.Sum(status[:0])
	return status
}

// SharedLists returns the number of lists of unconfirmed transactions that requests share.
func (c *Chain) SharedLists() int {
	c.pending.mu.Lock()
	defer c.pending.mu.Unlock()
	return len(c.pending.by)
}

// SameMempool reports whether two views have the same unconfirmed transactions.
func SameMempool(a, b *View) bool { return a.pool.Shared() == b.pool.Shared() }

// SharesList reports whether two scripts have one list of unconfirmed transactions.
func (s *Script) SharesList(with *Script) bool { return s.list == with.list }

// ListedBytes is the memory of an element of a list.
const ListedBytes = listedBytes

// Lists of tests are long, so that they are shared.
func init() { longList = 1 }

// SetRecent sets the limits of the blocks in which a list of colors is searched, until the test ends.
func SetRecent(t testing.TB, blocks, rows int) {
	before, and := recentBlocks, recentRows
	recentBlocks, recentRows = model.HeightPk(blocks), rows
	t.Cleanup(func() { recentBlocks, recentRows = before, and })
}

// SetKeepAfter sets the number of transactions after which an unfinished sum is kept, until the test ends.
func SetKeepAfter(t testing.TB, txs int) {
	before := keepAfter
	keepAfter = txs
	t.Cleanup(func() { keepAfter = before })
}
