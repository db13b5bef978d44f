package rocks

import (
	"cmp"
	"fmt"
	"math/bits"
	"slices"
	"testing"

	"birthmark/internal/testseed"
)

// distributions are prefixes like those of families, and difficult ones for a radix sort.
var distributions = map[string]func(random uint64, i int) uint64{
	"hashes":           func(random uint64, _ int) uint64 { return random },
	"pointers":         func(random uint64, i int) uint64 { return 800_000<<38 | random%(1<<19)<<19 | uint64(i%4) },
	"few, many times":  func(random uint64, _ int) uint64 { return bits.Reverse64(random % 5) },
	"one":              func(uint64, int) uint64 { return 1 << 63 },
	"rising":           func(_ uint64, i int) uint64 { return uint64(i) },
	"falling":          func(_ uint64, i int) uint64 { return ^uint64(i) },
	"powers of two":    func(random uint64, _ int) uint64 { return 1 << (random % 64) },
	"most in one spot": func(random uint64, i int) uint64 { return random >> (i % 64) },
	"ends":             func(random uint64, _ int) uint64 { return -(random & 1) },
}

func TestSortByPrefixIsAStableSort(t *testing.T) {
	rng := testseed.Rand(t)
	for name, prefixOf := range distributions {
		for _, n := range []int{0, 1, 2, insertionSortMax, insertionSortMax + 1, 300, 20_000} {
			records := make([]record, n)
			for i := range records {
				records[i] = record{prefixOf(rng.Uint64(), i), uint64(i)}
			}
			want := slices.Clone(records)
			slices.SortStableFunc(want, func(a, b record) int { return cmp.Compare(a.prefix, b.prefix) })
			sortByPrefix(records, make([]record, n))
			if !slices.Equal(records, want) {
				t.Errorf("%d records, %s: not sorted, or not stable", n, name)
			}
		}
	}
}

func BenchmarkSortByPrefix(b *testing.B) {
	const n = 400_000
	rng := testseed.Rand(b)
	for _, name := range []string{"hashes", "pointers"} {
		b.Run(fmt.Sprintf("%d %s", n, name), func(b *testing.B) {
			from, records, spare := make([]record, n), make([]record, n), make([]record, n)
			for i := range from {
				from[i] = record{distributions[name](rng.Uint64(), i), uint64(i)}
			}
			for b.Loop() {
				copy(records, from)
				sortByPrefix(records, spare)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/record")
		})
	}
}
