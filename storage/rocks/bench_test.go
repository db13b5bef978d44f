package rocks_test

import (
	"context"
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"birthmark/storage"
	"birthmark/storage/rocks"
)

// BenchmarkUpdate writes 100,000 rows in 6 families in one Update, with keys in order or not. The difference is the
// cost of sorting: RocksDB gets them in order either way.
func BenchmarkUpdate(b *testing.B) {
	const rows, families = 100_000, 6
	order := make([]int, rows)
	for name, arrange := range map[string]func(i int) int{
		"sorted":   func(i int) int { return i },
		"shuffled": func(i int) int { return order[i] },
	} {
		b.Run(name, func(b *testing.B) {
			copy(order, rand.New(rand.NewPCG(1, 1)).Perm(rows))
			s := open(b, b.TempDir(), rocks.Options{WriteBuffers: 256 << 20})
			if err := declare(s, families); err != nil {
				b.Fatal(err)
			}
			var key, value [16]byte
			b.ReportAllocs()
			window := uint64(0)
			for b.Loop() {
				window++
				err := s.Update(context.Background(), func(_ storage.Reader, batch storage.Batch) error {
					for i := range rows {
						at := uint64(arrange(i))
						binary.BigEndian.PutUint64(key[:], window)
						binary.BigEndian.PutUint64(key[8:], at)
						binary.BigEndian.PutUint64(value[:], at)
						batch.Put(storage.Family(at%families), key[:], value[:])
					}
					return nil
				})
				if err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(rows*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
		})
	}
}
