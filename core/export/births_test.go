package export

import (
	"testing"
	"unsafe"

	"birthmark/internal/testseed"
	"birthmark/model"
)

// The table of recent outputs returns each output of a map once, except dropped outputs.
func TestRecentOutputsAreThoseOfAMap(t *testing.T) {
	rng := testseed.Rand(t)
	r := recent{most: 1000}
	want, list := map[uint64]outputSlot{}, []uint64{}
	missing, found := 0, 0
	for range 200_000 {
		if rng.IntN(2) == 0 {
			pk := rng.Uint64N(1<<40) << 8
			if _, ok := want[pk]; ok {
				continue
			}
			s := outputSlot{pk + 1, rng.Uint64(), rng.Uint64()}
			r.put(pk, s.value, s.birth)
			want[pk], list = s, append(list, pk)
			continue
		}
		pk := rng.Uint64()
		if len(list) > 0 && rng.IntN(8) > 0 {
			pk = list[len(list)-1-rng.IntN(min(len(list), 2500))]
		}
		s, ok := r.take(pk)
		w, exists := want[pk]
		switch {
		case ok && (!exists || s != w):
			t.Fatalf("output %x: %v, expected %v", pk, s, w)
		case ok:
			found++
			delete(want, pk)
		case exists:
			missing++
		}
	}
	if found < 10_000 || missing == 0 || r.now.n > r.most || r.old.n > r.most {
		t.Errorf("%d found, %d missing, %d and %d entries", found, missing, r.now.n, r.old.n)
	}
}

// The cache of texts returns the text that was put, or nothing.
func TestTextsAreThoseOfAMap(t *testing.T) {
	rng := testseed.Rand(t)
	c := texts{limit: leastSlots*int(unsafe.Sizeof(birthSlot{})) + 4000}
	type key struct {
		birth model.BirthPk
		space uint16
	}
	want := map[key]string{}
	missing, found := 0, 0
	for range 100_000 {
		k := key{model.BirthPk{Utxo: model.UtxoPk(rng.Uint64N(1000)), Ordinal: uint16(rng.IntN(2))}, uint16(rng.IntN(2))}
		text, ok := c.get(k.birth, k.space)
		if ok && string(text) != want[k] {
			t.Fatalf("%v: %q, expected %q", k, text, want[k])
		}
		if ok {
			found++
			continue
		}
		if want[k] != "" {
			missing++
		}
		if want[k] == "" {
			want[k] = string(make([]byte, 1+rng.IntN(60)))
		}
		c.put(k.birth, k.space, []byte(want[k]))
	}
	if found < 1000 || missing < 1000 {
		t.Errorf("%d found, %d missing", found, missing)
	}
}
