package cbor

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"birthmark/internal/testseed"
)

// randomItem appends a random item of a few values, so that items repeat, in a random form.
func randomItem(b []byte, r *rand.Rand, depth int) (item []byte, value string) {
	content := func(n int, of func()) {
		for range n {
			of()
		}
	}
	switch kind := r.IntN(5); {
	case kind == 0 || depth > 2:
		n := r.IntN(3)
		return append(append(b, [][]byte{{}, {24}, {25, 0}, {27, 0, 0, 0, 0, 0, 0, 0}}[r.IntN(4)]...), byte(n)), fmt.Sprint(n)
	case kind == 1:
		text := slices.Repeat([]byte{byte(r.IntN(2))}, r.IntN(4))
		value = fmt.Sprintf("h%x", text)
		if r.IntN(2) == 0 {
			return AppendBytes(b, text), value
		}
		cut := r.IntN(len(text) + 1)
		return append(AppendBytes(AppendBytes(append(b, Bytes<<5|31), text[:cut]), text[cut:]), Break), value
	case kind < 4:
		n, endless := r.IntN(3), r.IntN(2) == 0
		if b = AppendHead(b, Array, uint64(n)); endless {
			b[len(b)-1] = Array<<5 | 31
		}
		value = "["
		content(n, func() {
			var part string
			b, part = randomItem(b, r, depth+1)
			value += part + ","
		})
		if endless {
			b = append(b, Break)
		}
		return b, value + "]"
	}
	b, value = randomItem(append(b, Tag<<5|7), r, depth+1)
	return b, "7(" + value + ")"
}

// Of equal keys in different forms, the last value counts, and it has the place of the first. Elements of sets count
// once. In sequences all count.
func TestEqualKeysCountOnce(t *testing.T) {
	r := testseed.Rand(t)
	again := 0
	for range 3_000 {
		n := r.IntN(6)
		m, s := AppendHead(nil, Map, uint64(n)), AppendHead(nil, Array, uint64(n))
		if r.IntN(2) == 0 {
			s = append([]byte{0xd9, 1, 2}, s...)
		}
		last := map[string]int{}
		var order []string
		for i := range n {
			item, value := randomItem(nil, r, 0)
			m, s = append(append(m, item...), byte(i)), append(s, item...)
			if _, known := last[value]; !known {
				order = append(order, value)
			}
			last[value] = i
		}
		again += n - len(order)
		w := Walker{Data: m}
		entries := w.Entries("map")
		var values, want []int
		for i := range entries {
			values = append(values, int(entries[i].Value[0]))
			want = append(want, last[order[i]])
		}
		if w.Err != nil || w.Offset != len(m) || len(entries) != len(order) || !slices.Equal(values, want) {
			t.Fatalf("%x: values %v, %v; expected %v of %v", m, values, w.Err, want, order)
		}
		w.Reset(s)
		if elements := w.Elements("set"); w.Err != nil || w.Offset != len(s) || len(elements) != len(order) {
			t.Fatalf("%x has the elements %x, %v; expected %d", s, elements, w.Err, len(order))
		}
		w.Reset(s)
		if all := w.Sequence("sequence"); w.Err != nil || len(all) != n {
			t.Fatalf("%x has the elements %x, %v; expected %d", s, all, w.Err, n)
		}
	}
	if again < 100 {
		t.Errorf("only %d keys occur twice", again)
	}
}

// Of malformed collections, the part before the fault is returned.
func TestMalformedCollections(t *testing.T) {
	for raw, want := range map[string]int{"\xa2\x00\x01\x02\xff": 1, "\x83\x00\x01": 0, "\x9f\x00": 1, "\xbf\x00\x01": 1, "\x00": 0} {
		w := Walker{Data: []byte(raw)}
		found := 0
		if w.Major() == Map {
			found = len(w.Entries("map"))
		} else {
			found = len(w.Elements("set"))
		}
		if w.Err == nil || found != want {
			t.Errorf("%x: %d, %v; expected %d", raw, found, w.Err, want)
		}
	}
}
