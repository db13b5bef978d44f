package core

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"birthmark/model"
)

// A cache may forget, but what it says is what was put last and not taken since.
func TestCacheNeverLies(t *testing.T) {
	const seed = 1
	for _, bytes := range []int64{0, cacheSetSize, 4 << 10, 1 << 20} {
		t.Run(fmt.Sprint(bytes), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, uint64(bytes)))
			f, c := newFingerprinter(), newCache(bytes)
			truth := map[uint64]uint64{}
			hits := 0
			for i := range 200_000 {
				n := rng.Uint64N(5_000)
				key := f.value(0, fmt.Append(nil, n))
				want, known := truth[n]
				switch rng.IntN(3) {
				case 0:
					c.put(key, n, uint64(i))
					truth[n] = uint64(i)
				case 1:
					if pk, num, ok := c.get(key); ok {
						if !known || pk != n || num != want {
							t.Fatalf("seed %d, step %d: get says %d %d, put was %d %d (known %t)", seed, i, pk, num, n, want, known)
						}
						hits++
					}
				case 2:
					if pk, num, ok := c.take(key); ok && (!known || pk != n || num != want) {
						t.Fatalf("seed %d, step %d: take says %d %d, put was %d %d (known %t)", seed, i, pk, num, n, want, known)
					}
					delete(truth, n)
				}
				if held := int64(len(c.sets)) * cacheSetSize; held > bytes {
					t.Fatalf("holds %d bytes of %d", held, bytes)
				}
			}
			if bytes == 1<<20 && hits < 20_000 {
				t.Errorf("%d hits of a cache that has room for everything", hits)
			}
			used := 0
			for _, s := range c.sets {
				for _, e := range s {
					if e != (cacheEntry{}) {
						used++
					}
				}
			}
			if used != c.used {
				t.Errorf("counts %d entries, has %d", c.used, used)
			}
		})
	}
}

func TestFingerprintsTellOutputsAndSpacesApart(t *testing.T) {
	f := newFingerprinter()
	seen := map[fingerprint]string{}
	add := func(key fingerprint, what string) {
		if other, ok := seen[key]; ok {
			t.Errorf("%s and %s have the same fingerprint", what, other)
		}
		seen[key] = what
	}
	for h := range byte(4) {
		p := f.outpoints(&model.Hash{h})
		for n := range uint32(1000) {
			add(p.output(n), fmt.Sprintf("output %d of %d", n, h))
		}
	}
	for space := range 4 {
		add(f.value(space-1, []byte("value")), fmt.Sprintf("value in space %d", space-1))
	}
}
