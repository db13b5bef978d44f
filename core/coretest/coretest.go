// Package coretest has helpers for tests of databases: chains of every variant, and comparisons.
//
// [Run] and [RunPersistent] check that databases in a store have the properties that core guarantees, also for stores of
// other modules:
//
//	func TestDatabases(t *testing.T) {
//		coretest.Run(t, func(t *testing.T) storage.Store { return mine.New() })
//	}
package coretest

import (
	"context"
	"encoding/hex"
	"testing"

	"birthmark/core"
	"birthmark/core/check"
	"birthmark/model"
	"birthmark/model/modeltest"
	"birthmark/storage"
	"birthmark/storage/memory"
)

// Open opens the database of a variant. The cache size is in bytes.
func Open(t testing.TB, s storage.Store, v modeltest.Variant, caches int64) *core.DB {
	t.Helper()
	db, err := core.Open(context.Background(), s, core.Options{Chain: v.Chain("one"), Keep: v.Keep(), Raw: v.Raw, RawFiles: v.Placed, CacheBytes: caches})
	if err != nil {
		t.Fatal(err)
	}
	return db
}

// Consistent fails if check reports a problem. Every test that writes ends with it.
func Consistent(t testing.TB, db *core.DB) {
	t.Helper()
	a, err := db.Check(context.Background(), check.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for i, f := range a.Problems {
		if i == 10 {
			t.Errorf("and %d more problems", len(a.Problems)-i)
			break
		}
		t.Errorf("problem in %s at %s: %s", f.Family, f.Key, f.Problem)
	}
	if a.OK != (len(a.Problems) == 0) {
		t.Errorf("ok is %t with %d problems", a.OK, len(a.Problems))
	}
}

// AppendAll appends blocks in batches of the given number.
func AppendAll(t testing.TB, db *core.DB, blocks []*model.Block, batch int) {
	t.Helper()
	for len(blocks) > 0 {
		n := min(batch, len(blocks))
		if err := db.Append(context.Background(), blocks[:n]); err != nil {
			t.Fatalf("append blocks %d to %d: %v", blocks[0].Height, blocks[n-1].Height, err)
		}
		blocks = blocks[n:]
	}
}

// Rollback rolls back to a point.
func Rollback(t testing.TB, db *core.DB, to model.Point) {
	t.Helper()
	if err := db.Rollback(context.Background(), to); err != nil {
		t.Fatalf("roll back to %d: %v", to.Height, err)
	}
}

// Dumped is a dump of a database, one line per row.
type Dumped []string

// Dump dumps a database.
func Dump(t testing.TB, db *core.DB) Dumped {
	t.Helper()
	d, err := tryDump(db)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func tryDump(db *core.DB) (d Dumped, err error) {
	var line []byte
	err = db.Dump(context.Background(), func(family string, key, value []byte) error {
		line = append(append(line[:0], family...), ' ')
		line = append(hex.AppendEncode(line, key), " -> "...)
		line = hex.AppendEncode(line, value)
		d = append(d, string(line))
		return nil
	})
	return d, err
}

// Same fails with the first rows that differ.
func Same(t testing.TB, what string, got, want Dumped) {
	t.Helper()
	for i := range max(len(got), len(want)) {
		g, w := "(no more rows)", "(no more rows)"
		if i < len(got) {
			g = got[i]
		}
		if i < len(want) {
			w = want[i]
		}
		if g != w {
			t.Fatalf("%s: %d rows, expected %d; the first that differs:\n got %.300s\nwant %.300s", what, len(got), len(want), g, w)
		}
	}
}

// Fresh returns the dump of a database in memory to which only these blocks were appended.
func Fresh(t testing.TB, v modeltest.Variant, blocks []*model.Block) Dumped {
	t.Helper()
	db := Open(t, memory.New(), v, 1<<20)
	AppendAll(t, db, blocks, 13)
	Consistent(t, db)
	return Dump(t, db)
}

// Prefixes returns a function with the result of [Fresh] for the first n blocks. It appends each block once.
func Prefixes(t testing.TB, v modeltest.Variant, blocks []*model.Block) func(n int) Dumped {
	t.Helper()
	s := memory.New()
	db := Open(t, s, v, 1<<20)
	stores := []*memory.Store{s.Clone()} // by number of blocks
	for i := range blocks {
		AppendAll(t, db, blocks[i:i+1], 1)
		stores = append(stores, s.Clone())
	}
	Consistent(t, db)
	return func(n int) Dumped {
		t.Helper()
		return Dump(t, Open(t, stores[n], v, 0))
	}
}

// Point returns the point of block i, or the origin if i is -1.
func Point(blocks []*model.Block, i int) model.Point {
	if i < 0 {
		return model.Point{}
	}
	return blocks[i].Point()
}
