package storetest

import (
	"context"
	"fmt"
	"path/filepath"
	"strconv"
	"testing"

	"birthmark/internal/testseed"
	"birthmark/storage"
)

// runCheckpoints checks the guarantees of [storage.Checkpointer], if the store is one.
func runCheckpoints(t *testing.T, open func(t *testing.T, dir string) storage.Store) {
	begin := func(t *testing.T) (dir string, s storage.Store, checkpoint func(name string) (path string)) {
		dir = t.TempDir()
		s = open(t, filepath.Join(dir, "store"))
		c, ok := s.(storage.Checkpointer)
		if !ok {
			closeStore(t, s)
			t.Skip("the store has no checkpoints")
		}
		if err := s.Declare(declarations...); err != nil {
			t.Fatal(err)
		}
		return dir, s, func(name string) string {
			path := filepath.Join(dir, name)
			if err := c.Checkpoint(context.Background(), path); err != nil {
				t.Fatalf("checkpoint: %v", err)
			}
			return path
		}
	}
	reopen := func(t *testing.T, path string) storage.Store {
		t.Helper()
		s := open(t, path)
		if err := s.Declare(declarations...); err != nil {
			t.Fatal(err)
		}
		return s
	}
	t.Run("a checkpoint has the rows of its moment, whatever is written later to either", func(t *testing.T) {
		_, s, checkpoint := begin(t)
		defer closeStore(t, s)
		m := newModel(testseed.Rand(t))
		for i := range 4 {
			for range 20 {
				m.step(t, s)
			}
			path := checkpoint(strconv.Itoa(i))
			before := all(t, s)
			copied := reopen(t, path)
			wantContent(t, copied, "a checkpoint", before)
			for range 20 {
				m.step(t, s)
			}
			wantContent(t, copied, "updates of the original", before)
			put(t, copied, lookup, "only in the checkpoint", "1")
			m.compare(t, s)
			closeStore(t, copied)
		}
	})
	t.Run("a checkpoint beside updates has all of an update or nothing", func(t *testing.T) {
		_, s, checkpoint := begin(t)
		const updates, checkpoints = 60, 6
		written := make(chan struct{})
		go func() {
			defer close(written)
			for n := 1; n <= updates; n++ {
				if err := s.Update(context.Background(), numbered(n)); err != nil {
					t.Error(err)
					return
				}
			}
		}()
		last := 0
		for i := range checkpoints {
			if i == checkpoints-1 {
				<-written
			}
			copied := reopen(t, checkpoint(strconv.Itoa(i)))
			n, err := agreed(copied)
			if err != nil || n < last {
				t.Errorf("checkpoint %d is at update %d, the one before at %d: %v", i, n, last, err)
			}
			last = n
			closeStore(t, copied)
		}
		closeStore(t, s)
		if last != updates {
			t.Errorf("the last checkpoint is at update %d, want %d", last, updates)
		}
	})
	t.Run("a checkpoint replaces no folder and needs an open store", func(t *testing.T) {
		dir, s, checkpoint := begin(t)
		put(t, s, lookup, "a", "1")
		first := checkpoint("first")
		c := s.(storage.Checkpointer)
		if err := c.Checkpoint(context.Background(), first); err == nil {
			t.Error("a checkpoint was written into an existing folder")
		}
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		if err := c.Checkpoint(ctx, filepath.Join(dir, "second")); err == nil {
			t.Error("a canceled checkpoint succeeded")
		}
		closeStore(t, s)
		if err := c.Checkpoint(context.Background(), filepath.Join(dir, "third")); err == nil {
			t.Error("a closed store made a checkpoint")
		}
		copied := reopen(t, first)
		defer closeStore(t, copied)
		view(t, copied, func(r storage.Reader) { wantGet(t, r, lookup, "a", "1") })
	})
}

// numbered is an update of all families, which [agreed] checks.
func numbered(n int) func(storage.Reader, storage.Batch) error {
	return func(_ storage.Reader, b storage.Batch) error {
		for _, f := range families {
			b.Put(f, []byte("n"), []byte(strconv.Itoa(n)))
			b.Put(f, fmt.Appendf(nil, "row %06d", n), nil)
			b.Delete(f, fmt.Appendf(nil, "row %06d", n-10)) // ten rows remain
		}
		return nil
	}
}
