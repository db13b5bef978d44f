package pointers

import (
	"hash/maphash"
	"sync/atomic"

	"birthmark/model"
)

// Bounds of the label cache: each table has at most maxLabels entries of at most maxLabelSize bytes, about 35 MiB
// with typical sizes. Tables start with minLabels slots, so that a small database uses little memory.
const (
	maxLabels    = 1 << 17
	minLabels    = 1 << 8
	maxLabelSize = 256
)

// Labels caches the hashes of transactions, the texts of other pointers (the id of an asset, a value of an index) and
// the births of values and assets. They change only by rollbacks, so an entry is valid for every snapshot of the same
// rollback epoch that contains the pointer. They are half of the rows that the answer for a transaction needs. A
// label has one slot, by its hash, so that reading takes no lock.
type Labels struct {
	texts  labelTable    // by pointer
	births labelTable    // by stored value, which is in label.text
	ids    ids           // hashes of transactions
	epoch  atomic.Uint64 // number of rollbacks begun plus ended: odd during a rollback
	off    bool          // see Disable
}

type label struct {
	space int
	at    model.BirthPk
	epoch uint64
	text  string
}

// noEpoch is the epoch of a snapshot that does not use the cache.
const noEpoch = 1

// Disable makes all snapshots read the store. It must be called before the first query.
func (n *Labels) Disable() { n.off = true }

// Epoch returns the current rollback epoch.
func (n *Labels) Epoch() uint64 { return n.epoch.Load() }

// epochOf returns the epoch of a snapshot that was taken after epoch was loaded, or noEpoch if a rollback began or
// ended since.
func (n *Labels) epochOf(epoch uint64) uint64 {
	if n.off || epoch%2 != 0 || n.epoch.Load() != epoch {
		return noEpoch
	}
	return epoch
}

// text returns the cached text of a pointer.
func (q *Reader) text(space int, at model.BirthPk) (string, bool) {
	if n := q.labels.texts.find(hashOfPointer(space, at)); n != nil && n.at == at && n.space == space && n.epoch == q.epoch {
		return n.text, true
	}
	return "", false
}

// CacheText caches the text of a pointer, unless it is too long.
func (q *Reader) CacheText(space int, at model.BirthPk, text string) {
	if q.epoch != noEpoch && len(text) <= maxLabelSize {
		q.labels.texts.put(&label{space, at, q.epoch, text}, func(n *label) uint64 { return hashOfPointer(n.space, n.at) })
	}
}

// birth returns the birth of a value of a space, or nil if no output has the value. A cached birth may be above the
// snapshot's tip and is then ignored.
func (q *Reader) birth(space int, value []byte) (*model.BirthPk, error) {
	if birth := q.knownBirth(space, value); birth != nil {
		return birth, nil
	}
	birth, err := q.Layout.Birth(q.R, space, value)
	if err == nil {
		q.keepBirth(space, value, birth)
	}
	return birth, err
}

// knownBirth returns a cached birth, or nil.
func (q *Reader) knownBirth(space int, value []byte) *model.BirthPk {
	n := q.labels.births.find(hashOfValue(space, value))
	if n != nil && n.space == space && n.text == string(value) && n.epoch == q.epoch && !q.Tip.IsOrigin() && n.at.Utxo.Height() <= q.Tip.Height {
		at := n.at
		return &at
	}
	return nil
}

// keepBirth caches a birth, unless it is nil.
func (q *Reader) keepBirth(space int, value []byte, birth *model.BirthPk) {
	if birth != nil && q.epoch != noEpoch && len(value) <= maxLabelSize {
		q.labels.births.put(&label{space, *birth, q.epoch, string(value)}, func(n *label) uint64 { return hashOfValue(n.space, []byte(n.text)) })
	}
}

func hashOfPointer(space int, at model.BirthPk) uint64 {
	const spreadA, spreadB = 0x9e3779b97f4a7c15, 0xbf58476d1ce4e5b9 // splitmix64
	h := (uint64(at.Utxo)+uint64(at.Ordinal))*spreadA ^ uint64(space)*spreadB
	h ^= h >> 32
	return h * spreadB >> 32
}

var labelSeed = maphash.MakeSeed()

func hashOfValue(space int, value []byte) uint64 {
	return maphash.Bytes(labelSeed, value) + uint64(space)
}

// labelTable is a hash table without probing: a new label replaces the label in its slot. It doubles when an eighth
// of its slots is used, to keep collisions rare.
type labelTable struct {
	slots  atomic.Pointer[labelSlots] // nil before the first put
	filled atomic.Int64               // approximate number of used slots
}

type labelSlots []atomic.Pointer[label]

func (s labelSlots) of(hash uint64) *atomic.Pointer[label] { return &s[hash%uint64(len(s))] }

// find returns the label in the slot of hash, or nil if the slot is empty. The label may have another key.
func (t *labelTable) find(hash uint64) *label {
	if slots := t.slots.Load(); slots != nil {
		return slots.of(hash).Load()
	}
	return nil
}

func (t *labelTable) put(n *label, hash func(*label) uint64) {
	slots := t.slots.Load()
	if slots == nil || int(t.filled.Load()) > len(*slots)/8 && len(*slots) < maxLabels {
		slots = t.grow(slots, hash)
	}
	if slots.of(hash(n)).Swap(n) == nil {
		t.filled.Add(1)
	}
}

// grow doubles the table and copies its labels. Labels that are put concurrently may be lost.
func (t *labelTable) grow(old *labelSlots, hash func(*label) uint64) *labelSlots {
	size := minLabels
	if old != nil {
		size = 2 * len(*old)
	}
	slots, filled := make(labelSlots, size), int64(0)
	if old != nil {
		for i := range *old {
			if n := (*old)[i].Load(); n != nil && slots.of(hash(n)).Swap(n) == nil {
				filled++
			}
		}
	}
	if t.slots.CompareAndSwap(old, &slots) {
		t.filled.Store(filled)
	}
	return t.slots.Load()
}

// BeginRollback must be called before a rollback. Labels are not cached until [Labels.EndRollback].
func (n *Labels) BeginRollback() { n.epoch.Add(1) }

// EndRollback must be called after a rollback. It invalidates all earlier labels.
func (n *Labels) EndRollback() { n.epoch.Add(1) }
