package skeleton

import (
	"cmp"
	"slices"
	"testing"

	"birthmark/bench/generate/distribution"
	"birthmark/internal/testseed"
)

type entry = Holding[uint64]

func compare(a, b entry) int { return cmp.Compare(a.Asset, b.Asset) }

func sums(h Holdings[uint64]) map[uint64]uint64 {
	all := map[uint64]uint64{}
	for _, e := range h {
		all[e.Asset] += e.Amount
	}
	return all
}

// Merging, giving and taking parts neither create nor lose an amount, and an asset has one entry per output.
func TestHoldingsConserveAmounts(t *testing.T) {
	r := distribution.NewRandom(testseed.New(t), 0)
	for range 1000 {
		var all, output Holdings[uint64]
		for range r.IntN(20) {
			all = append(all, entry{r.Uint64N(8), 1 + r.Uint64N(100)})
		}
		want := sums(all)
		all.Merge(compare)
		if len(all) != len(want) || !slices.IsSortedFunc(all, compare) {
			t.Fatalf("%v, expected %v", all, want)
		}
		all.Part(r, Parts[uint64]{Counts: distribution.Spans{{1, 1, 5}}, Hot: 3, First: 0.5, Split: 0.5}, &output)
		if len(output) != len(sums(output)) {
			t.Fatalf("the output has an asset twice: %v", output)
		}
		both := slices.Concat(all, output)
		both.Merge(compare)
		for _, e := range both {
			if want[e.Asset] != e.Amount {
				t.Fatalf("%v and %v, expected %v", all, output, want)
			}
			delete(want, e.Asset)
		}
		if len(want) > 0 {
			t.Fatalf("missing %v", want)
		}
	}
}
