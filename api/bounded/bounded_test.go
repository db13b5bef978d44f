package bounded_test

import (
	"slices"
	"testing"

	"birthmark/api/bounded"
	"birthmark/internal/testseed"
)

// The cache has the values that a list of the used keys, last one first, has within the sum of sizes.
func TestTheCacheKeepsWhatWasUsedLast(t *testing.T) {
	rng := testseed.Rand(t)
	for _, sizes := range []func(int) int{nil, func(v int) int { return v }} {
		const most = 4000
		c := bounded.Cache[int, int]{Max: most, Size: sizes}
		if sizes == nil {
			c.Max = 20
		}
		values, used := map[int]int{}, []int{}
		sizeOf := func(v int) int {
			if sizes == nil {
				return 1
			}
			empty := bounded.Cache[int, int]{Max: most, Size: sizes}
			empty.Put(0, 0)
			return empty.Used() + v
		}
		drop := func(k int) bool {
			at := slices.Index(used, k)
			if at >= 0 {
				used = slices.Delete(used, at, at+1)
			}
			return at >= 0
		}
		for range 5000 {
			k, v := rng.IntN(40), rng.IntN(1200)
			switch rng.IntN(8) {
			case 0:
				if had := drop(k); c.Remove(k) != had {
					t.Fatalf("remove %d: expected %t", k, had)
				}
			case 1, 2, 3:
				got, ok := c.Get(k)
				had := drop(k)
				if ok != had || ok && got != values[k] {
					t.Fatalf("get %d: %d %t, expected %d %t", k, got, ok, values[k], had)
				}
				if had {
					used = slices.Insert(used, 0, k)
				}
			default:
				c.Put(k, v)
				drop(k)
				if sizeOf(v) <= c.Max/4 {
					used, values[k] = slices.Insert(used, 0, k), v
				}
			}
			sum := 0
			for i, k := range used {
				if sum += sizeOf(values[k]); sum > c.Max {
					sum -= sizeOf(values[k])
					used = used[:i]
					break
				}
			}
			if c.Used() != sum {
				t.Fatalf("the sum is %d, expected %d", c.Used(), sum)
			}
		}
	}
}
