package storetest

import (
	"bytes"
	"context"
	"encoding/binary"
	"slices"
	"testing"

	"birthmark/storage"
)

var suffixGuarantees = []guarantee{
	{"Suffixes finds all keys of a prefix and nothing else", suffixesOfPrefixes},
	{"Suffixes answers in the order of its prefixes, nil where absent", suffixesKeepOrder},
	{"Suffixes of the first and the last prefix there can be", suffixesAtTheEnds},
	{"Suffixes shows no key that was deleted", suffixesOfDeletedKeys},
	{"Suffixes of a View and of an Update show the state before", suffixesAreOfASnapshot},
	{"Suffixes of an undeclared family is an error", suffixesOfUndeclaredFamily},
	{"what Suffixes returns belongs to the caller", suffixesAreCopies},
	{"a family of prefixes is scanned in the order of its keys", hashedFamilyIsScanned},
}

// prefix returns a prefix of eight equal bytes.
func prefix(b byte) string { return string(bytes.Repeat([]byte{b}, storage.PrefixSize)) }

// wantSuffixes checks the suffixes of prefixes: "prefix", "suffixes", "prefix", "suffixes", …; "-" is nil.
func wantSuffixes(t *testing.T, r storage.Reader, want ...string) {
	t.Helper()
	var prefixes [][]byte
	for i := 0; i < len(want); i += 2 {
		prefixes = append(prefixes, []byte(want[i]))
	}
	got, err := r.Suffixes(hashed, prefixes)
	if err != nil || len(got) != len(prefixes) {
		t.Fatalf("Suffixes of %d prefixes = %q, %v", len(prefixes), got, err)
	}
	for i, h := range prefixes {
		suffixes := want[2*i+1]
		if absent := suffixes == "-"; absent != (got[i] == nil) || !absent && string(got[i]) != suffixes {
			t.Errorf("Suffixes: %q has %#v, want %q", h, got[i], suffixes)
		}
	}
}

func suffixesOfPrefixes(t *testing.T, s storage.Store) {
	put(t, s, hashed, "hashes_bAA", "", "hashes_aCC", "", "hashes_aAA", "a value is no matter", "hashes_cAA", "")
	put(t, s, hashed, "hashes_aBB", "")
	view(t, s, func(r storage.Reader) {
		wantSuffixes(t, r)
		wantSuffixes(t, r, "hashes_a", "AABBCC", "hashes_b", "AA", "hashes_d", "-", "hashes_`", "-", "hasheS_a", "-")
	})
}

func suffixesKeepOrder(t *testing.T, s storage.Store) {
	const prefixes = 3000
	number := func(i int) []byte { return binary.BigEndian.AppendUint64(nil, uint64(i)*0x9e3779b97f4a7c15) }
	for part := range 3 { // in several updates
		update(t, s, func(b storage.Batch) {
			for i := part; i < prefixes; i += 3 {
				for suffix := range i % 4 {
					b.Put(hashed, binary.BigEndian.AppendUint16(number(i), uint16(suffix)), nil)
				}
			}
		})
	}
	var asked []string
	for i := range 2 * prefixes { // every second one is absent
		at := i * 7919 % (2 * prefixes)
		suffixes := "-"
		if n := at % 4; at < prefixes && n > 0 {
			suffixes = "\x00\x00\x00\x01\x00\x02"[:2*n]
		}
		asked = append(asked, string(number(at)), suffixes)
	}
	view(t, s, func(r storage.Reader) { wantSuffixes(t, r, append(asked, asked[:10]...)...) })
}

func suffixesAtTheEnds(t *testing.T, s storage.Store) {
	view(t, s, func(r storage.Reader) { wantSuffixes(t, r, prefix(0), "-", prefix(0xff), "-") })
	put(t, s, hashed, prefix(0)+"\x00\x00", "", prefix(0)+"\xff\xff", "", prefix(0xff)+"\x00\x00", "", prefix(0xff)+"\xff\xff", "")
	view(t, s, func(r storage.Reader) {
		wantSuffixes(t, r, prefix(0xff), "\x00\x00\xff\xff", prefix(1), "-", prefix(0), "\x00\x00\xff\xff", prefix(0xfe), "-")
	})
}

func suffixesOfDeletedKeys(t *testing.T, s storage.Store) {
	put(t, s, hashed, "hashes_aAA", "", "hashes_aBB", "", "hashes_bAA", "")
	update(t, s, func(b storage.Batch) {
		b.Delete(hashed, []byte("hashes_aAA"))
		b.Delete(hashed, []byte("hashes_bAA"))
		b.Delete(hashed, []byte("hashes_cAA"))
	})
	view(t, s, func(r storage.Reader) { wantSuffixes(t, r, "hashes_a", "BB", "hashes_b", "-", "hashes_c", "-") })
	put(t, s, hashed, "hashes_bAA", "")
	view(t, s, func(r storage.Reader) { wantSuffixes(t, r, "hashes_a", "BB", "hashes_b", "AA") })
}

func suffixesAreOfASnapshot(t *testing.T, s storage.Store) {
	change := func(b storage.Batch) {
		b.Put(hashed, []byte("hashes_aBB"), nil)
		b.Delete(hashed, []byte("hashes_aAA"))
		b.Put(hashed, []byte("hashes_bAA"), nil)
	}
	put(t, s, hashed, "hashes_aAA", "")
	err := s.Update(context.Background(), func(r storage.Reader, b storage.Batch) error {
		change(b)
		wantSuffixes(t, r, "hashes_a", "AA", "hashes_b", "-")
		b.Put(hashed, []byte("hashes_aAA"), nil)
		b.Delete(hashed, []byte("hashes_aBB"))
		b.Delete(hashed, []byte("hashes_bAA"))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	view(t, s, func(r storage.Reader) {
		update(t, s, change)
		wantSuffixes(t, r, "hashes_a", "AA", "hashes_b", "-")
	})
	view(t, s, func(r storage.Reader) { wantSuffixes(t, r, "hashes_a", "BB", "hashes_b", "AA") })
}

func suffixesOfUndeclaredFamily(t *testing.T, s storage.Store) {
	view(t, s, func(r storage.Reader) {
		if suffixes, err := r.Suffixes(undeclared, [][]byte{[]byte("hashes_a")}); err == nil {
			t.Errorf("Suffixes = %q, want an error", suffixes)
		}
	})
}

func suffixesAreCopies(t *testing.T, s storage.Store) {
	put(t, s, hashed, "hashes_aAA", "", "hashes_bAA", "")
	view(t, s, func(r storage.Reader) {
		suffixes, err := r.Suffixes(hashed, [][]byte{[]byte("hashes_a"), []byte("hashes_b")})
		if err != nil {
			t.Fatal(err)
		}
		copy(suffixes[0], "??")
		if _ = append(suffixes[0], "XX"...); string(suffixes[1]) != "AA" {
			t.Errorf("growing the suffixes of one prefix changed its neighbour's to %q", suffixes[1])
		}
		wantSuffixes(t, r, "hashes_a", "AA", "hashes_b", "AA")
	})
}

// Scans cover ranges that no prefix bounds, also if rows are in many tables.
func hashedFamilyIsScanned(t *testing.T, s storage.Store) {
	var want []row
	for i := range 40 {
		key := string(binary.BigEndian.AppendUint64(nil, uint64(i)*0x9e3779b97f4a7c15)) + "AA"
		put(t, s, hashed, key, "")
		want = append(want, row{key, ""})
	}
	slices.SortFunc(want, func(a, b row) int { return bytes.Compare([]byte(a.key), []byte(b.key)) })
	for _, compacted := range []bool{false, true} {
		if c, ok := s.(storage.Compactor); ok && compacted {
			if err := c.Compact(context.Background()); err != nil {
				t.Fatal(err)
			}
		}
		view(t, s, func(r storage.Reader) {
			for i := range want {
				from := []byte(want[i].key[:3+i%6])
				first := slices.IndexFunc(want, func(r row) bool { return r.key >= string(from) })
				if got := scan(t, r, hashed, from, nil, false, -1); !slices.Equal(got, want[first:]) {
					t.Errorf("a scan from %x shows %d rows, want %d", from, len(got), len(want)-first)
				}
				if got := scan(t, r, hashed, nil, from, true, -1); len(got) != first || first > 0 && got[0] != want[first-1] {
					t.Errorf("a scan down from %x shows %d rows, want %d", from, len(got), first)
				}
			}
		})
	}
}
