package storetest

import (
	"context"
	"fmt"
	"reflect"
	"strconv"
	"sync"
	"testing"

	"birthmark/storage"
)

var snapshotGuarantees = []guarantee{
	{"a View does not see an Update that ends beside it", viewIsASnapshot},
	{"the reader of an Update shows the state before", updateReadsBefore},
	{"a scan continues during concurrent writes", scanBesideUpdate},
	{"a finished Update is seen by every View that begins after it", updateIsSeen},
	{"readers beside a writer see whole Updates, in order", concurrentReaders},
	{"a reader that began before a large Update sees none of it at any moment of the writing", largeUpdateIsNotSeenEarly},
}

func viewIsASnapshot(t *testing.T, s storage.Store) {
	for _, f := range families {
		put(t, s, f, "kept", "before", "gone", "before")
	}
	before := all(t, s)
	view(t, s, func(r storage.Reader) {
		update(t, s, changeEverything)
		for _, f := range families {
			wantGet(t, r, f, "kept", "before")
			wantGet(t, r, f, "gone", "before")
			wantAbsent(t, r, f, "new")
			values, err := r.GetMany(f, [][]byte{[]byte("new"), []byte("gone")})
			if err != nil || values[0] != nil || string(values[1]) != "before" {
				t.Errorf("GetMany = %q, %v; want the values before", values, err)
			}
			if rows := scan(t, r, f, nil, nil, false, -1); !reflect.DeepEqual(rows, before[f]) {
				t.Errorf("the scan shows %q, want %q", rows, before[f])
			}
		}
	})
	want := []row{{"kept", "changed"}, {"new", "changed"}}
	for f, rows := range all(t, s) {
		if !reflect.DeepEqual(rows, want) {
			t.Errorf("family %d holds %q after it, want %q", f, rows, want)
		}
	}
}

func updateReadsBefore(t *testing.T, s storage.Store) {
	put(t, s, lookup, "kept", "before", "gone", "before")
	err := s.Update(context.Background(), func(r storage.Reader, b storage.Batch) error {
		changeEverything(b)
		wantGet(t, r, lookup, "kept", "before")
		wantGet(t, r, lookup, "gone", "before")
		wantAbsent(t, r, lookup, "new")
		if rows := scan(t, r, lookup, nil, nil, true, -1); len(rows) != 2 {
			t.Errorf("the scan shows %q, want the two rows before", rows)
		}
		// A concurrent View does not see the batch either.
		view(t, s, func(r storage.Reader) { wantAbsent(t, r, lookup, "new") })
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func scanBesideUpdate(t *testing.T, s storage.Store) {
	const rows = 3000
	update(t, s, func(b storage.Batch) {
		for i := range rows {
			b.Put(grouped, fmt.Appendf(nil, "%05d", i), []byte("before"))
		}
	})
	view(t, s, func(r storage.Reader) {
		seen := 0
		for kv, err := range r.Scan(grouped, nil, nil, false) {
			if err != nil || string(kv.Key) != fmt.Sprintf("%05d", seen) || string(kv.Value) != "before" {
				t.Fatalf("row %d is %q: %q, %v", seen, kv.Key, kv.Value, err)
			}
			if seen++; seen%1000 == 1 {
				update(t, s, func(b storage.Batch) {
					for i := range rows {
						b.Delete(grouped, fmt.Appendf(nil, "%05d", i))
						b.Put(grouped, fmt.Appendf(nil, "%05d+", i), []byte("after"))
					}
				})
			}
		}
		if seen != rows {
			t.Errorf("saw %d rows, want %d", seen, rows)
		}
	})
}

func updateIsSeen(t *testing.T, s storage.Store) {
	for i := range 50 {
		put(t, s, lookup, "n", strconv.Itoa(i))
		view(t, s, func(r storage.Reader) { wantGet(t, r, lookup, "n", strconv.Itoa(i)) })
	}
}

// concurrentReaders writes a number into every family and one more row per Update. In every snapshot the families
// agree.
func concurrentReaders(t *testing.T, s storage.Store) {
	const updates, readers = 50, 3
	done := make(chan struct{})
	var wg sync.WaitGroup
	for range readers {
		wg.Go(func() {
			last := 0
			for stop := false; !stop; {
				select {
				case <-done:
					stop = true // one more iteration, to see the last update
				default:
				}
				n, err := agreed(s)
				if err != nil {
					t.Error(err)
					return
				}
				if n < last {
					t.Errorf("update %d is seen after update %d", n, last)
				}
				last = n
			}
			if last != updates {
				t.Errorf("a reader ends at update %d, want %d", last, updates)
			}
		})
	}
	for n := 1; n <= updates; n++ {
		if err := s.Update(context.Background(), numbered(n)); err != nil {
			t.Fatal(err)
		}
	}
	close(done)
	wg.Wait()
}

// agreed returns the number of the last update and fails if the families differ.
func agreed(s storage.Store) (n int, err error) {
	err = s.View(context.Background(), func(r storage.Reader) error {
		for i, f := range families {
			rows, last := 0, ""
			for kv, err := range r.Scan(f, []byte("row "), nil, false) {
				if err != nil {
					return err
				}
				rows, last = rows+1, string(kv.Key)
			}
			text, err := r.Get(f, []byte("n"))
			if rows == 0 && err != nil {
				text, last = []byte("0"), "row 000000"
			} else if err != nil {
				return fmt.Errorf("family %d has %d rows but no number: %w", f, rows, err)
			}
			here, err := strconv.Atoi(string(text))
			if err != nil {
				return err
			}
			if i > 0 && here != n {
				return fmt.Errorf("family %d is at update %d, family %d at %d", f, here, families[0], n)
			}
			if n = here; last != fmt.Sprintf("row %06d", n) || rows != min(n, 10) {
				return fmt.Errorf("family %d at update %d has %d rows up to %q, want %d", f, n, rows, last, min(n, 10))
			}
		}
		return nil
	})
	return n, err
}

// largeUpdateIsNotSeenEarly reads with a reader that began before an Update of a hundred thousand rows until the Update
// has ended. Readers that begin meanwhile see all of it or nothing.
func largeUpdateIsNotSeenEarly(t *testing.T, s storage.Store) {
	const rows = 100_000
	key := func(i int) []byte { return fmt.Appendf(nil, "%06d", i%rows) }
	update(t, s, func(b storage.Batch) {
		for i := 0; i < rows; i += 10 {
			b.Put(families[i%4], key(i), []byte("before"))
		}
	})
	written := make(chan error, 1)
	view(t, s, func(r storage.Reader) {
		go func() {
			written <- s.Update(context.Background(), func(_ storage.Reader, b storage.Batch) error {
				for i := range rows {
					if i%20 == 0 {
						b.Delete(families[i%4], key(i))
					} else {
						b.Put(families[i%4], key(i), []byte("after"))
					}
				}
				return nil
			})
		}()
		for at, ended := 0, false; !ended; at += 7919 {
			select {
			case err := <-written:
				if ended = true; err != nil {
					t.Errorf("Update: %v", err)
				}
			default:
			}
			for _, f := range families {
				wantSame(t, r, f, at, key, "before")
			}
			view(t, s, func(later storage.Reader) {
				state := "before"
				if _, err := later.Get(families[1], key(1)); err == nil {
					state = "after"
				}
				for _, f := range families {
					wantSame(t, later, f, at, key, state)
				}
			})
		}
	})
	view(t, s, func(r storage.Reader) {
		for i := range 1000 {
			wantSame(t, r, families[i%4], i*100, key, "after")
		}
	})
}

// wantSame checks some rows of a family around a position, all of one state.
func wantSame(t *testing.T, r storage.Reader, f storage.Family, at int, key func(int) []byte, state string) {
	t.Helper()
	number := 0
	for number = range families {
		if families[number] == f {
			break
		}
	}
	var keys [][]byte
	var want []string
	for i := at; len(keys) < 40; i++ {
		if i%4 != number {
			continue
		}
		value := ""
		switch here := i % 100_000; {
		case state == "before" && here%10 == 0, state == "after" && here%20 != 0:
			value = state
		}
		keys, want = append(keys, key(i)), append(want, value)
	}
	values, err := r.GetMany(f, keys)
	if err != nil {
		t.Fatal(err)
	}
	for i := range keys {
		if string(values[i]) != want[i] {
			t.Fatalf("family %d, state %q: %q is %q, want %q", f, state, keys[i], values[i], want[i])
		}
	}
}
