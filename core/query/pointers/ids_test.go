package pointers

import (
	"encoding/binary"
	"testing"
	"unsafe"

	"birthmark/model"
)

func hashNumber(n uint64) (h model.Hash) {
	binary.BigEndian.PutUint64(h[:], n)
	return h
}

// The cache returns the stored hash, or nothing. It stays within its limit and uses most of it.
func TestHashesOfTransactionsStayWithinTheirLimit(t *testing.T) {
	const limit = 1 << 20
	var n Labels
	n.LimitIDs(limit)
	const puts = 4 * limit / int(unsafe.Sizeof(idEntry{}))
	for i := range puts {
		id := hashNumber(uint64(i))
		n.ids.put(model.TxPk(i), 0, &id)
	}
	found, bytes := 0, 0
	for i := range puts {
		var id model.Hash
		if n.ids.find(model.TxPk(i), 0, &id) {
			found++
			if id != hashNumber(uint64(i)) {
				t.Fatalf("transaction %d has the hash %v", i, id)
			}
		}
	}
	for i := range n.ids.shards {
		bytes += cap(n.ids.shards[i].entries) * int(unsafe.Sizeof(idEntry{}))
	}
	if bytes > limit {
		t.Errorf("%d bytes of at most %d", bytes, limit)
	}
	if have := bytes / int(unsafe.Sizeof(idEntry{})); found < have*3/4 {
		t.Errorf("%d hashes in %d entries", found, have)
	}
}

// Two hashes with the same two places are both cached. A third one replaces one of them.
func TestBothPlacesOfAHashAreUsed(t *testing.T) {
	for _, second := range []uint64{0, 1} {
		s := idShard{entries: make([]idEntry, 2)}
		s.set(0, idEntry{pk: 1})
		s.set(second, idEntry{pk: 2})
		if a, b := s.entries[0].pk, s.entries[1].pk; a+b != 3 || s.filled != 2 {
			t.Errorf("places 0 and %d: the entries are %d and %d, %d are filled", second, a, b, s.filled)
		}
		s.set(0, idEntry{pk: 3})
		if s.entries[0].pk != 3 || s.entries[1].pk == 0 || s.filled != 2 {
			t.Errorf("places 0 and %d: the entries are %+v after a third one", second, s.entries)
		}
	}
}

// An entry is valid in the epoch in which it was stored. A snapshot of an earlier epoch does not store entries.
func TestHashesOfTransactionsBelongToTheirEpoch(t *testing.T) {
	var n Labels
	a, b := hashNumber(1), hashNumber(2)
	var id model.Hash
	n.ids.put(7, 2, &a)
	if n.ids.find(7, 4, &id) || n.ids.find(7, 0, &id) || !n.ids.find(7, 2, &id) || id != a {
		t.Error("the entry is not valid in its epoch only")
	}
	n.ids.put(7, 4, &b)
	n.ids.put(7, 2, &a)
	if n.ids.find(7, 2, &id) || !n.ids.find(7, 4, &id) || id != b {
		t.Error("an entry of an earlier epoch replaced a later one")
	}
}
