package rocks_test

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"birthmark/internal/testrun"
	"birthmark/internal/testseed"
	"birthmark/storage/rocks"
)

// A read-only open succeeds during any writes of another process, and shows one consistent state.
func TestReaderBesideAnotherProcessShowsOneMoment(t *testing.T) {
	testrun.Slow(t)
	const opens = 30
	for _, wal := range []bool{true, false} {
		t.Run(fmt.Sprintf("WAL %t", wal), func(t *testing.T) {
			t.Parallel()
			rng, dir := testseed.Rand(t), t.TempDir()
			w := start(t, "writer", dir, strconv.FormatBool(wal), strconv.FormatUint(rng.Uint64(), 10), "grow", "sometimes")
			for line := ""; !strings.HasPrefix(line, "durable"); line = w.line() {
			}
			w.ignoreOutput()
			last, lastCount := 0, 0
			for range opens {
				n, count := readMoment(t, dir)
				if n < last || count < lastCount {
					t.Errorf("a reader sees update %d with %d families after update %d with %d", n, count, last, lastCount)
				}
				last, lastCount = n, count
			}
			if last == 0 {
				t.Error("no update was seen")
			}
			t.Logf("the last reader saw update %d and %d families", last, lastCount)
		})
	}
}

// readMoment opens the database read-only and reads it twice.
func readMoment(t *testing.T, dir string) (n, count int) {
	t.Helper()
	s, err := rocks.Open(dir, rocks.Options{ReadOnly: true})
	if err != nil {
		t.Fatalf("open to read: %v", err)
	}
	defer s.Close()
	if err := declare(s, most); err != nil {
		t.Fatal(err)
	}
	if n, count, err = moment(s, most); err != nil {
		t.Fatal(err)
	}
	again, _, err := moment(s, most)
	if err != nil || again != n {
		t.Errorf("an open reader moved from update %d to %d, %v", n, again, err)
	}
	return n, count
}

func TestReaderKeepsItsMoment(t *testing.T) {
	for _, wal := range []bool{true, false}[:testrun.Amount(2, 1)] {
		t.Run(fmt.Sprintf("WAL %t", wal), func(t *testing.T) {
			dir, ctx := t.TempDir(), context.Background()
			w := open(t, dir, small(wal))
			if err := declare(w, families); err != nil {
				t.Fatal(err)
			}
			for n := 1; n <= 50; n++ {
				if err := write(w, n, families); err != nil {
					t.Fatal(err)
				}
			}
			if err := w.Flush(ctx); err != nil {
				t.Fatal(err)
			}
			r := open(t, dir, rocks.Options{ReadOnly: true})
			if err := declare(r, most); err != nil {
				t.Fatal(err)
			}
			if err := declare(w, most); err != nil {
				t.Fatal(err)
			}
			for n := 51; n <= 90; n++ { // every row of the reader's state is deleted and compacted
				if err := write(w, n, families); err != nil {
					t.Fatal(err)
				}
			}
			if err := w.Compact(ctx); err != nil {
				t.Fatal(err)
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			if n, _, err := moment(r, most); err != nil || n != 50 {
				t.Errorf("the reader is at update %d, %v; want 50", n, err)
			}
			if n, _ := readMoment(t, dir); n != 90 {
				t.Errorf("a new reader is at update %d, want 90", n)
			}
		})
	}
}

// files returns the files of a folder with their sizes and times.
func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	found := map[string]string{}
	for _, name := range names(t, dir) {
		path := filepath.Join(dir, name)
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		found[name] = fmt.Sprintf("%d bytes, %v, %x", len(content), info.ModTime(), content)
	}
	return found
}

func TestReaderWritesNothing(t *testing.T) {
	for name, closed := range map[string]bool{"a closed database": true, "one that is held": false} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			o := small(true)
			o.WriteBuffers = 64 << 20 // no automatic flush: the database is idle
			w := open(t, dir, o)
			if err := declare(w, families); err != nil {
				t.Fatal(err)
			}
			for n := 1; n <= 3; n++ {
				if err := write(w, n, families); err != nil {
					t.Fatal(err)
				}
			}
			if closed {
				if err := w.Close(); err != nil {
					t.Fatal(err)
				}
			}
			before := files(t, dir)
			if n, _ := readMoment(t, dir); n != 3 {
				t.Errorf("the reader is at update %d, want 3", n)
			}
			after := files(t, dir)
			for name := range before {
				if after[name] != before[name] {
					t.Errorf("%s was changed", name)
				}
			}
			if !slices.Equal(names(t, dir), slices.Sorted(maps.Keys(before))) {
				t.Errorf("the folder has %q, had %q", names(t, dir), slices.Sorted(maps.Keys(before)))
			}
		})
	}
}

// A read-only store needs no write permission. (When root runs the test, it proves nothing.)
func TestReaderNeedsNoRightToWrite(t *testing.T) {
	dir := t.TempDir()
	w := open(t, dir, small(true))
	if err := declare(w, families); err != nil {
		t.Fatal(err)
	}
	if err := write(w, 1, families); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o555); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.Chmod(dir, 0o755) })
	if n, _ := readMoment(t, dir); n != 1 {
		t.Errorf("the reader is at update %d, want 1", n)
	}
}
