package storetest

import (
	"bytes"
	"context"
	"encoding/binary"
	"slices"
	"testing"

	"birthmark/storage"
)

var tailLaws = []law{
	{"Tails finds all keys of a head and nothing else", tailsOfHeads},
	{"Tails answers in the order of its heads, nil where absent", tailsKeepOrder},
	{"Tails of the first and the last head there can be", tailsAtTheEnds},
	{"Tails shows no key that was deleted", tailsOfDeletedKeys},
	{"Tails of a View and of an Update show the state before", tailsAreOfASnapshot},
	{"Tails of an undeclared family is an error", tailsOfUndeclaredFamily},
	{"what Tails returns belongs to the caller", tailsAreCopies},
	{"a family of heads is scanned in the order of its keys", hashedFamilyIsScanned},
}

// head is a head of eight equal bytes.
func head(b byte) string { return string(bytes.Repeat([]byte{b}, storage.PrefixSize)) }

// wantTails wants the tails of heads "head", "tails", "head", "tails", …; tails "-" stand for nil.
func wantTails(t *testing.T, r storage.Reader, want ...string) {
	t.Helper()
	var heads [][]byte
	for i := 0; i < len(want); i += 2 {
		heads = append(heads, []byte(want[i]))
	}
	got, err := r.Suffixes(hashed, heads)
	if err != nil || len(got) != len(heads) {
		t.Fatalf("Tails of %d heads = %q, %v", len(heads), got, err)
	}
	for i, h := range heads {
		tails := want[2*i+1]
		if absent := tails == "-"; absent != (got[i] == nil) || !absent && string(got[i]) != tails {
			t.Errorf("Tails: %q has %#v, want %q", h, got[i], tails)
		}
	}
}

func tailsOfHeads(t *testing.T, s storage.Store) {
	put(t, s, hashed, "hashes_bAA", "", "hashes_aCC", "", "hashes_aAA", "a value is no matter", "hashes_cAA", "")
	put(t, s, hashed, "hashes_aBB", "")
	view(t, s, func(r storage.Reader) {
		wantTails(t, r)
		wantTails(t, r, "hashes_a", "AABBCC", "hashes_b", "AA", "hashes_d", "-", "hashes_`", "-", "hasheS_a", "-")
	})
}

func tailsKeepOrder(t *testing.T, s storage.Store) {
	const heads = 3000
	number := func(i int) []byte { return binary.BigEndian.AppendUint64(nil, uint64(i)*0x9e3779b97f4a7c15) }
	for part := range 3 { // in several updates, as rows arrive
		update(t, s, func(b storage.Batch) {
			for i := part; i < heads; i += 3 {
				for tail := range i % 4 {
					b.Put(hashed, binary.BigEndian.AppendUint16(number(i), uint16(tail)), nil)
				}
			}
		})
	}
	var asked []string
	for i := range 2 * heads { // every other is absent
		at := i * 7919 % (2 * heads)
		tails := "-"
		if n := at % 4; at < heads && n > 0 {
			tails = "\x00\x00\x00\x01\x00\x02"[:2*n]
		}
		asked = append(asked, string(number(at)), tails)
	}
	view(t, s, func(r storage.Reader) { wantTails(t, r, append(asked, asked[:10]...)...) })
}

func tailsAtTheEnds(t *testing.T, s storage.Store) {
	view(t, s, func(r storage.Reader) { wantTails(t, r, head(0), "-", head(0xff), "-") })
	put(t, s, hashed, head(0)+"\x00\x00", "", head(0)+"\xff\xff", "", head(0xff)+"\x00\x00", "", head(0xff)+"\xff\xff", "")
	view(t, s, func(r storage.Reader) {
		wantTails(t, r, head(0xff), "\x00\x00\xff\xff", head(1), "-", head(0), "\x00\x00\xff\xff", head(0xfe), "-")
	})
}

func tailsOfDeletedKeys(t *testing.T, s storage.Store) {
	put(t, s, hashed, "hashes_aAA", "", "hashes_aBB", "", "hashes_bAA", "")
	update(t, s, func(b storage.Batch) {
		b.Delete(hashed, []byte("hashes_aAA"))
		b.Delete(hashed, []byte("hashes_bAA"))
		b.Delete(hashed, []byte("hashes_cAA"))
	})
	view(t, s, func(r storage.Reader) { wantTails(t, r, "hashes_a", "BB", "hashes_b", "-", "hashes_c", "-") })
	put(t, s, hashed, "hashes_bAA", "")
	view(t, s, func(r storage.Reader) { wantTails(t, r, "hashes_a", "BB", "hashes_b", "AA") })
}

func tailsAreOfASnapshot(t *testing.T, s storage.Store) {
	change := func(b storage.Batch) {
		b.Put(hashed, []byte("hashes_aBB"), nil)
		b.Delete(hashed, []byte("hashes_aAA"))
		b.Put(hashed, []byte("hashes_bAA"), nil)
	}
	put(t, s, hashed, "hashes_aAA", "")
	err := s.Update(context.Background(), func(r storage.Reader, b storage.Batch) error {
		change(b)
		wantTails(t, r, "hashes_a", "AA", "hashes_b", "-")
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
		wantTails(t, r, "hashes_a", "AA", "hashes_b", "-")
	})
	view(t, s, func(r storage.Reader) { wantTails(t, r, "hashes_a", "BB", "hashes_b", "AA") })
}

func tailsOfUndeclaredFamily(t *testing.T, s storage.Store) {
	view(t, s, func(r storage.Reader) {
		if tails, err := r.Suffixes(undeclared, [][]byte{[]byte("hashes_a")}); err == nil {
			t.Errorf("Tails = %q, want an error", tails)
		}
	})
}

func tailsAreCopies(t *testing.T, s storage.Store) {
	put(t, s, hashed, "hashes_aAA", "", "hashes_bAA", "")
	view(t, s, func(r storage.Reader) {
		tails, err := r.Suffixes(hashed, [][]byte{[]byte("hashes_a"), []byte("hashes_b")})
		if err != nil {
			t.Fatal(err)
		}
		copy(tails[0], "??")
		if _ = append(tails[0], "XX"...); string(tails[1]) != "AA" {
			t.Errorf("growing the tails of one head changed its neighbour's to %q", tails[1])
		}
		wantTails(t, r, "hashes_a", "AA", "hashes_b", "AA")
	})
}

// Scans are over ranges that no head bounds, also where rows lie in many tables.
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
