package rocks_test

import (
	"context"
	"fmt"
	"testing"

	"golang.org/x/sync/errgroup"

	"birthmark/internal/testrun"
	"birthmark/storage"
	"birthmark/storage/rocks"
)

// Updates of both kinds during a compaction are not lost.
func TestUpdatesGoOnBesideCompact(t *testing.T) {
	ctx := context.Background()
	for _, wal := range []bool{true, false} {
		dir := t.TempDir()
		s := open(t, dir, rocks.Options{WAL: wal, WriteBuffers: 8 << 20})
		family := storage.Declaration{Family: 1, Name: "grouped", Access: storage.Grouped, DeferCompaction: true}
		if err := s.Declare(family); err != nil {
			t.Fatal(err)
		}
		updates, rows := testrun.Amount(60, 12), 500
		value := func(i int) string { return fmt.Sprintf("%d of all", i) }
		g, _ := errgroup.WithContext(ctx)
		done := make(chan struct{})
		g.Go(func() error {
			defer close(done)
			for u := range updates {
				write := s.Update
				if u%3 == 0 {
					write = s.UpdateBulk
				}
				err := write(ctx, func(_ storage.Reader, b storage.Batch) error {
					for i := range rows {
						b.Put(1, fmt.Appendf(nil, "%06d", i*updates+u), []byte(value(u)))
					}
					return nil
				})
				if err != nil {
					return err
				}
			}
			return nil
		})
		g.Go(func() error {
			for {
				select {
				case <-done:
					return nil
				default:
				}
				if err := s.Compact(ctx); err != nil {
					return err
				}
			}
		})
		if err := g.Wait(); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			n := 0
			err := s.View(ctx, func(r storage.Reader) error {
				for kv, err := range r.Scan(1, nil, nil, false) {
					if err != nil {
						return err
					}
					if string(kv.Key) != fmt.Sprintf("%06d", n) || string(kv.Value) != value(n%updates) {
						t.Fatalf("row %d is %s -> %s", n, kv.Key, kv.Value)
					}
					n++
				}
				return nil
			})
			if err != nil || n != updates*rows {
				t.Fatalf("%d rows of %d, %v", n, updates*rows, err)
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			s = open(t, dir, rocks.Options{WAL: wal})
			if err := s.Declare(family); err != nil {
				t.Fatal(err)
			}
		}
	}
}
