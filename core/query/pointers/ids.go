package pointers

import (
	"cmp"
	"sync"
	"unsafe"

	"birthmark/core/schema"
	"birthmark/model"
)

// ids caches the hashes of transactions by pointer. Its memory has no pointers, so the garbage collector does not
// read it. The epoch is as in [Labels].
type ids struct {
	shards [256]idShard
	most   int // entries per shard; 0: defaultIDs
}

type idShard struct {
	mu      sync.Mutex
	epoch   uint64 // of all entries
	entries []idEntry
	filled  int
}

// idEntry is empty if pk is 0.
type idEntry struct {
	pk uint64 // the pointer plus 1
	id model.Hash
}

// Entries of a shard.
const (
	leastIDs   = 16  // after the first put
	defaultIDs = 256 // at most: 2.5 MiB in all
)

// LimitIDs limits the memory for the hashes of transactions, in bytes. It must be called before the first query.
func (n *Labels) LimitIDs(bytes int64) {
	n.ids.most = leastIDs
	for int64(2*n.ids.most*len(n.ids.shards))*int64(unsafe.Sizeof(idEntry{})) <= bytes {
		n.ids.most *= 2
	}
}

// of returns the shard of a pointer, and the hash that selects its entry.
func (c *ids) of(pk model.TxPk) (*idShard, uint64) {
	hash := hashOfPointer(schema.TxSpace, model.BirthPk{Utxo: model.UtxoPk(pk)})
	return &c.shards[hash%uint64(len(c.shards))], hash / uint64(len(c.shards))
}

// find copies the hash of a transaction to id, if it is cached.
func (c *ids) find(pk model.TxPk, epoch uint64, id *model.Hash) bool {
	s, hash := c.of(pk)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.epoch != epoch || len(s.entries) == 0 {
		return false
	}
	e := s.entry(hash)
	if e.pk != uint64(pk)+1 {
		if e = s.entry(hash ^ 1); e.pk != uint64(pk)+1 {
			return false
		}
	}
	*id = e.id
	return true
}

func (s *idShard) entry(hash uint64) *idEntry { return &s.entries[hash%uint64(len(s.entries))] }

// put caches the hash of a transaction in one of two entries. If none is free, it evicts the one that was put there
// first.
func (c *ids) put(pk model.TxPk, epoch uint64, id *model.Hash) {
	s, hash := c.of(pk)
	s.mu.Lock()
	defer s.mu.Unlock()
	if epoch < s.epoch {
		return
	}
	if epoch > s.epoch {
		clear(s.entries)
		s.epoch, s.filled = epoch, 0
	}
	if 2*s.filled >= len(s.entries) {
		s.grow(c)
	}
	s.set(hash, idEntry{uint64(pk) + 1, *id})
}

func (s *idShard) set(hash uint64, e idEntry) {
	first, second := s.entry(hash), s.entry(hash^1)
	if first.pk == e.pk || second.pk == e.pk {
		return
	}
	if first.pk != 0 {
		if second.pk != 0 {
			s.filled--
		}
		*second = *first
	}
	*first = e
	s.filled++
}

// grow doubles the entries of a shard within the limit.
func (s *idShard) grow(c *ids) {
	n := max(leastIDs, 2*len(s.entries))
	if n > cmp.Or(c.most, defaultIDs) {
		return
	}
	old := s.entries
	s.entries, s.filled = make([]idEntry, n), 0
	for _, e := range old {
		if e.pk != 0 {
			_, hash := c.of(model.TxPk(e.pk - 1))
			s.set(hash, e)
		}
	}
}

// TxIDs returns the hashes of transactions that exist.
func (q *Reader) TxIDs(pks []model.TxPk) ([]model.Hash, error) {
	l := q.NewLoad()
	hashes := l.TxIDs(pks)
	return hashes, l.Read()
}

// CacheID caches the hash of a transaction.
func (q *Reader) CacheID(pk model.TxPk, id model.Hash) {
	if q.epoch != noEpoch {
		q.labels.ids.put(pk, q.epoch, &id)
	}
}
