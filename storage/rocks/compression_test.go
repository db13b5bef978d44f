package rocks_test

import (
	"context"
	"fmt"
	"testing"

	"birthmark/internal/testrun"
	"birthmark/storage"
	"birthmark/storage/rocks"
)

// Rows remain readable after a change of the compression, and max is smaller than default.
func TestCompressionDecidesAboutRoomAlone(t *testing.T) {
	families := []storage.Declaration{
		{Family: 1, Name: "ordered", Access: storage.Ordered},
		{Family: 2, Name: "hashed", Access: storage.Hashed, Incompressible: true},
		{Family: 3, Name: "grouped", Access: storage.Grouped, DeferCompaction: true},
	}
	key := func(f storage.Family, i int) []byte {
		if f == 2 {
			return append(noise(i)[:8], fmt.Appendf(nil, "%08d", i)...)
		}
		return fmt.Appendf(nil, "%08d%08d", i, i/7)
	}
	rows := testrun.Amount(20_000, 5_000)
	sizes := map[storage.Compression]int64{}
	for _, c := range []storage.Compression{storage.CompressionDefault, storage.CompressionMax} {
		dir := t.TempDir()
		for part, in := range []storage.Compression{c, storage.CompressionMax, c} {
			s := open(t, dir, rocks.Options{WAL: true, Compression: in})
			if err := s.Declare(families...); err != nil {
				t.Fatal(err)
			}
			write := s.Update
			if part%2 == 1 {
				write = s.UpdateBulk
			}
			err := write(context.Background(), func(_ storage.Reader, b storage.Batch) error {
				for i := part * rows / 3; i < (part+1)*rows/3; i++ {
					for _, d := range families {
						b.Put(d.Family, key(d.Family, i), fmt.Appendf(nil, "%d to %d", i, i/3))
					}
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			if part == 2 {
				if err := s.Compact(context.Background()); err != nil {
					t.Fatal(err)
				}
				for _, d := range families {
					sizes[c] += size(t, s, d.Family)
					for i := range rows {
						if i%97 != 0 {
							continue
						}
						if v := get(t, s, d.Family, key(d.Family, i)); v != fmt.Sprintf("%d to %d", i, i/3) {
							t.Fatalf("%s, %s: row %d is %q", c, d.Name, i, v)
						}
					}
				}
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if sizes[storage.CompressionMax] >= sizes[storage.CompressionDefault] {
		t.Errorf("max %d, default %d bytes", sizes[storage.CompressionMax], sizes[storage.CompressionDefault])
	}
}

func get(t *testing.T, s storage.Store, f storage.Family, key []byte) (value string) {
	t.Helper()
	err := s.View(context.Background(), func(r storage.Reader) error {
		v, err := r.Get(f, key)
		value = string(v)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return value
}
