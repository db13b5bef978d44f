package storetest

import (
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"birthmark/storage"
)

// guarantee is checked on an empty store with the families of the suite.
type guarantee struct {
	name  string
	check func(*testing.T, storage.Store)
}

// The suite's families: one per access, with a gap between the numbers.
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

// Run checks every guarantee of [storage.Store]. open creates an empty store, which Run closes.
func Run(t *testing.T, open func(t *testing.T) storage.Store) {
	for _, guarantees := range [][]guarantee{
		readGuarantees, suffixGuarantees, scanGuarantees, togetherGuarantees, writeGuarantees, sumsGuarantees, familyGuarantees,
		snapshotGuarantees, closeGuarantees, randomGuarantees,
	} {
		for _, l := range guarantees {
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

// view runs fn on a snapshot and fails on an error.
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

// update writes the batch that fn fills and fails on an error.
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

// scan collects the rows of a scan, at most limit of them, or all if limit is -1.
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

// content returns all rows of a store by family, without empty families.
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

// all returns all rows of the suite's families.
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

// wantContent checks all rows after an event.
func wantContent(t *testing.T, s storage.Store, event string, want content) {
	t.Helper()
	if got := all(t, s); !reflect.DeepEqual(got, want) {
		t.Errorf("after %s the store holds %s, want %s", event, got, want)
	}
}
