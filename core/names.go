package core

import (
	"fmt"
	"slices"
	"sync/atomic"

	"birthmark/model"
	"birthmark/storage"
)

// A database remembers for so many pointers what they stand for, those that were asked for last, in texts of so many bytes
// at most: some 20 MiB where all are of usual size. It begins with room for few, so that a small database costs little.
const (
	mostNames   = 1 << 17
	fewNames    = 1 << 8
	longestName = 256
)

// txSpace keeps hashes of transactions apart from ids of assets and values of indexes.
const txSpace = -2

// names remember what pointers stand for, as people write it: a transaction's hash, an asset's id, a value of an index. What
// stands under a pointer stays until a rollback removes it, so a name is good for all snapshots of one era.
type names struct {
	slots  atomic.Pointer[nameSlots] // nil until something is asked
	filled atomic.Int64              // how many of them have a name, about
	era    atomic.Uint64             // how often a rollback began or ended: odd while one runs
}

// nameSlots are places for names: a name has one, and takes it from whichever is there. They grow while an eighth is taken, so
// that few want the same.
type nameSlots []atomic.Pointer[name]

type name struct {
	space int
	at    model.BirthPk
	era   uint64
	text  string
}

// noEra is that of a snapshot which nothing is remembered for.
const noEra = 1

// eraOf is the era of a snapshot that was taken since era was that of now.
func (n *names) eraOf(era uint64) uint64 {
	if era%2 != 0 || n.era.Load() != era {
		return noEra
	}
	return era
}

func (s nameSlots) of(space int, at model.BirthPk) *atomic.Pointer[name] {
	h := (uint64(at.Utxo)+uint64(at.Ordinal))*spreadA ^ uint64(space)*spreadB
	h ^= h >> 32
	return &s[h*spreadB>>32%uint64(len(s))]
}

// name is what a pointer stands for, where that is remembered.
func (q *query) name(space int, at model.BirthPk) (string, bool) {
	slots := q.names.slots.Load()
	if slots == nil {
		return "", false
	}
	if n := slots.of(space, at).Load(); n != nil && n.at == at && n.space == space && n.era == q.era {
		return n.text, true
	}
	return "", false
}

// learn what a pointer stands for.
func (q *query) learn(space int, at model.BirthPk, text string) {
	if q.era == noEra || len(text) > longestName {
		return
	}
	slots := q.names.slots.Load()
	if slots == nil || int(q.names.filled.Load()) > len(*slots)/8 && len(*slots) < mostNames {
		slots = q.names.grow(slots)
	}
	if slots.of(space, at).Swap(&name{space, at, q.era, text}) == nil {
		q.names.filled.Add(1)
	}
}

// grow makes more room, and takes along what there is. What is learned meanwhile may be lost.
func (n *names) grow(old *nameSlots) *nameSlots {
	size := fewNames
	if old != nil {
		size = 2 * len(*old)
	}
	slots, filled := make(nameSlots, size), int64(0)
	if old != nil {
		for i := range *old {
			if e := (*old)[i].Load(); e != nil && slots.of(e.space, e.at).Swap(e) == nil {
				filled++
			}
		}
	}
	if n.slots.CompareAndSwap(old, &slots) {
		n.filled.Store(filled)
	}
	return n.slots.Load()
}

// namesOf are the names of pointers that have one, in their order. Those that nobody remembers are read together, from the
// family that has them, and made by format from a row.
func (q *query) namesOf(space int, f storage.Family, wide bool, ats []model.BirthPk, format func(row []byte) (string, error)) ([]string, error) {
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
	slices.SortFunc(unknown, func(i, j int) int { return compareBirths(ats[i], ats[j]) })
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
