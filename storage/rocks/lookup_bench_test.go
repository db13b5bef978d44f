package rocks_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"golang.org/x/sys/unix"

	"birthmark/storage"
	"birthmark/storage/rocks"
)

// BenchmarkLookups reads present and absent keys of a compacted family that was written with a small or a large block
// cache, so that its filters are in partitions or whole, and that is read with one: many keys, as a block at the tip
// reads them, or few, as a page of a list does. It reports CPU time, with background threads.
func BenchmarkLookups(b *testing.B) {
	const small, large = 1 << 20, 256 << 20
	spends := storage.Declaration{Family: 1, Name: "spends", Access: storage.Lookup, DeferCompaction: true}
	openWith := func(dir string, cache int64) *rocks.Store {
		s := open(b, dir, rocks.Options{WAL: true, BlockCache: cache})
		if err := s.Declare(spends); err != nil {
			b.Fatal(err)
		}
		return s
	}
	names := map[int64]string{small: "small", large: "large"}
	for _, written := range []int64{small, large} {
		dir := b.TempDir()
		s := openWith(dir, written)
		for part := range 4 { // overlapping tables, so that the compaction writes new ones
			err := s.UpdateBulk(context.Background(), func(_ storage.Reader, batch storage.Batch) error {
				for i := part; i < lookupRows; i += 4 {
					batch.Put(1, lookupKey(i), binary.BigEndian.AppendUint64(nil, uint64(i)*0x9e3779b97f4a7c15))
				}
				return nil
			})
			if err != nil {
				b.Fatal(err)
			}
		}
		if err := errors.Join(s.Compact(context.Background()), s.Close()); err != nil {
			b.Fatal(err)
		}
		for _, read := range []int64{small, large} {
			s := openWith(dir, read)
			for _, n := range []int{2000, 25} {
				for _, present := range []bool{false, true} {
					b.Run(fmt.Sprintf("written=%s/read=%s/keys=%d/present=%v", names[written], names[read], n, present),
						func(b *testing.B) { benchmarkLookups(b, s, n, present) })
				}
			}
			if err := s.Close(); err != nil {
				b.Fatal(err)
			}
		}
	}
}

const lookupRows = 2_000_000

func lookupKey(i int) []byte { return binary.BigEndian.AppendUint64(nil, uint64(i)*32) }

func benchmarkLookups(b *testing.B, s *rocks.Store, n int, present bool) {
	random := rand.New(rand.NewPCG(1, 1))
	keys := make([][]byte, n)
	before, lookups := cpu(b), 0
	for b.Loop() {
		for i := range keys {
			if keys[i] = lookupKey(random.IntN(lookupRows)); !present {
				keys[i][7]++
			}
		}
		err := s.View(context.Background(), func(r storage.Reader) error {
			_, err := r.GetMany(1, keys)
			return err
		})
		if err != nil {
			b.Fatal(err)
		}
		lookups += n
	}
	b.ReportMetric(float64(cpu(b)-before)/float64(lookups), "cpu-ns/lookup")
}

// cpu returns the CPU time of the process in nanoseconds.
func cpu(b *testing.B) int64 {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return u.Utime.Nano() + u.Stime.Nano()
}
