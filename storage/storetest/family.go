package storetest

import (
	"errors"
	"fmt"
	"testing"

	"birthmark/storage"
)

var familyGuarantees = []guarantee{
	{"declaring again keeps the rows", declaringAgain},
	{"a family can be declared beside rows and readers", declaringLate},
	{"there may be many families", manyFamilies},
	{"a dropped family is gone, and can be declared again", dropped},
}

func declaringAgain(t *testing.T, s storage.Store) {
	put(t, s, lookup, "a", "1")
	for range 2 {
		if err := s.Declare(declarations...); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Declare(); err != nil {
		t.Fatal(err)
	}
	view(t, s, func(r storage.Reader) { wantGet(t, r, lookup, "a", "1") })
}

func declaringLate(t *testing.T, s storage.Store) {
	put(t, s, lookup, "a", "1")
	view(t, s, func(r storage.Reader) {
		if err := s.Declare(storage.Declaration{Family: undeclared, Name: "late", Access: storage.Lookup}); err != nil {
			t.Fatal(err)
		}
		wantGet(t, r, lookup, "a", "1")
	})
	view(t, s, func(r storage.Reader) {
		wantAbsent(t, r, undeclared, "a")
		if rows := scan(t, r, undeclared, nil, nil, false, -1); rows != nil {
			t.Errorf("a new family contains %q", rows)
		}
	})
	put(t, s, undeclared, "a", "2")
	view(t, s, func(r storage.Reader) {
		wantGet(t, r, lookup, "a", "1")
		wantGet(t, r, undeclared, "a", "2")
	})
}

func manyFamilies(t *testing.T, s storage.Store) {
	const first, count = 1000, 20
	var ds []storage.Declaration
	for i := range count {
		ds = append(ds, storage.Declaration{Family: first + storage.Family(i*i), Name: fmt.Sprintf("family_%d", i), Access: storage.Access(i % 4), Incompressible: i%3 == 0, DeferCompaction: i%5 == 0, Present: i%7 == 0})
	}
	if err := s.Declare(ds...); err != nil {
		t.Fatal(err)
	}
	update(t, s, func(b storage.Batch) {
		for _, d := range ds {
			b.Put(d.Family, []byte("name"), []byte(d.Name))
		}
	})
	view(t, s, func(r storage.Reader) {
		for _, d := range ds {
			wantGet(t, r, d.Family, "name", d.Name)
		}
	})
}

func dropped(t *testing.T, s storage.Store) {
	ctx := t.Context()
	late := storage.Declaration{Family: undeclared, Name: "late", Access: storage.Grouped}
	if err := s.Drop(ctx, late); err != nil {
		t.Errorf("drop of a family that does not exist: %v", err)
	}
	for range 2 {
		if err := s.Declare(late); err != nil {
			t.Fatal(err)
		}
		view(t, s, func(r storage.Reader) { wantAbsent(t, r, undeclared, "a") })
		put(t, s, undeclared, "a", "1", "b", "2")
		put(t, s, lookup, "a", "1")
		if err := s.Drop(ctx, late); err != nil {
			t.Fatal(err)
		}
		view(t, s, func(r storage.Reader) {
			if _, err := r.Get(undeclared, []byte("a")); err == nil || errors.Is(err, storage.ErrNotFound) {
				t.Errorf("a dropped family is read: %v", err)
			}
			wantGet(t, r, lookup, "a", "1")
		})
	}
	// A new family of the same name is empty.
	late.Family++
	if err := s.Declare(late); err != nil {
		t.Fatal(err)
	}
	view(t, s, func(r storage.Reader) {
		if rows := scan(t, r, late.Family, nil, nil, false, -1); rows != nil {
			t.Errorf("a family created after one of its name was dropped contains %q", rows)
		}
	})
}
