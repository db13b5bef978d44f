package storetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"birthmark/storage"
)

var togetherGuarantees = []guarantee{
	{"ReadTogether returns what single calls return, in the order of its parts", togetherIsLikeSingleCalls},
	{"ReadTogether of nothing makes no call", togetherOfNothing},
	{"ReadTogether of an undeclared family is an error", togetherOfUndeclaredFamily},
	{"what ReadTogether returns belongs to the caller", togetherIsCopied},
	{"ReadTogether of a View shows the state before a concurrent update", togetherIsOfASnapshot},
	{"snapshots of one version have the same rows", versionsNameRows},
	{"an update above the limits of a store writes nothing", limitsAreKept},
}

// together reads with [storage.ReadTogether] and fails on an error.
func together(t *testing.T, r storage.Reader, reads ...*storage.Read) {
	t.Helper()
	if err := storage.ReadTogether(r, reads...); err != nil {
		t.Fatalf("ReadTogether: %v", err)
	}
}

// rowsOf copies the rows of a range.
func rowsOf(kvs []storage.KV) (rows []row) {
	for _, kv := range kvs {
		rows = append(rows, row{string(kv.Key), string(kv.Value)})
	}
	return rows
}

func togetherIsLikeSingleCalls(t *testing.T, s storage.Store) {
	const rows = 300
	update(t, s, func(b storage.Batch) {
		for i := range rows {
			for _, f := range families {
				b.Put(f, fmt.Appendf(nil, "prefix %d and %03d", i%10, i), fmt.Appendf(nil, "%d of %d", i, f))
			}
		}
	})
	view(t, s, func(r storage.Reader) {
		var reads []*storage.Read
		for _, f := range families {
			reads = append(reads,
				&storage.Read{Family: f, Keys: [][]byte{[]byte("prefix 3 and 003"), []byte("absent"), []byte("prefix 1 and 001")}},
				&storage.Read{Family: f},
				&storage.Read{Family: f, Ranges: []storage.Range{
					{From: []byte("prefix 5"), To: []byte("prefix 6")},
					{From: []byte("prefix 2"), To: []byte("prefix 4"), Limit: 7},
					{From: []byte("prefix 6"), To: []byte("prefix 6")},
					{From: []byte("prefix 7"), To: []byte("prefix 6")},
					{To: []byte("prefix 1")},
				}},
				&storage.Read{Family: f, Ranges: []storage.Range{{Limit: 1}, {From: []byte("prefix 9")}, {From: []byte("q")}, {}}})
		}
		reads = append(reads, &storage.Read{Family: hashed, Prefixes: [][]byte{[]byte("prefix 8"), []byte("absent.."), []byte("prefix 0")}})
		together(t, r, reads...)
		for _, read := range reads {
			if len(read.Values) != len(read.Keys)+len(read.Prefixes) || len(read.Rows) != len(read.Ranges) {
				t.Fatalf("%d keys, %d prefixes, %d ranges: %d values, %d lists of rows",
					len(read.Keys), len(read.Prefixes), len(read.Ranges), len(read.Values), len(read.Rows))
			}
			for i, key := range read.Keys {
				if want, err := r.Get(read.Family, key); string(want) != string(read.Values[i]) || (err != nil) != (read.Values[i] == nil) {
					t.Errorf("family %d: %q is %q, want %q", read.Family, key, read.Values[i], want)
				}
			}
			for i, of := range read.Ranges {
				limit := of.Limit
				if limit == 0 {
					limit = -1
				}
				if got, want := rowsOf(read.Rows[i]), scan(t, r, read.Family, of.From, of.To, false, limit); !slices.Equal(got, want) {
					t.Errorf("family %d, [%q, %q), limit %d: %q, want %q", read.Family, of.From, of.To, of.Limit, got, want)
				}
			}
			if len(read.Prefixes) > 0 {
				want, err := r.Suffixes(read.Family, read.Prefixes)
				if err != nil || !slices.EqualFunc(read.Values, want, func(a, b []byte) bool {
					return string(a) == string(b) && (a == nil) == (b == nil)
				}) {
					t.Errorf("suffixes: %q, want %q, %v", read.Values, want, err)
				}
			}
		}
	})
}

func togetherOfNothing(t *testing.T, s storage.Store) {
	view(t, s, func(r storage.Reader) { together(t, r, &storage.Read{Family: undeclared}) })
	view(t, s, func(r storage.Reader) { together(t, r) })
}

func togetherOfUndeclaredFamily(t *testing.T, s storage.Store) {
	view(t, s, func(r storage.Reader) {
		for _, read := range []*storage.Read{
			{Family: undeclared, Keys: [][]byte{[]byte("a")}},
			{Family: undeclared, Prefixes: [][]byte{[]byte("prefix 1")}},
			{Family: undeclared, Ranges: []storage.Range{{}}},
		} {
			err := storage.ReadTogether(r, &storage.Read{Family: lookup, Keys: [][]byte{[]byte("a")}}, read)
			if err == nil || errors.Is(err, storage.ErrNotFound) {
				t.Errorf("%+v: %v, want an error that is not storage.ErrNotFound", read, err)
			}
		}
	})
}

func togetherIsCopied(t *testing.T, s storage.Store) {
	put(t, s, ordered, "a", "1", "b", "2")
	view(t, s, func(r storage.Reader) {
		read := &storage.Read{Family: ordered, Ranges: []storage.Range{{}}}
		together(t, r, read)
		for i := range read.Rows[0] {
			copy(read.Rows[0][i].Value, "?")
		}
		if _ = append(read.Rows[0][0].Value, "XX"...); string(read.Rows[0][1].Key) != "b" {
			t.Errorf("growing a value changed the next key to %q", read.Rows[0][1].Key)
		}
		wantGet(t, r, ordered, "a", "1")
		wantGet(t, r, ordered, "b", "2")
	})
}

func togetherIsOfASnapshot(t *testing.T, s storage.Store) {
	for _, f := range families {
		put(t, s, f, "kept", "before", "gone", "before")
	}
	view(t, s, func(r storage.Reader) {
		update(t, s, changeEverything)
		for _, f := range families {
			keys := &storage.Read{Family: f, Keys: [][]byte{[]byte("kept"), []byte("new")}}
			rows := &storage.Read{Family: f, Ranges: []storage.Range{{}}}
			together(t, r, keys, rows)
			if string(keys.Values[0]) != "before" || keys.Values[1] != nil || len(rows.Rows[0]) != 2 {
				t.Errorf("family %d: %q, %q, want the rows before the update", f, keys.Values, rows.Rows)
			}
		}
	})
}

// version returns the version of a snapshot; ok is false if it is unknown, or if the store has none.
func version(r storage.Reader) (n uint64, ok bool) {
	if v, can := r.(storage.Versioned); can {
		return v.Version()
	}
	return 0, false
}

// Concurrent readers note the rows of each version that they see.
func versionsNameRows(t *testing.T, s storage.Store) {
	const updates, readers = 100, 3
	var mu sync.Mutex
	seen := map[uint64]string{}
	note := func(r storage.Reader) {
		n, ok := version(r)
		value, err := r.Get(lookup, []byte("n"))
		if err != nil && !errors.Is(err, storage.ErrNotFound) {
			t.Error(err)
		}
		mu.Lock()
		defer mu.Unlock()
		if before, known := seen[n]; ok && known && before != string(value) {
			t.Errorf("version %d has row %q, and also %q", n, before, value)
		}
		if ok {
			seen[n] = string(value)
		}
	}
	done := make(chan struct{})
	var wg sync.WaitGroup
	for range readers {
		wg.Go(func() {
			for {
				view(t, s, note)
				select {
				case <-done:
					return
				default:
				}
			}
		})
	}
	for n := range updates {
		put(t, s, lookup, "n", fmt.Sprint(n))
		view(t, s, note) // the version changes with each update
	}
	close(done)
	wg.Wait()
	view(t, s, func(first storage.Reader) {
		view(t, s, func(second storage.Reader) {
			a, known := version(first)
			b, also := version(second)
			if known != also || known && a != b {
				t.Errorf("versions %d and %d without an update between them", a, b)
			}
			if known && len(seen) < updates {
				t.Errorf("%d versions after %d updates", len(seen), updates)
			}
		})
	})
}

func limitsAreKept(t *testing.T, s storage.Store) {
	limits := storage.LimitsOf(s)
	key, value := []byte("a"), []byte("1")
	for what, row := range map[string][2][]byte{
		"key":   {[]byte(strings.Repeat("k", limits.Key+1)), value},
		"value": {key, []byte(strings.Repeat("v", limits.Value+1))},
	} {
		if limits.Key == 0 && what == "key" || limits.Value == 0 && what == "value" {
			continue
		}
		leavesStore(t, s, func() {
			err := s.Update(context.Background(), func(_ storage.Reader, b storage.Batch) error {
				changeEverything(b)
				b.Put(lookup, row[0], row[1])
				return nil
			})
			if err == nil {
				t.Errorf("a %s above the limits %+v is written", what, limits)
			}
		})
	}
}
