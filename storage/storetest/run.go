package storetest

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"birthmark/storage"
)

// law is one promise of a store, checked on an empty one with the families of the suite.
type law struct {
	name  string
	check func(*testing.T, storage.Store)
}

// The suite's families: one for each access, numbers with a gap.
const (
	ordered storage.Family = 1
	lookup  storage.Family = 2
	grouped storage.Family = 300
	hashed  storage.Family = 301

	undeclared storage.Family = 77
)

var families = []storage.Family{ordered, lookup, grouped, hashed}

var declarations = []storage.Declaration{
	{Family: ordered, Name: "ordered", Access: storage.Ordered},
	{Family: lookup, Name: "lookup", Access: storage.Lookup},
	{Family: grouped, Name: "grouped", Access: storage.Grouped, DeferCompaction: true},
	{Family: hashed, Name: "hashed", Access: storage.Hashed, Incompressible: true},
}

// Run checks every promise of [storage.Store]. open makes an empty store; the suite closes it.
func Run(t *testing.T, open func(t *testing.T) storage.Store) {
	for _, laws := range [][]law{readLaws, tailLaws, scanLaws, writeLaws, familyLaws, snapshotLaws, closeLaws, randomLaws} {
		for _, l := range laws {
			t.Run(l.name, func(t *testing.T) {
				s := open(t)
				defer closeStore(t, s)
				if err := s.Declare(declarations...); err != nil {
					t.Fatalf("declare: %v", err)
				}
				l.check(t, s)
			})
		}
	}
}

func closeStore(t *testing.T, s storage.Store) {
	t.Helper()
	if err := s.Close(); err != nil {
		t.Errorf("close: %v", err)
	}
}

// view runs fn over a snapshot and wants no error.
func view(t *testing.T, s storage.Store, fn func(storage.Reader)) {
	t.Helper()
	err := s.View(context.Background(), func(r storage.Reader) error {
		fn(r)
		return nil
	})
	if err != nil {
		t.Fatalf("view: %v", err)
	}
}

// update writes what fn puts into the batch and wants no error.
func update(t *testing.T, s storage.Store, fn func(storage.Batch)) {
	t.Helper()
	err := s.Update(context.Background(), func(_ storage.Reader, b storage.Batch) error {
		fn(b)
		return nil
	})
	if err != nil {
		t.Fatalf("update: %v", err)
	}
}

// put writes rows "key", "value", "key", "value", … into a family.
func put(t *testing.T, s storage.Store, f storage.Family, rows ...string) {
	t.Helper()
	update(t, s, func(b storage.Batch) {
		for i := 0; i < len(rows); i += 2 {
			b.Put(f, []byte(rows[i]), []byte(rows[i+1]))
		}
	})
}

// row is a copy of a row that outlives its scan.
type row struct{ key, value string }

// scan collects the rows of a scan, at most limit of them; limit -1: all.
func scan(t *testing.T, r storage.Reader, f storage.Family, from, to []byte, reverse bool, limit int) (rows []row) {
	t.Helper()
	if limit == 0 {
		return nil
	}
	for kv, err := range r.Scan(f, from, to, reverse) {
		if err != nil {
			t.Fatalf("scan of family %d from %x to %x: %v", f, from, to, err)
		}
		rows = append(rows, row{string(kv.Key), string(kv.Value)})
		if len(rows) == limit {
			break
		}
	}
	return rows
}

// content is every row of a store, by family; a family without rows is not in it.
type content map[storage.Family][]row

func (c content) String() string {
	var text strings.Builder
	for _, f := range slices.Sorted(maps.Keys(c)) {
		rows, more := c[f], ""
		if len(rows) > 10 {
			rows, more = rows[:10], " …"
		}
		fmt.Fprintf(&text, "%d rows in family %d: %q%s; ", len(c[f]), f, rows, more)
	}
	return text.String()
}

// all collects every row of every family of the suite.
func all(t *testing.T, s storage.Store) content {
	t.Helper()
	found := content{}
	view(t, s, func(r storage.Reader) {
		for _, f := range families {
			if rows := scan(t, r, f, nil, nil, false, -1); rows != nil {
				found[f] = rows
			}
		}
	})
	return found
}
