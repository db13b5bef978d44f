package core_test

import (
	"bytes"
	"context"
	"math/rand/v2"
	"strings"
	"testing"

	"birthmark/model/modeltest"
	"birthmark/storage"
	"birthmark/storage/memory"
)

// Whatever is done to a row of any family, check finds a fault, and does not break over it.
func TestCheckFindsDamage(t *testing.T) {
	variants(t, func(t *testing.T, v modeltest.Variant) {
		ctx := context.Background()
		rng := rand.New(rand.NewPCG(seed(t, 70), 0))
		s := &declared{Store: memory.New()}
		db := open(t, s, v, 1<<20)
		appendAll(t, db, v.NewGenerator(seed(t, 70)).Blocks(15), 5)
		check(t, db)
		want := dump(t, db)
		for _, d := range s.ds {
			rows := rowsOf(t, s, d.Family)
			if len(rows) == 0 {
				continue
			}
			for how, damage := range map[string]func(b storage.Batch, row storage.KV){
				"delete": func(b storage.Batch, row storage.KV) { b.Delete(d.Family, row.Key) },
				"change": func(b storage.Batch, row storage.KV) {
					v := bytes.Clone(row.Value)
					if len(v) == 0 {
						v = []byte{1}
					} else {
						v[rng.IntN(len(v))] ^= 1 << rng.IntN(8)
					}
					b.Put(d.Family, row.Key, v)
				},
				"cut": func(b storage.Batch, row storage.KV) {
					if len(row.Value) > 0 {
						b.Put(d.Family, row.Key, row.Value[:len(row.Value)-1])
					} else {
						b.Put(d.Family, row.Key[:len(row.Key)-1], nil)
					}
				},
				"add": func(b storage.Batch, row storage.KV) {
					k := bytes.Clone(row.Key)
					k[len(k)-1] ^= 0x40
					b.Put(d.Family, k, row.Value)
				},
			} {
				for range 4 {
					row := rows[rng.IntN(len(rows))]
					damaged := &declared{Store: memory.New()}
					copyStore(t, s, damaged)
					if err := damaged.Update(ctx, func(_ storage.Reader, b storage.Batch) error { damage(b, row); return nil }); err != nil {
						t.Fatal(err)
					}
					bad, err := tryOpen(damaged, v)
					if err != nil {
						if d.Name != "meta" {
							t.Errorf("%s of a row of %s: the database does not open: %v", how, d.Name, err)
						}
						continue
					}
					a, err := bad.Check(ctx, nil)
					if err != nil {
						if d.Name != "meta" {
							t.Errorf("%s of a row of %s: %v", how, d.Name, err)
						}
						continue
					}
					if a.OK && d.Name != "meta" { // its own rows open the database or do not, its counts are compared
						t.Errorf("%s of row %x -> %x of %s goes unseen", how, row.Key, row.Value, d.Name)
					}
					for _, f := range a.Faults {
						if f.Fault == "" || strings.Contains(f.Fault, "\n") {
							t.Errorf("fault %+v", f)
						}
					}
				}
			}
		}
		same(t, "after damage to copies", dump(t, db), want)
	})
}

// declared remembers what was declared.
type declared struct {
	storage.Store
	ds []storage.Declaration
}

func (s *declared) Declare(ds ...storage.Declaration) error {
	for _, d := range ds {
		known := false
		for _, e := range s.ds {
			known = known || e == d
		}
		if !known {
			s.ds = append(s.ds, d)
		}
	}
	return s.Store.Declare(ds...)
}

func rowsOf(t testing.TB, s storage.Store, f storage.Family) (rows []storage.KV) {
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

func copyStore(t testing.TB, from, to *declared) {
	t.Helper()
	if err := to.Declare(from.ds...); err != nil {
		t.Fatal(err)
	}
	err := to.Update(context.Background(), func(_ storage.Reader, b storage.Batch) error {
		for _, d := range from.ds {
			for _, row := range rowsOf(t, from, d.Family) {
				b.Put(d.Family, row.Key, row.Value)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
