package rocks

import (
	"bytes"
	"context"
	"encoding/binary"
	"slices"
	"testing"

	"birthmark/internal/testrun"
	"birthmark/internal/testseed"
	"birthmark/storage"
)

// Reads return the same rows for small keys and results, which are on the stack, and for large ones.
func TestSizesDoNotChangeReads(t *testing.T) {
	rng := testseed.Rand(t)
	s, err := Open(testrun.TempDir(t), Options{WriteBuffers: 8 << 20})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	const values, suffixes = 1, 2
	for _, d := range []storage.Declaration{
		{Family: values, Name: "values", Access: storage.Ordered}, {Family: suffixes, Name: "suffixes", Access: storage.Hashed},
	} {
		if err := s.Declare(d); err != nil {
			t.Fatal(err)
		}
	}
	const rows = 600 // row n has a value, or the rest of a key, of n bytes
	prefix := func(n int) []byte { return binary.BigEndian.AppendUint64(nil, uint64(n)) }
	text := func(n int) []byte { return bytes.Repeat([]byte{byte(n)}, n) }
	key := func(n int) []byte { return append(prefix(n), text(n%50)...) }
	err = s.Update(context.Background(), func(_ storage.Reader, b storage.Batch) error {
		for n := range rows {
			b.Put(values, key(n), text(n))
			b.Put(suffixes, append(prefix(n), text(n)...), nil)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.View(context.Background(), func(r storage.Reader) error {
		for n := range rows {
			value, err := r.Get(values, key(n))
			if err != nil || value == nil || !bytes.Equal(value, text(n)) {
				t.Fatalf("a value of %d bytes: %d bytes, %v", n, len(value), err)
			}
			// A read of one suffix has one result, a read of several rows the sum of their sizes.
			some := []int{n}
			for range rng.IntN(6) {
				some = append(some, rng.IntN(2*rows))
			}
			var keys, prefixes [][]byte
			for _, i := range some {
				keys, prefixes = append(keys, key(i)), append(prefixes, prefix(i))
			}
			found, err := r.GetMany(values, keys)
			if err != nil {
				return err
			}
			rest, err := r.Suffixes(suffixes, prefixes)
			if err != nil {
				return err
			}
			for k, i := range some {
				var want []byte
				if i < rows {
					want = text(i)
				}
				if !bytes.Equal(found[k], want) || !bytes.Equal(rest[k], want) || (found[k] == nil) != (i >= rows) {
					t.Fatalf("%v: row %d has %d and %d bytes", some, i, len(found[k]), len(rest[k]))
				}
			}
			end := n + 1 + rng.IntN(3)
			read := storage.Read{Family: values, Ranges: []storage.Range{{From: prefix(n), To: prefix(end)}}}
			if err := storage.ReadTogether(r, &read); err != nil {
				return err
			}
			got := read.Rows[0]
			if len(got) != min(end, rows)-n || slices.ContainsFunc(got, func(kv storage.KV) bool {
				i := int(binary.BigEndian.Uint64(kv.Key))
				return !bytes.Equal(kv.Key, key(i)) || !bytes.Equal(kv.Value, text(i))
			}) {
				t.Fatalf("the range from row %d to %d has %d rows", n, end, len(got))
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
}
