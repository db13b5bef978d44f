package core

import (
	"context"

	"birthmark/model"
	"birthmark/storage"
)

// valueTable holds the distinct values of a window that no cache knows: where each first occurs in the window and,
// once resolved, where it was born.
type valueTable struct {
	byKey   map[fingerprint]int32
	entries []valueEntry
	pending []reference // births to fill in once the entries are resolved
}

type valueEntry struct {
	space int
	key   fingerprint
	value []byte
	first model.BirthPk // its first occurrence in the window
	birth model.BirthPk
	born  bool // no block before the window has it
}

// reference is a place in window.births (or assetBirths) that waits for an entry.
type reference struct {
	at    int32
	entry int32
	asset bool
}

// occur notes that a value which no cache knows occurs at pk, and returns its entry.
func (t *valueTable) occur(space int, key fingerprint, value []byte, pk model.BirthPk) int32 {
	if t.byKey == nil {
		t.byKey = map[fingerprint]int32{}
	}
	i, known := t.byKey[key]
	if !known {
		i = int32(len(t.entries))
		t.byKey[key] = i
		t.entries = append(t.entries, valueEntry{space: space, key: key, value: value, first: pk})
	}
	return i
}

// birthFamily is the family that knows where values of a space were born, and the width of its pointers.
func (db *DB) birthFamily(space int) (f storage.Family, wide bool) {
	if space == assetSpace {
		return familyAssetBirth, true
	}
	x := db.indexByNumber(uint64(space))
	return x.family(indexBirth), x.Kind.Wide()
}

// resolve finds the birth of every entry: in the windows before this one that are still being written, else in the
// database, unless it cannot have it, else the value is born here.
func (t *valueTable) resolve(db *DB, r storage.Reader, before []*window) error {
	unknown := map[int][]int32{}
entries:
	for i := range t.entries {
		e := &t.entries[i]
		for _, w := range before {
			if j, ok := w.values.byKey[e.key]; ok {
				e.birth = w.values.entries[j].birth
				continue entries
			}
		}
		if !db.cache.known.has(e.key) {
			e.birth, e.born = e.first, true
			continue
		}
		unknown[e.space] = append(unknown[e.space], int32(i))
	}
	for space, is := range unknown {
		f, wide := db.birthFamily(space)
		keys := make([][]byte, len(is))
		for k, i := range is {
			keys[k] = t.entries[i].value
		}
		vs, err := r.GetMany(f, keys)
		if err != nil {
			return err
		}
		for k, i := range is {
			e := &t.entries[i]
			if vs[k] == nil {
				e.birth, e.born = e.first, true
			} else if e.birth, err = model.ParseBirthPk(vs[k], wide); err != nil {
				return err
			}
		}
	}
	for i := range t.entries {
		if t.entries[i].born {
			db.cache.known.add(t.entries[i].key)
		}
	}
	return nil
}

// mostLearned is how many values are read, within a second or two, so that what is new need not be looked for.
const mostLearned = 3_000_000

// learn fills the filter of known values, where that is soon done.
func (db *DB) learn(ctx context.Context) error {
	known := db.cache.known
	if known.complete || known.most == 0 {
		return nil
	}
	spaces := []int{assetSpace}
	for _, x := range db.indexes {
		spaces = append(spaces, x.number)
	}
	values := uint64(0)
	for _, space := range spaces {
		f, _ := db.birthFamily(space)
		values += db.totals.rows[f]
	}
	if values > mostLearned {
		return nil
	}
	known.complete = true
	err := db.store.View(ctx, func(r storage.Reader) error {
		for _, space := range spaces {
			f, _ := db.birthFamily(space)
			n := 0
			for kv, err := range r.Scan(f, nil, nil, false) {
				if n++; err == nil && n%checkBatch == 0 {
					err = ctx.Err()
				}
				if err != nil {
					return err
				}
				known.add(db.cache.fp.value(space, kv.Key))
			}
		}
		return nil
	})
	if err != nil {
		known.giveUp()
	}
	return err
}
