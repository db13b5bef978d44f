package query

import (
	"fmt"
	"hash/maphash"
	"slices"
	"sync/atomic"

	"birthmark/core/schema"
	"birthmark/model"
	"birthmark/storage"
)

// A database remembers so many names and so many births, those that were asked for last, of so many bytes at most: some
// 35 MiB where all are of usual size. It begins with room for few, so that a small database costs little.
const (
	maxLabels    = 1 << 17
	minLabels    = 1 << 8
	maxLabelSize = 256
)

// Labels remember what pointers stand for, as people write it: a transaction's hash, an asset's id, a value of an index; and
// where values and assets were born that were asked for. Both stay until a rollback removes them, so what is remembered is good
// for all snapshots of one epoch that have the pointer.
type Labels struct {
	texts  labelTable    // by pointer
	births labelTable    // by value, which is the text then, as it is stored
	epoch  atomic.Uint64 // how often a rollback began or ended: odd while one runs
}

type label struct {
	space int
	at    model.BirthPk
	epoch uint64
	text  string
}

// noEpoch is that of a snapshot which nothing is remembered for.
const noEpoch = 1

// epochOf is the epoch of a snapshot that was taken since epoch was that of now.
func (n *Labels) epochOf(epoch uint64) uint64 {
	if epoch%2 != 0 || n.epoch.Load() != epoch {
		return noEpoch
	}
	return epoch
}

// name is what a pointer stands for, where that is remembered.
func (q *Query) name(space int, at model.BirthPk) (string, bool) {
	if n := q.labels.texts.find(hashOfPointer(space, at)); n != nil && n.at == at && n.space == space && n.epoch == q.epoch {
		return n.text, true
	}
	return "", false
}

// learn what a pointer stands for.
func (q *Query) learn(space int, at model.BirthPk, text string) {
	if q.epoch != noEpoch && len(text) <= maxLabelSize {
		q.labels.texts.put(&label{space, at, q.epoch, text}, func(n *label) uint64 { return hashOfPointer(n.space, n.at) })
	}
}

// birth is where a value of a space was born, nil where it was not. What is remembered may lie behind the snapshot's tip.
func (q *Query) birth(space int, value []byte) (*model.BirthPk, error) {
	n := q.labels.births.find(hashOfValue(space, value))
	if n != nil && n.space == space && n.text == string(value) && n.epoch == q.epoch && !q.Tip.IsOrigin() && n.at.Utxo.Height() <= q.Tip.Height {
		at := n.at
		return &at, nil
	}
	birth, err := q.Birth(q.R, space, value)
	if err == nil && birth != nil && q.epoch != noEpoch && len(value) <= maxLabelSize {
		q.labels.births.put(&label{space, *birth, q.epoch, string(value)}, func(n *label) uint64 { return hashOfValue(n.space, []byte(n.text)) })
	}
	return birth, err
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

// labelTable has names in places that a hash leads to: a name takes its place from whichever is there. It grows while an
// eighth is taken, so that few want the same.
type labelTable struct {
	slots  atomic.Pointer[labelSlots] // nil until something is asked
	filled atomic.Int64               // how many of them have a name, about
}

type labelSlots []atomic.Pointer[label]

func (s labelSlots) of(hash uint64) *atomic.Pointer[label] { return &s[hash%uint64(len(s))] }

// find is the name at a hash's place, nil where there is none: it may be another one.
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

// grow makes more room, and takes along what there is. What is put meanwhile may be lost.
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

// namesOf are the names of pointers that have one, in their order. Those that nobody remembers are read together, from the
// family that has them, and made by format from a row.
func (q *Query) namesOf(space int, f storage.Family, wide bool, ats []model.BirthPk, format func(row []byte) (string, error)) ([]string, error) {
	texts := make([]string, len(ats))
	var unknown []int
	for i, at := range ats {
		known := false
		if texts[i], known = q.name(space, at); !known {
			unknown = append(unknown, i)
		}
	}
	if len(unknown) == 0 {
		return texts, nil
	}
	slices.SortFunc(unknown, func(i, j int) int { return schema.CompareBirths(ats[i], ats[j]) })
	var keys [][]byte
	for k, i := range unknown {
		if k == 0 || ats[i] != ats[unknown[k-1]] {
			keys = append(keys, ats[i].AppendTo(nil, wide))
		}
	}
	rows, err := q.many(f, keys)
	if err != nil {
		return nil, err
	}
	for k, i := range unknown {
		if k > 0 && ats[i] == ats[unknown[k-1]] {
			texts[i] = texts[unknown[k-1]]
			continue
		}
		if texts[i], err = format(rows[0]); err != nil {
			return nil, fmt.Errorf("what %v stands for: %w", ats[i], err)
		}
		rows = rows[1:]
		q.learn(space, ats[i], texts[i])
	}
	return texts, nil
}

// BeginRollback is called before a rollback: labels that are learned until [Labels.EndRollback] are not kept.
func (n *Labels) BeginRollback() { n.epoch.Add(1) }

// EndRollback is called after a rollback. Labels from before are not used any more.
func (n *Labels) EndRollback() { n.epoch.Add(1) }
