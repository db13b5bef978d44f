package tablefile

import (
	"fmt"
	"io"
	"math/rand/v2"
	"testing"

	"birthmark/model"
)

// BenchmarkParquet writes a million rows of an ascending pointer and an address, of which 400,000 are distinct.
func BenchmarkParquet(b *testing.B) {
	const rows, distinct, page = 1 << 20, 400_000, 40_000
	rng := rand.New(rand.NewPCG(1, 2))
	ids, at := make([]int64, rows), make([]uint32, rows)
	last := int64(7 << 38)
	for i := range ids {
		last += rng.Int64N(3) << 19
		ids[i], at[i] = last, uint32(float64(distinct)*rng.Float64()*rng.Float64())
	}
	var d Dictionary
	for i := range distinct {
		d.Add(fmt.Appendf(nil, "bc1q%015x%015x", rng.Uint64(), rng.Uint64()), model.Uint128Of(uint64(i)))
	}
	table := &Table{Name: "t", Fields: []Field{{Name: "id", Type: Uint64}, {Name: "address", Type: Text, Dictionary: 1}}}
	b.ReportAllocs()
	for b.Loop() {
		w, err := New("parquet", io.Discard, table)
		if err != nil {
			b.Fatal(err)
		}
		for from := 0; from < rows; from += page {
			to := min(from+page, rows)
			batch := &Batch{
				Rows: to - from, Columns: []Column{{Ints: ids[from:to]}, {}}, Positions: []Positions{{At: at[from:to]}},
				Entries: []Dictionary{d},
			}
			if err := w.Write(batch); err != nil {
				b.Fatal(err)
			}
		}
		if err := w.EndGroup([]Dictionary{d}); err != nil {
			b.Fatal(err)
		}
		if err := w.Close(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/rows, "ns/row")
}
