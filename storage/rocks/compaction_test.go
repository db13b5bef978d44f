package rocks_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"birthmark/internal/testrun"
	"birthmark/internal/testseed"
	"birthmark/storage"
	"birthmark/storage/rocks"
)

// fill writes count rows of about 1000 bytes that do not compress.
func fill(t *testing.T, s storage.Store, f storage.Family, count int) {
	t.Helper()
	err := s.Update(context.Background(), func(_ storage.Reader, b storage.Batch) error {
		for i := range count {
			b.Put(f, fmt.Appendf(nil, "%06d", i), noise(i))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func noise(i int) (value []byte) {
	for part := range 31 {
		sum := sha256.Sum256(fmt.Appendf(nil, "%d %d", i, part))
		value = append(value, sum[:]...)
	}
	return value
}

func size(t *testing.T, s *rocks.Store, f storage.Family) int64 {
	t.Helper()
	n, err := s.Size(f)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// wantAbout fails unless a size is within 25% of another plus an empty memtable.
func wantAbout(t *testing.T, what string, got, want int64) {
	t.Helper()
	if got < want*3/4 || got > want*5/4+2<<20 {
		t.Errorf("%s: %d bytes, want about %d", what, got, want)
	}
}

func TestSizeCountsFamilyAndCompactFreesSpace(t *testing.T) {
	testrun.Slow(t)
	const count = 8000
	for _, wal := range []bool{true, false} {
		t.Run(fmt.Sprintf("WAL %t", wal), func(t *testing.T) {
			ctx := context.Background()
			s := open(t, t.TempDir(), rocks.Options{WAL: wal, WriteBuffers: 64 << 20})
			if err := declare(s, 2); err != nil {
				t.Fatal(err)
			}
			fill(t, s, 0, count)
			wantAbout(t, "in buffers", size(t, s, 0), count*1000)
			wantAbout(t, "of the other family", size(t, s, 1), 0)
			if err := s.Compact(ctx); err != nil {
				t.Fatal(err)
			}
			wantAbout(t, "in tables", size(t, s, 0), count*1000)

			// Deleted rows that no View can read use no space after Compact.
			err := s.Update(ctx, func(_ storage.Reader, b storage.Batch) error {
				for i := range count {
					if i%4 != 0 {
						b.Delete(0, fmt.Appendf(nil, "%06d", i))
					}
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			if err := s.Compact(ctx); err != nil {
				t.Fatal(err)
			}
			wantAbout(t, "after a delete", size(t, s, 0), count*1000/4)
			if _, err := s.Size(9); err == nil {
				t.Error("Size of an undeclared family: no error")
			}
		})
	}
}

func TestCancelledCompactIsAnError(t *testing.T) {
	s := open(t, t.TempDir(), small(true))
	if err := declare(s, 1); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := s.Compact(ctx); err != context.Canceled {
		t.Errorf("Compact: %v, want %v", err, context.Canceled)
	}
}

// A Compact may be canceled at any time. No row changes, and the next Compact completes it.
func TestCompactCanBeCancelledAtAnyMoment(t *testing.T) {
	testrun.Slow(t)
	const count = 4000
	rng := testseed.Rand(t)
	s := open(t, t.TempDir(), rocks.Options{WriteBuffers: 64 << 20})
	if err := declare(s, 2); err != nil {
		t.Fatal(err)
	}
	cancelled := 0
	for range testrun.Amount(10, 2) {
		fill(t, s, 0, count)
		fill(t, s, 1, count)
		ctx, cancel := context.WithTimeout(context.Background(), time.Duration(rng.Int64N(int64(150*time.Millisecond))))
		if err := s.Compact(ctx); errors.Is(err, context.DeadlineExceeded) {
			cancelled++
		} else if err != nil {
			t.Error(err)
		}
		cancel()
	}
	t.Logf("%d were canceled", cancelled)
	if err := s.Compact(context.Background()); err != nil {
		t.Fatal(err)
	}
	for f := range storage.Family(2) {
		wantAbout(t, "after the last Compact", size(t, s, f), count*1000)
		err := s.View(context.Background(), func(r storage.Reader) error {
			i := 0
			for kv, err := range r.Scan(f, nil, nil, false) {
				if err != nil || string(kv.Key) != fmt.Sprintf("%06d", i) || !bytes.Equal(kv.Value, noise(i)) {
					t.Fatalf("row %d of family %d is %q, %v", i, f, kv.Key, err)
				}
				i++
			}
			if i != count {
				t.Errorf("family %d has %d rows, want %d", f, i, count)
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	}
}

// copyOf copies an open database: the state after a crash.
func copyOf(t *testing.T, dir string) string {
	t.Helper()
	copied := t.TempDir()
	if err := os.CopyFS(copied, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	return copied
}

func TestUpdatesOutliveACrashOnceFlushedOrWithTheWAL(t *testing.T) {
	for _, c := range []struct{ wal, flush bool }{{true, false}, {true, true}, {false, false}, {false, true}} {
		t.Run(fmt.Sprintf("WAL %t, flushed %t", c.wal, c.flush), func(t *testing.T) {
			dir := t.TempDir()
			s := open(t, dir, rocks.Options{WAL: c.wal, WriteBuffers: 64 << 20}) // no automatic flush
			if err := declare(s, families); err != nil {
				t.Fatal(err)
			}
			for n := 1; n <= 5; n++ {
				if err := write(s, n, families); err != nil {
					t.Fatal(err)
				}
			}
			if c.flush {
				if err := s.Flush(context.Background()); err != nil {
					t.Fatal(err)
				}
			}
			crashed := open(t, copyOf(t, dir), small(c.wal))
			if err := declare(crashed, families); err != nil {
				t.Fatal(err)
			}
			want := 5
			if !c.wal && !c.flush {
				want = 0
			}
			if n, _, err := moment(crashed, families); err != nil || n != want {
				t.Errorf("after a crash the database is at update %d, %v; want %d", n, err, want)
			}
		})
	}
}

func TestRowsOutliveAChangeOfTheWAL(t *testing.T) {
	dir, n := t.TempDir(), 0
	for _, wal := range []bool{true, false, false, true, true, false, true} {
		s := open(t, dir, small(wal))
		if err := declare(s, families); err != nil {
			t.Fatal(err)
		}
		if at, _, err := moment(s, families); err != nil || at != n {
			t.Fatalf("the database is at update %d, %v; want %d", at, err, n)
		}
		for range 7 {
			n++
			if err := write(s, n, families); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if tables(t, dir) == 0 {
		t.Error("no table was written: the buffers are not small enough for this test")
	}
}

// tables returns the number of table files.
func tables(t *testing.T, dir string) int {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "*.sst"))
	if err != nil {
		t.Fatal(err)
	}
	return len(paths)
}

// The number of families of two indexes, with the buffers of the smallest --memory.
func TestSmallUpdatesOfManyFamiliesStayInBuffers(t *testing.T) {
	const many = 24
	dir := t.TempDir()
	s := open(t, dir, rocks.Options{WAL: true, WriteBuffers: 12 << 20})
	if err := declare(s, many); err != nil {
		t.Fatal(err)
	}
	for n := range 20 {
		err := s.Update(context.Background(), func(_ storage.Reader, b storage.Batch) error {
			for f := range storage.Family(many) {
				b.Put(f, rowKey(n), noise(n))
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if n := tables(t, dir); n != 0 {
		t.Errorf("%d tables were written for %d small rows", n, 20*many)
	}
}

func TestFlushOfAReaderIsHarmless(t *testing.T) {
	dir := t.TempDir()
	w := open(t, dir, small(true))
	if err := declare(w, 1); err != nil {
		t.Fatal(err)
	}
	r := open(t, dir, rocks.Options{ReadOnly: true})
	if err := r.Flush(context.Background()); err != nil {
		t.Errorf("Flush: %v", err)
	}
}
