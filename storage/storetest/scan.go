package storetest

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"testing"

	"birthmark/storage"
)

var scanGuarantees = []guarantee{
	{"a scan shows from <= key < to, in both directions", scanBounds},
	{"keys are ordered by their bytes", scanOrder},
	{"a scan can be broken off anywhere and begun again", scanBreak},
	{"a scan that ends in a panic lets go of the store", scanPanic},
	{"scans and reads go on inside a scan", scanInsideScan},
	{"a long scan shows every row", scanLong},
	{"a key in a scan keeps its bytes until the next step, whatever becomes of the bounds", scanKeepsBounds},
}

func scanBounds(t *testing.T, s storage.Store) {
	keys := []string{"a", "b", "b\x00", "bb", "c", "\xff", "\xff\xff"}
	for _, f := range families {
		for _, k := range keys {
			put(t, s, f, k, "value of "+k)
		}
	}
	// Bounds equal to keys, between keys and beyond them; "-" is nil.
	bounds := []string{"-", "", "\x00", "a", "aa", "b", "b\x00", "b\x00\x00", "bb", "c", "d", "\xff", "\xff\xff", "\xff\xff\xff"}
	view(t, s, func(r storage.Reader) {
		for _, f := range families {
			for _, from := range bounds {
				for _, to := range bounds {
					var want []row
					for _, k := range keys {
						if (from == "-" || k >= from) && (to == "-" || k < to) {
							want = append(want, row{k, "value of " + k})
						}
					}
					if got := scan(t, r, f, bound(from), bound(to), false, -1); !reflect.DeepEqual(got, want) {
						t.Errorf("family %d, [%q, %q): %q, want %q", f, from, to, got, want)
					}
					read := &storage.Read{Family: f, Ranges: []storage.Range{{From: bound(from), To: bound(to)}}}
					if together(t, r, read); !reflect.DeepEqual(rowsOf(read.Rows[0]), want) {
						t.Errorf("family %d, the range [%q, %q): %q, want %q", f, from, to, read.Rows[0], want)
					}
					slices.Reverse(want)
					if got := scan(t, r, f, bound(from), bound(to), true, -1); !reflect.DeepEqual(got, want) {
						t.Errorf("family %d, [%q, %q) in reverse: %q, want %q", f, from, to, got, want)
					}
				}
			}
		}
	})
}

func bound(text string) []byte {
	if text == "-" {
		return nil
	}
	return []byte(text)
}

func scanOrder(t *testing.T, s storage.Store) {
	var keys []string
	for a := range 256 {
		keys = append(keys, string([]byte{byte(a)}), string([]byte{byte(a), 0}), string([]byte{0x80, byte(a), 0xff}))
	}
	slices.Sort(keys)
	keys = slices.Compact(keys)
	for _, f := range families {
		update(t, s, func(b storage.Batch) {
			for i := range keys {
				b.Put(f, []byte(keys[i*101%len(keys)]), nil) // all, out of order
			}
		})
		view(t, s, func(r storage.Reader) {
			var got []string
			for _, found := range scan(t, r, f, nil, nil, false, -1) {
				got = append(got, found.key)
			}
			if !slices.Equal(got, keys) {
				t.Errorf("family %d: keys are not in the order of their bytes: %x", f, got)
			}
		})
	}
}

func scanBreak(t *testing.T, s storage.Store) {
	const rows = 100
	update(t, s, func(b storage.Batch) {
		for i := range rows {
			b.Put(grouped, fmt.Appendf(nil, "%03d", i), fmt.Appendf(nil, "%0*d", i*10, i))
		}
	})
	view(t, s, func(r storage.Reader) {
		for _, reverse := range []bool{false, true} {
			whole := scan(t, r, grouped, nil, nil, reverse, -1)
			if len(whole) != rows {
				t.Fatalf("%d rows, want %d", len(whole), rows)
			}
			for limit := range rows {
				if got := scan(t, r, grouped, nil, nil, reverse, limit); !slices.Equal(got, whole[:limit]) {
					t.Fatalf("the first %d rows (reverse %t) are not those of the whole scan", limit, reverse)
				}
			}
			// A scan can be iterated repeatedly.
			again := r.Scan(grouped, nil, nil, reverse)
			for range 2 {
				for kv, err := range again {
					if err != nil || string(kv.Key) != whole[0].key {
						t.Errorf("a scan that is run again begins at %q, %v; want %q", kv.Key, err, whole[0].key)
					}
					break
				}
			}
		}
	})
}

// scanPanic leaves a scan by a panic. An iterator that stays open would keep the store from closing.
func scanPanic(t *testing.T, s storage.Store) {
	put(t, s, ordered, "a", "1", "b", "2")
	for _, reverse := range []bool{false, true} {
		func() {
			defer func() {
				if got := recover(); got != "own" {
					t.Errorf("recovered %v, want the panic of the scan's body", got)
				}
			}()
			err := s.View(context.Background(), func(r storage.Reader) error {
				for range r.Scan(ordered, nil, nil, reverse) {
					panic("own")
				}
				return nil
			})
			t.Errorf("View returned %v instead of panicking", err)
		}()
	}
	put(t, s, ordered, "c", "3")
	view(t, s, func(r storage.Reader) { wantGet(t, r, ordered, "c", "3") })
	closeStore(t, s)
}

func scanInsideScan(t *testing.T, s storage.Store) {
	put(t, s, ordered, "a", "1", "b", "2", "c", "3")
	put(t, s, lookup, "1", "one", "2", "two", "3", "three")
	view(t, s, func(r storage.Reader) {
		seen := ""
		for outer, err := range r.Scan(ordered, nil, nil, false) {
			if err != nil {
				t.Fatal(err)
			}
			word, err := r.Get(lookup, outer.Value)
			if err != nil {
				t.Fatal(err)
			}
			for inner, err := range r.Scan(ordered, outer.Key, nil, true) {
				if err != nil {
					t.Fatal(err)
				}
				seen += fmt.Sprintf("%s%s ", outer.Key, inner.Key)
			}
			seen += string(word) + " "
		}
		if want := "ac ab aa one bc bb two cc three "; seen != want {
			t.Errorf("saw %q, want %q", seen, want)
		}
	})
}

func scanLong(t *testing.T, s storage.Store) {
	const rows = 20_000 // more than a store fetches at a time
	update(t, s, func(b storage.Batch) {
		for i := range rows {
			b.Put(ordered, fmt.Appendf(nil, "%08d", i), fmt.Appendf(nil, "value %d", i))
		}
	})
	view(t, s, func(r storage.Reader) {
		for _, reverse := range []bool{false, true} {
			i := 0
			for kv, err := range r.Scan(ordered, nil, nil, reverse) {
				at := i
				if reverse {
					at = rows - 1 - i
				}
				if want := fmt.Sprintf("%08d", at); err != nil || string(kv.Key) != want || string(kv.Value) != fmt.Sprintf("value %d", at) {
					t.Fatalf("row %d (reverse %t) is %q: %q, %v; want key %q", i, reverse, kv.Key, kv.Value, err, want)
				}
				i++
			}
			if i != rows {
				t.Errorf("%d rows (reverse %t), want %d", i, reverse, rows)
			}
		}
	})
}

func scanKeepsBounds(t *testing.T, s storage.Store) {
	put(t, s, ordered, "a", "1", "b", "2", "c", "3", "d", "4")
	view(t, s, func(r storage.Reader) {
		for _, reverse := range []bool{false, true} {
			from, to, seen := []byte("b"), []byte("d"), ""
			for kv, err := range r.Scan(ordered, from, to, reverse) {
				if err != nil {
					t.Fatal(err)
				}
				from[0], to[0] = 'x', 'x'
				if _, err := r.Get(ordered, []byte("a")); err != nil {
					t.Fatal(err)
				}
				seen += string(kv.Key) + string(kv.Value)
			}
			if want := map[bool]string{false: "b2c3", true: "c3b2"}[reverse]; seen != want {
				t.Errorf("reverse %t: saw %q, want %q", reverse, seen, want)
			}
		}
	})
}
