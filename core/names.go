package core

import (
	"fmt"
	"slices"
	"sync/atomic"

	"birthmark/model"
	"birthmark/storage"
)

// A database remembers for so many pointers what they stand for, those that were asked for last, in texts of so many bytes
// at most: some 20 MiB where all are of usual size.
const (
	rememberedNames = 1 << 17
	longestName     = 256
)

// txSpace keeps hashes of transactions apart from ids of assets and values of indexes.
const txSpace = -2

// names remember what pointers stand for, as people write it: a transaction's hash, an asset's id, a value of an index. What
// stands under a pointer stays until a rollback removes it, so a name is good for all snapshots of one era.
type names struct {
	slots atomic.Pointer[[rememberedNames]atomic.Pointer[name]] // nil until something is asked
	era   atomic.Uint64                                         // how often a rollback began or ended: odd while one runs
}

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

func (n *names) slot(space int, at model.BirthPk) *atomic.Pointer[name] {
	slots := n.slots.Load()
	if slots == nil {
		n.slots.CompareAndSwap(nil, new([rememberedNames]atomic.Pointer[name]))
		slots = n.slots.Load()
	}
	h := (uint64(at.Utxo)+uint64(at.Ordinal))*spreadA ^ uint64(space)*spreadB
	h ^= h >> 32
	return &slots[h*spreadB>>32%rememberedNames]
}

// name is what a pointer stands for, where that is remembered.
func (q *query) name(space int, at model.BirthPk) (string, bool) {
	if n := q.names.slot(space, at).Load(); n != nil && n.at == at && n.space == space && n.era == q.era {
		return n.text, true
	}
	return "", false
}

// learn what a pointer stands for.
func (q *query) learn(space int, at model.BirthPk, text string) {
	if q.era != noEra && len(text) <= longestName {
		q.names.slot(space, at).Store(&name{space, at, q.era, text})
	}
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
