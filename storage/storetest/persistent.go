package storetest

import (
	"testing"

	"birthmark/internal/testseed"
	"birthmark/storage"
)

// RunPersistent checks the guarantees of a store on disk beyond [Run]: after it is closed and opened it has the same
// rows. open opens the store in dir and creates it if there is none.
func RunPersistent(t *testing.T, open func(t *testing.T, dir string) storage.Store) {
	reopen := func(t *testing.T, dir string) storage.Store {
		t.Helper()
		s := open(t, dir)
		if err := s.Declare(declarations...); err != nil {
			t.Fatalf("declare: %v", err)
		}
		return s
	}
	t.Run("an empty store opens again", func(t *testing.T) {
		dir := t.TempDir()
		for range 3 {
			s := reopen(t, dir)
			wantContent(t, s, "opening", content{})
			closeStore(t, s)
		}
	})
	t.Run("rows outlive the store that wrote them", func(t *testing.T) {
		dir, m := t.TempDir(), newModel(testseed.Rand(t))
		for range 6 {
			s := reopen(t, dir)
			m.compare(t, s)
			for range 30 {
				m.step(t, s)
			}
			closeStore(t, s)
		}
	})
	t.Run("a family's number may change, its name keeps the rows", func(t *testing.T) {
		dir := t.TempDir()
		s := reopen(t, dir)
		put(t, s, lookup, "a", "1")
		closeStore(t, s)

		s = open(t, dir)
		defer closeStore(t, s)
		if err := s.Declare(storage.Declaration{Family: undeclared, Name: "lookup", Access: storage.Lookup}); err != nil {
			t.Fatal(err)
		}
		view(t, s, func(r storage.Reader) { wantGet(t, r, undeclared, "a", "1") })
	})
	t.Run("a family's access may change, its name keeps the rows", func(t *testing.T) {
		dir := t.TempDir()
		s := reopen(t, dir)
		put(t, s, lookup, "a", "1")
		closeStore(t, s)

		for _, access := range []storage.Access{storage.Grouped, storage.Ordered, storage.Hashed, storage.Lookup} {
			s = open(t, dir)
			if err := s.Declare(storage.Declaration{Family: lookup, Name: "lookup", Access: access}); err != nil {
				t.Fatal(err)
			}
			view(t, s, func(r storage.Reader) { wantGet(t, r, lookup, "a", "1") })
			closeStore(t, s)
		}
	})
	t.Run("a family has to be declared again", func(t *testing.T) {
		dir := t.TempDir()
		s := reopen(t, dir)
		put(t, s, lookup, "a", "1")
		closeStore(t, s)

		s = open(t, dir)
		defer closeStore(t, s)
		view(t, s, func(r storage.Reader) {
			if value, err := r.Get(lookup, []byte("a")); err == nil {
				t.Errorf("Get of a family not yet declared = %q, want an error", value)
			}
		})
	})
	runCheckpoints(t, open)
}
