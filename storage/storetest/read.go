package storetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"birthmark/storage"
)

var readGuarantees = []guarantee{
	{"Get finds what was put and nothing else", getFindsWhatWasPut},
	{"GetMany answers in the order of its keys, nil where absent", getManyKeepsOrder},
	{"a value of no bytes is not nil", emptyValueIsNotNil},
	{"keys of 1 byte to 40 KiB and values up to 1 MiB, or to the store's limits, come back", sizes},
	{"what Get returns belongs to the caller", getReturnsCopies},
	{"a reader is good for many goroutines", readerIsShared},
	{"reading an undeclared family is an error", undeclaredFamilyIsNotRead},
	{"an error of fn is what View returns", viewReturnsTheError},
	{"a View that was cancelled before it began does not run", cancelledViewDoesNotRun},
}

func wantGet(t *testing.T, r storage.Reader, f storage.Family, key, want string) {
	t.Helper()
	got, err := r.Get(f, []byte(key))
	if err != nil || string(got) != want {
		t.Errorf("Get(%d, %q) = %q, %v; want %q", f, key, got, err, want)
	}
}

func wantAbsent(t *testing.T, r storage.Reader, f storage.Family, key string) {
	t.Helper()
	if got, err := r.Get(f, []byte(key)); !errors.Is(err, storage.ErrNotFound) || got != nil {
		t.Errorf("Get(%d, %q) = %q, %v; want storage.ErrNotFound", f, key, got, err)
	}
}

func getFindsWhatWasPut(t *testing.T, s storage.Store) {
	for _, f := range families {
		put(t, s, f, "b", "value", "b\x00", "longer", "bb", "two")
	}
	view(t, s, func(r storage.Reader) {
		for _, f := range families {
			wantGet(t, r, f, "b", "value")
			wantGet(t, r, f, "b\x00", "longer")
			wantGet(t, r, f, "bb", "two")
			for _, absent := range []string{"a", "b\x00\x00", "c", "B", "\x00", "\xff"} {
				wantAbsent(t, r, f, absent)
			}
		}
	})
}

func getManyKeepsOrder(t *testing.T, s storage.Store) {
	const rows = 1000 // a store may split this many keys
	for _, f := range families {
		update(t, s, func(b storage.Batch) {
			for i := range rows {
				b.Put(f, fmt.Appendf(nil, "key %03d", i), fmt.Appendf(nil, "value %d", i))
			}
		})
	}
	view(t, s, func(r storage.Reader) {
		for _, f := range families {
			var keys [][]byte
			var want [][]byte
			for i := range rows {
				at := i * 77 % rows // all, out of order
				keys = append(keys, fmt.Appendf(nil, "key %03d", at), fmt.Appendf(nil, "absent %d", at))
				want = append(want, fmt.Appendf(nil, "value %d", at), nil)
			}
			keys, want = append(keys, keys[0], keys[1], keys[0]), append(want, want[0], want[1], want[0])
			got, err := r.GetMany(f, keys)
			if err != nil || len(got) != len(want) {
				t.Fatalf("GetMany of %d keys = %d values, %v", len(keys), len(got), err)
			}
			for i := range want {
				if !bytes.Equal(got[i], want[i]) || (got[i] == nil) != (want[i] == nil) {
					t.Errorf("GetMany: %q is %q, want %q", keys[i], got[i], want[i])
				}
			}
			if none, err := r.GetMany(f, nil); err != nil || len(none) != 0 {
				t.Errorf("GetMany of no keys = %q, %v", none, err)
			}
		}
	})
}

func emptyValueIsNotNil(t *testing.T, s storage.Store) {
	for _, f := range families {
		update(t, s, func(b storage.Batch) {
			b.Put(f, []byte("empty"), []byte{})
			b.Put(f, []byte("nil"), nil)
		})
		view(t, s, func(r storage.Reader) {
			keys := [][]byte{[]byte("empty"), []byte("nil")}
			many, err := r.GetMany(f, keys)
			if err != nil {
				t.Fatal(err)
			}
			for i, key := range keys {
				one, err := r.Get(f, key)
				if err != nil || one == nil || len(one) != 0 {
					t.Errorf("Get(%q) = %#v, %v; want []byte{}", key, one, err)
				}
				if many[i] == nil || len(many[i]) != 0 {
					t.Errorf("GetMany: %q is %#v, want []byte{}", key, many[i])
				}
			}
			if rows := scan(t, r, f, nil, nil, false, -1); len(rows) != 2 {
				t.Errorf("a scan shows %q, want both rows", rows)
			}
		})
	}
}

func sizes(t *testing.T, s storage.Store) {
	bytesOf := func(n int, fill byte) []byte { return bytes.Repeat([]byte{fill}, n) }
	keys := []int{1, 2, 7, 8, 9, 127, 128, 1 << 10, 16 << 10, 40 << 10}
	values := []int{0, 1, 127, 128, 4 << 10, 64 << 10, 1 << 20}
	limits := storage.LimitsOf(s)
	within := func(sizes []int, limit int) []int {
		if limit == 0 {
			return sizes
		}
		return append(slices.DeleteFunc(sizes, func(n int) bool { return n >= limit }), limit)
	}
	keys, values = within(keys, limits.Key), within(values, limits.Value)
	for _, f := range families {
		update(t, s, func(b storage.Batch) {
			for i, k := range keys {
				b.Put(f, bytesOf(k, 'k'), bytesOf(values[i%len(values)], byte(i)))
			}
		})
		view(t, s, func(r storage.Reader) {
			for i, k := range keys {
				got, err := r.Get(f, bytesOf(k, 'k'))
				if err != nil || !bytes.Equal(got, bytesOf(values[i%len(values)], byte(i))) {
					t.Errorf("key of %d bytes: %d bytes, %v; want %d bytes", k, len(got), err, values[i%len(values)])
				}
			}
			for _, reverse := range []bool{false, true} {
				rows := scan(t, r, f, nil, nil, reverse, -1)
				if len(rows) != len(keys) {
					t.Fatalf("a scan shows %d rows, want %d", len(rows), len(keys))
				}
				for i := range rows {
					at := i
					if reverse {
						at = len(keys) - 1 - i
					}
					if rows[i].key != string(bytesOf(keys[at], 'k')) || rows[i].value != string(bytesOf(values[at%len(values)], byte(at))) {
						t.Errorf("row %d of a scan (reverse %t) has a key of %d and a value of %d bytes", i, reverse, len(rows[i].key), len(rows[i].value))
					}
				}
			}
		})
	}
}

func getReturnsCopies(t *testing.T, s storage.Store) {
	put(t, s, lookup, "a", "first", "b", "second")
	view(t, s, func(r storage.Reader) {
		one, err := r.Get(lookup, []byte("a"))
		if err != nil {
			t.Fatal(err)
		}
		copy(one, "?????")
		many, err := r.GetMany(lookup, [][]byte{[]byte("a"), []byte("b")})
		if err != nil {
			t.Fatal(err)
		}
		many[0] = append(many[0], "XX"...)
		if string(many[1]) != "second" {
			t.Errorf("growing one value of GetMany changed its neighbour to %q", many[1])
		}
		wantGet(t, r, lookup, "a", "first")
	})
}

func readerIsShared(t *testing.T, s storage.Store) {
	put(t, s, lookup, "a", "1")
	put(t, s, ordered, "a", "1", "b", "2", "c", "3")
	view(t, s, func(r storage.Reader) {
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				for range 20 {
					wantGet(t, r, lookup, "a", "1")
					rows := 0
					for _, err := range r.Scan(ordered, nil, nil, false) {
						if err != nil {
							t.Error(err)
						}
						rows++
					}
					if rows != 3 {
						t.Errorf("a scan shows %d rows, want 3", rows)
					}
				}
			})
		}
		wg.Wait()
	})
}

func undeclaredFamilyIsNotRead(t *testing.T, s storage.Store) {
	view(t, s, func(r storage.Reader) {
		if _, err := r.Get(undeclared, []byte("a")); err == nil || errors.Is(err, storage.ErrNotFound) {
			t.Errorf("Get: %v, want an error that is not storage.ErrNotFound", err)
		}
		if _, err := r.GetMany(undeclared, [][]byte{[]byte("a")}); err == nil {
			t.Error("GetMany: no error")
		}
		var failed []error
		for _, err := range r.Scan(undeclared, nil, nil, false) {
			failed = append(failed, err)
		}
		if len(failed) != 1 || failed[0] == nil {
			t.Errorf("Scan yields %v, want one error", failed)
		}
	})
}

func viewReturnsTheError(t *testing.T, s storage.Store) {
	own := errors.New("own")
	if err := s.View(context.Background(), func(storage.Reader) error { return own }); !errors.Is(err, own) {
		t.Errorf("View: %v, want %v", err, own)
	}
}

func cancelledViewDoesNotRun(t *testing.T, s storage.Store) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	ran := false
	err := s.View(ctx, func(storage.Reader) error {
		ran = true
		return nil
	})
	if !errors.Is(err, context.Canceled) || ran {
		t.Errorf("View: %v, ran %t; want %v without running", err, ran, context.Canceled)
	}
}
