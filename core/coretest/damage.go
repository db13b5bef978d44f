package coretest

import (
	"bytes"
	"context"
	"math/rand/v2"
	"testing"

	"birthmark/storage"
)

// Damages are ways to damage one row of a database.
var Damages = map[string]func(b storage.Batch, f storage.Family, row storage.KV, rng *rand.Rand){
	"delete": func(b storage.Batch, f storage.Family, row storage.KV, _ *rand.Rand) { b.Delete(f, row.Key) },
	"change": func(b storage.Batch, f storage.Family, row storage.KV, rng *rand.Rand) {
		v := bytes.Clone(row.Value)
		if len(v) == 0 {
			v = []byte{1}
		} else {
			v[rng.IntN(len(v))] ^= 1 << rng.IntN(8)
		}
		b.Put(f, row.Key, v)
	},
	"cut": func(b storage.Batch, f storage.Family, row storage.KV, _ *rand.Rand) {
		if len(row.Value) > 0 {
			b.Put(f, row.Key, row.Value[:len(row.Value)-1])
		} else {
			b.Put(f, row.Key[:len(row.Key)-1], nil)
		}
	},
	"add": func(b storage.Batch, f storage.Family, row storage.KV, _ *rand.Rand) {
		k := bytes.Clone(row.Key)
		k[len(k)-1] ^= 0x40
		b.Put(f, k, row.Value)
	},
}

// Update changes rows of a store.
func Update(t testing.TB, s storage.Store, change func(storage.Batch)) {
	t.Helper()
	err := s.Update(context.Background(), func(_ storage.Reader, b storage.Batch) error {
		change(b)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// Declared is a store that records its declarations.
type Declared struct {
	storage.Store
	Declarations []storage.Declaration
}

// Declare implements [storage.Store].
func (s *Declared) Declare(ds ...storage.Declaration) error {
	for _, d := range ds {
		known := false
		for _, e := range s.Declarations {
			known = known || e == d
		}
		if !known {
			s.Declarations = append(s.Declarations, d)
		}
	}
	return s.Store.Declare(ds...)
}

// RowsOf returns the rows of a family.
func RowsOf(t testing.TB, s storage.Store, f storage.Family) (rows []storage.KV) {
	t.Helper()
	err := s.View(context.Background(), func(r storage.Reader) error {
		for kv, err := range r.Scan(f, nil, nil, false) {
			if err != nil {
				return err
			}
			rows = append(rows, storage.KV{Key: bytes.Clone(kv.Key), Value: append([]byte{}, kv.Value...)})
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return rows
}
