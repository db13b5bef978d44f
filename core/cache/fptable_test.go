package cache

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"birthmark/internal/testrun"
	"birthmark/model"
)

// A table may lose entries, but returns only the last value that was put and not taken; pinned entries stay; its memory
// is that of its bound and of pinned entries.
func TestTableNeverLies(t *testing.T) {
	testrun.Slow(t)
	const seed = 1
	for i, bytes := range []int64{0, 1 << 18, 1 << 20, 16 << 20} {
		t.Run(fmt.Sprint(bytes), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, uint64(bytes)))
			words := i % 3
			f, c := newFingerprinter(), newTable(20, 5*i)
			c.words = words
			c.limit(bytes)
			got := make([]uint64, words)
			type put struct{ pk, number uint64 }
			truth := map[uint64]put{}
			hits := 0
			const keys = 50_000
			for i := range 600_000 {
				n := rng.Uint64N(keys)
				key := f.Value(0, fmt.Append(nil, n))
				want, known := truth[n]
				stays := known && want.pk >= uint64(c.pinFloor)
				check := func(what string, pk, number uint64, ok bool) {
					if ok && (!known || put{pk, number} != want) {
						t.Fatalf("seed %d, step %d: %s returned %d %d, put was %v (known %t)", seed, i, what, pk, number, want, known)
					}
					if stays && !ok {
						t.Fatalf("seed %d, step %d: %s finds nothing where %v has to stay", seed, i, what, want)
					}
					if ok {
						hits++
					}
				}
				switch rng.IntN(4) {
				case 0, 1:
					p := put{uint64(i), rng.Uint64() >> (rng.Uint64N(4) * 16)} // some do not fit the payload
					c.put(key, p.pk, p.number, wordsOf(p.pk)[:words])
					truth[n] = p
				case 2:
					c.touch(key)
					pk, number, ok := c.get(key)
					check("get", pk, number, ok)
				case 3:
					pk, number, ok := c.take(key, got)
					check("take", pk, number, ok)
					if ok && !slices.Equal(got, wordsOf(pk)[:words]) {
						t.Fatalf("seed %d, step %d: the words of %d are %d", seed, i, pk, got)
					}
					delete(truth, n)
				}
				if i%5000 == 0 {
					c.pinFloor = model.UtxoPk(max(0, i-2000))
				}
				// At most 7,000 steps are pinned, half of which put an entry.
				if held := c.bytes(); held > max(bytes, 2*3_500*slotSize(words)) {
					t.Fatalf("step %d: %d bytes of %d", i, held, bytes)
				}
			}
			if bytes == 16<<20 && hits < 100_000 {
				t.Errorf("%d hits of a table that has room for everything", hits)
			}
			sound(t, c)
			last := uint64(550_000)
			c.dropFrom(model.UtxoPk(int(last)))
			sound(t, c)
			for n, p := range truth {
				pk, _, ok := c.get(f.Value(0, fmt.Append(nil, n)))
				if ok && (pk != p.pk || pk >= last) {
					t.Fatalf("after forgetting from %d it returned %d, put was %d", last, pk, p.pk)
				}
				if bytes == 16<<20 && p.pk < last && !ok {
					t.Fatalf("after forgetting from %d it has lost %d", last, p.pk)
				}
			}
		})
	}
}

// wordsOf returns the words of the entry that points to pk.
func wordsOf(pk uint64) []uint64 { return []uint64{3 * pk, pk ^ 7} }

// sound fails if an entry cannot be found at its slot, or the count is wrong.
func sound(t *testing.T, c *table) {
	t.Helper()
	used, large, last := 0, 0, uint64(0)
	for i := range c.entries {
		e := &c.entries[i]
		if e.tag == 0 {
			continue
		}
		used++
		if e.tag < last {
			t.Fatalf("tag %x at %d is out of order", e.tag, i)
		}
		last = e.tag
		for j := c.home(e.tag); j < i; j++ {
			if c.entries[j].tag == 0 {
				t.Fatalf("the search for the entry at %d ends at %d", i, j)
			}
		}
		if e.rest&c.numbers() == c.numbers() {
			large++
		}
	}
	if used != c.used || large != len(c.overflow) {
		t.Fatalf("counts %d entries, %d large numbers, has %d, %d", c.used, len(c.overflow), used, large)
	}
}

// A number of all ones in the bits of the payload, and the numbers beside it, are returned as they were put: it marks
// numbers that are kept elsewhere.
func TestNumbersAroundThePayload(t *testing.T) {
	for _, payload := range []uint{16, 52} {
		f, c := newFingerprinter(), newTable(payload, 0)
		c.limit(1 << 20)
		all := uint64(1)<<payload - 1
		for i, number := range []uint64{0, all - 1, all, all + 1, 1<<63 - 1} {
			key := f.Value(0, []byte{byte(i)})
			c.put(key, uint64(i)+1, number, nil)
			if pk, got, ok := c.get(key); !ok || pk != uint64(i)+1 || got != number {
				t.Errorf("payload of %d bits: %d is returned as %d (%t)", payload, number, got, ok)
			}
		}
	}
}
