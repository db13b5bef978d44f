package rocks_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"birthmark/internal/testrun"
	"birthmark/internal/testseed"
	"birthmark/storage"
	"birthmark/storage/rocks"
)

// openRole opens the database in a folder, to read if the second argument is to-read, and prints at which update it is,
// or the error. It is a separate process because RocksDB could abort it.
func openRole(args []string) error {
	o := small(true)
	o.ReadOnly = args[1] == "to-read"
	s, err := rocks.Open(args[0], o)
	if err != nil {
		if errors.Is(err, storage.ErrDamaged) {
			fmt.Println("damaged:", strings.ReplaceAll(err.Error(), "\n", " "))
			return nil
		}
		return err
	}
	defer s.Close()
	if err := declare(s, families); err != nil {
		return err
	}
	n, _, err := moment(s, families)
	if err != nil {
		return err
	}
	fmt.Println("update", n)
	return nil
}

// damageLogs changes the logs of a database at random and returns a description of the change.
func damageLogs(t *testing.T, rng *rand.Rand, dir string, logs []string) (did string) {
	t.Helper()
	path := func() string { return filepath.Join(dir, logs[rng.IntN(len(logs))]) }
	read := func(path string) []byte {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	save := func(path string, b []byte) {
		if err := os.WriteFile(path, b, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	at := func(n int) int { // often in the first record's header and the beginning of its batch
		if rng.IntN(3) == 0 {
			return rng.IntN(min(n, 24))
		}
		return rng.IntN(n)
	}
	a, b := path(), path()
	content := read(a)
	if len(content) == 0 {
		return ""
	}
	switch kind := rng.IntN(8); kind {
	case 0:
		for range 1 + rng.IntN(3) {
			content[at(len(content))] ^= 1 << rng.IntN(8)
		}
		did = "bits of " + filepath.Base(a)
		save(a, content)
	case 1:
		n := at(len(content))
		did = fmt.Sprintf("%s cut at %d", filepath.Base(a), n)
		save(a, content[:n])
	case 2:
		name := fmt.Sprintf("%06d.log", rng.IntN(60))
		did = filepath.Base(a) + " copied to " + name
		save(filepath.Join(dir, name), content)
	case 3:
		did = filepath.Base(a) + " and " + filepath.Base(b) + " swapped"
		save(a, read(b))
		save(b, content)
	case 4:
		did = filepath.Base(a) + " appended to " + filepath.Base(b)
		save(b, append(read(b), content...))
	case 5:
		n := at(len(content))
		did = fmt.Sprintf("%s repeated from %d", filepath.Base(a), n)
		save(a, append(content, content[n:]...))
	case 6:
		n := at(len(content))
		clear(content[n:min(len(content), n+1+rng.IntN(100_000))])
		did = fmt.Sprintf("zeros in %s at %d", filepath.Base(a), n)
		save(a, content)
	case 7:
		did = filepath.Base(a) + " removed"
		if err := os.Remove(a); err != nil {
			t.Fatal(err)
		}
	}
	return did
}

// A database whose logs were changed in any way opens at an update that it had, with all families at the same one, or is
// reported as damaged. It never aborts the process.
func TestDamagedLogsAreNeverAnAbort(t *testing.T) {
	rng := testseed.Rand(t)
	opened, damaged := 0, 0
	for round := range testrun.Rounds(t, testrun.Amount(10, 3)) {
		live := t.TempDir()
		w := start(t, "writer", live, "true", fmt.Sprint(rng.Uint64()), "steady", "never")
		for range 2 + rng.IntN(150) {
			w.line()
		}
		w.kill()
		paths, err := filepath.Glob(filepath.Join(live, "*.log"))
		if err != nil || len(paths) == 0 {
			t.Fatalf("%d logs, %v", len(paths), err)
		}
		var logs []string
		for _, path := range paths {
			logs = append(logs, filepath.Base(path))
		}
		for range 3 {
			dir := filepath.Join(t.TempDir(), "db")
			if err := os.CopyFS(dir, os.DirFS(live)); err != nil {
				t.Fatal(err)
			}
			did := damageLogs(t, rng, dir, logs)
			for _, way := range []string{"to-read", "to-write"} {
				c := start(t, "open", dir, way)
				line := ""
				if c.lines.Scan() {
					line = c.lines.Text()
				}
				c.ended = true
				if err := c.cmd.Wait(); err != nil {
					t.Errorf("round %d, %q of %q, %s: %v: %.3000s", round, did, logs, way, err, c.stderr.String())
				}
				if strings.HasPrefix(line, "damaged") {
					damaged++
				} else {
					opened++
				}
			}
		}
	}
	t.Logf("%d damaged, %d opened", damaged, opened)
}

// withoutRecord returns a log of less than a block without its nth record: a checksum of 4 bytes, the size in 2, a type.
func withoutRecord(t *testing.T, log []byte, n int) []byte {
	t.Helper()
	at := 0
	size := func() int { return 7 + int(binary.LittleEndian.Uint16(log[at+4:])) }
	for range n {
		at += size()
	}
	if size() == 7 || at+size() > 32<<10 {
		t.Fatalf("the log has no record %d in its first block", n)
	}
	return slices.Concat(log[:at], log[at+size():])
}

// If an update is missing between others in the logs, the database opens at the update before it: it never has later rows
// without earlier ones. Tables that were ingested between the updates are not a gap.
func TestReplayEndsAtGapBetweenUpdates(t *testing.T) {
	const updates = 6
	live := t.TempDir()
	s, err := rocks.Open(live, small(true))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := declare(s, families); err != nil {
		t.Fatal(err)
	}
	for i := range updates {
		// A table that overlaps another one takes a sequence number, which is in no log.
		err := s.UpdateBulk(t.Context(), func(_ storage.Reader, b storage.Batch) error {
			b.Put(3, rowKey(0), []byte("value"))
			return nil
		})
		if err == nil {
			err = s.Update(t.Context(), func(_ storage.Reader, b storage.Batch) error {
				b.Put(1, rowKey(i), []byte("value"))
				b.Put(2, rowKey(i), []byte("value"))
				return nil
			})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for missing := 1; missing <= updates; missing++ {
		for _, readOnly := range []bool{true, false} {
			dir := filepath.Join(t.TempDir(), "db")
			if err := os.CopyFS(dir, os.DirFS(live)); err != nil {
				t.Fatal(err)
			}
			logs, err := filepath.Glob(filepath.Join(dir, "*.log"))
			if err != nil || len(logs) == 0 {
				t.Fatal(logs, err)
			}
			newest := logs[len(logs)-1]
			log, err := os.ReadFile(newest)
			if err == nil && missing < updates {
				err = os.WriteFile(newest, withoutRecord(t, log, missing), 0o644)
			}
			if err != nil {
				t.Fatal(err)
			}
			o := small(true)
			o.ReadOnly = readOnly
			got, err := rocks.Open(dir, o)
			if err == nil {
				err = declare(got, families)
			}
			if err != nil {
				t.Fatal(err)
			}
			err = got.View(t.Context(), func(r storage.Reader) error {
				for i := range updates {
					for f := storage.Family(1); f <= 2; f++ {
						_, err := r.Get(f, rowKey(i))
						if err != nil && !errors.Is(err, storage.ErrNotFound) {
							return err
						}
						if (err == nil) != (i < missing) {
							t.Errorf("without update %d, read-only %t: row %d of family %d: %v", missing, readOnly, i, f, err)
						}
					}
				}
				return nil
			})
			if err != nil {
				t.Error(err)
			}
			if err := got.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

// If the newest log is missing or shorter than it was, the next process that writes warns once.
func TestMissingLogIsAWarning(t *testing.T) {
	for name, damage := range map[string]func(path string, size int64) error{
		"missing":   func(path string, _ int64) error { return os.Remove(path) },
		"truncated": func(path string, size int64) error { return os.Truncate(path, size/2) },
		"whole":     func(string, int64) error { return nil },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			var warnings []string
			o := small(true)
			o.Warn = func(message string) { warnings = append(warnings, message) }
			open := func() *rocks.Store {
				s, err := rocks.Open(dir, o)
				if err != nil {
					t.Fatal(err)
				}
				if err := declare(s, families); err != nil {
					t.Fatal(err)
				}
				return s
			}
			for range 3 { // each has a log of its own
				s := open()
				for i := range 20 {
					err := s.Update(t.Context(), func(_ storage.Reader, b storage.Batch) error {
						b.Put(1, fmt.Append(nil, i), make([]byte, 100))
						return nil
					})
					if err != nil {
						t.Fatal(err)
					}
				}
				if err := s.Close(); err != nil {
					t.Fatal(err)
				}
			}
			if len(warnings) > 0 {
				t.Fatal(warnings)
			}
			logs, err := filepath.Glob(filepath.Join(dir, "*.log"))
			if err != nil || len(logs) == 0 {
				t.Fatal(logs, err)
			}
			newest := logs[len(logs)-1]
			info, err := os.Stat(newest)
			if err != nil {
				t.Fatal(err)
			}
			if err := damage(newest, info.Size()); err != nil {
				t.Fatal(err)
			}
			for range 2 {
				if err := open().Close(); err != nil {
					t.Fatal(err)
				}
			}
			switch {
			case name == "whole" && len(warnings) > 0, name != "whole" && len(warnings) != 1:
				t.Error(warnings)
			case name != "whole" && !strings.Contains(warnings[0], filepath.Base(newest)):
				t.Errorf("%s is not named: %s", newest, warnings[0])
			}
		})
	}
}
