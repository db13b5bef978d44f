package immutable

import (
	"path/filepath"
	"slices"
	"testing"

	"birthmark/internal/testblocks"
)

// TestRealChunks: the number of blocks equals the data's manifest, and every CRC-32 matches.
func TestRealChunks(t *testing.T) {
	for _, c := range []struct {
		path        string
		blocks      int
		boundaries  int
		first, last uint64 // slots
	}{
		{"dingo-immutable", 50_940, 0, 0, 1_123_185},
		{"daedalus-turbo/chunk-registry/compressed/chunk/526D236112DB8E38E66F37D330C85AFE0C268D81DF853DDDE4E88551EB9B0637.zstd", 21_587, 1, 0, 21_599},
		{"daedalus-turbo/chunk-registry/compressed/chunk/DF597E3FA352A7BD2F021733804C33729EBAA3DCAA9C0643BD263EFA09497B03.zstd", 1_078, 0, 10_800_000, 10_821_566},
		{"pallas/01285.chunk", 864, 0, 27_756_007, 27_777_565},
		{"catalyst-libs/chain-follower/examples/snapshot_data/02272.chunk", 14, 0, 49_075_251, 49_075_617},
	} {
		d := mustOpen(t, testblocks.Path(t, "cardano", filepath.FromSlash(c.path)))
		entries, _, err := readAll(t, d, Position{})
		if err != nil {
			t.Fatal(err)
		}
		boundaries := 0
		for _, e := range entries {
			if e.Boundary {
				boundaries++
			}
		}
		if len(entries) != c.blocks || boundaries != c.boundaries {
			t.Errorf("%s: %d blocks, %d of boundaries; expected %d and %d", c.path, len(entries), boundaries, c.blocks, c.boundaries)
			continue
		}
		if first, last := entries[0].Slot, entries[len(entries)-1].Slot; first != c.first || last != c.last {
			t.Errorf("%s: slots %d to %d, expected %d to %d", c.path, first, last, c.first, c.last)
		}
	}
}

// TestBlocksMatchTheirIndexes: a real chunk has the same entries without its index.
func TestBlocksMatchTheirIndexes(t *testing.T) {
	for _, folder := range []string{"dingo-immutable", "pallas", "catalyst-libs/chain-follower/examples/snapshot_data"} {
		d := mustOpen(t, testblocks.Path(t, "cardano", filepath.FromSlash(folder)))
		for n := d.first; n <= d.last; n++ {
			indexed, err := d.entries(n)
			if err != nil {
				t.Fatal(err)
			}
			c, err := d.open(n)
			if err != nil {
				t.Fatal(err)
			}
			walked, err := walk(c)
			c.close()
			if err != nil {
				t.Fatal(err)
			}
			if len(indexed) == 0 || !slices.Equal(indexed, walked) {
				t.Errorf("%s, chunk %d: the index has other entries than the blocks", folder, n)
			}
		}
	}
}

// BenchmarkRead reads all blocks of a real folder in order, on one goroutine.
func BenchmarkRead(b *testing.B) {
	d := mustOpen(b, testblocks.Path(b, "cardano", "dingo-immutable"))
	var buf []byte
	for b.Loop() {
		r := d.Reader()
		bytes := int64(0)
		for e, err := range d.Entries(b.Context(), Position{}) {
			if err == nil {
				buf, err = r.Read(e, buf)
			}
			if err != nil {
				b.Fatal(err)
			}
			bytes += int64(len(buf))
		}
		r.Close()
		b.SetBytes(bytes)
	}
}

// BenchmarkWalk finds all blocks of a real chunk without its index.
func BenchmarkWalk(b *testing.B) {
	d := mustOpen(b, testblocks.Path(b, "cardano", "pallas", "01285.chunk"))
	b.SetBytes(d.seen.bytes)
	for b.Loop() {
		if _, err := d.entries(d.first); err != nil {
			b.Fatal(err)
		}
	}
}
