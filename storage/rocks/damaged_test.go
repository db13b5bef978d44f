package rocks_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"birthmark/internal/testrun"
	"birthmark/storage"
	"birthmark/storage/rocks"
)

// damaged returns a database of three families with a changed byte in every block of rows.
func damaged(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	s := open(t, dir, small(false))
	if err := declare(s, 3); err != nil {
		t.Fatal(err)
	}
	for range 2 { // overlapping tables
		for f := range storage.Family(3) {
			fill(t, s, f, testrun.Amount(1000, 200))
		}
		if err := s.Flush(context.Background()); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	paths, err := filepath.Glob(filepath.Join(dir, "*.sst"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("%d tables, %v", len(paths), err)
	}
	for _, path := range paths {
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for i := 500; i < len(content)*9/10; i += 1000 { // index and filters are at the end
			content[i] ^= 0x20
		}
		if err := os.WriteFile(path, content, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func wantDamage(t *testing.T, dir, what string, err error) {
	t.Helper()
	if !errors.Is(err, storage.ErrDamaged) || !strings.Contains(err.Error(), dir) {
		t.Errorf("%s: %v, want an error that names %s", what, err, dir)
	}
}

// Every read of a damaged table returns an error that names the file, never wrong or missing rows.
func TestReadOfADamagedTableIsAnError(t *testing.T) {
	dir := damaged(t)
	for _, readOnly := range []bool{true, false} {
		o := small(true)
		o.ReadOnly = readOnly
		s := open(t, dir, o)
		if err := declare(s, 3); err != nil {
			t.Fatal(err)
		}
		err := s.View(context.Background(), func(r storage.Reader) error {
			for f := range storage.Family(3) {
				_, err := r.Get(f, []byte("000000"))
				wantDamage(t, dir, "Get", err)
				_, err = r.GetMany(f, [][]byte{[]byte("000100"), []byte("absent"), []byte("000900")})
				wantDamage(t, dir, "GetMany", err)
				for _, reverse := range []bool{false, true} {
					var last error
					for _, last = range r.Scan(f, nil, nil, reverse) {
					}
					wantDamage(t, dir, "Scan", last)
				}
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
		s.Close()
	}
}

func TestCompactOfADamagedTableIsAnError(t *testing.T) {
	testrun.Slow(t)
	dir := damaged(t)
	s := open(t, dir, small(false))
	if err := declare(s, 3); err != nil {
		t.Fatal(err)
	}
	wantDamage(t, dir, "Compact", s.Compact(context.Background()))
}

// A missing or truncated write-ahead log is an error of Open, read-only or not. Otherwise the rows of later logs would
// be present without the rows of this log.
func TestAMissingOrCutLogIsAnErrorOfOpen(t *testing.T) {
	testrun.Slow(t) // opens copies of a database of 60 MB
	live := t.TempDir()
	o := small(true)
	o.WriteBuffers = 256 << 20
	s := open(t, live, o)
	if err := declare(s, 2); err != nil {
		t.Fatal(err)
	}
	fill(t, s, 1, 10) // stays in a memtable and keeps the first log
	for range 60 {
		fill(t, s, 0, 1000) // 1 MB, sometimes flushed
	}
	logs, err := filepath.Glob(filepath.Join(live, "*.log"))
	if err != nil || len(logs) < 3 {
		t.Fatalf("%d logs, %v: expected three or more", len(logs), err)
	}
	middle := filepath.Base(logs[1])
	for name, damage := range map[string]func(path string) error{
		"missing": os.Remove,
		"cut":     func(path string) error { return os.Truncate(path, 100) },
		"whole":   nil,
	} {
		for _, readOnly := range []bool{true, false} {
			dir := filepath.Join(t.TempDir(), "db")
			if err := os.CopyFS(dir, os.DirFS(live)); err != nil { // the state after a kill
				t.Fatal(err)
			}
			if damage != nil {
				if err := damage(filepath.Join(dir, middle)); err != nil {
					t.Fatal(err)
				}
			}
			o := small(true)
			o.ReadOnly = readOnly
			s, err := rocks.Open(dir, o)
			if err == nil {
				if err := s.Close(); err != nil {
					t.Error(err)
				}
			}
			if damage == nil && err != nil {
				t.Errorf("an intact database, read-only %t: %v", readOnly, err)
			}
			if damage != nil && (err == nil || !strings.Contains(err.Error(), dir) || !strings.Contains(err.Error(), "WAL")) {
				t.Errorf("log %s, read-only %t: %v, expected an error that names %s and the log", name, readOnly, err, dir)
			}
		}
	}
}

// A copy of a log under a higher number, or behind its own records, is reported: RocksDB with assertions would abort the
// process.
func TestACopiedLogIsDamage(t *testing.T) {
	dir := t.TempDir()
	o := small(false)
	o.WAL = true
	for n := range 3 { // each opening begins a log
		s := open(t, dir, o)
		if err := declare(s, 1); err != nil {
			t.Fatal(err)
		}
		err := s.Update(t.Context(), func(_ storage.Reader, b storage.Batch) error {
			b.Put(0, []byte{byte(n)}, []byte("row"))
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		logs, err := filepath.Glob(filepath.Join(dir, "*.log"))
		if err != nil || len(logs) == 0 {
			t.Fatalf("%d logs, %v", len(logs), err)
		}
		for _, log := range logs { // a closed store may have none
			content, err := os.ReadFile(log)
			if err != nil {
				t.Fatal(err)
			}
			if len(content) == 0 {
				continue
			}
			of := t.TempDir()
			if err := os.CopyFS(of, os.DirFS(dir)); err != nil {
				t.Fatal(err)
			}
			for _, readOnly := range []bool{false, true} {
				o := o
				o.ReadOnly = readOnly
				whole, err := rocks.Open(of, o)
				if err != nil {
					t.Fatal(err)
				}
				if err := whole.Close(); err != nil {
					t.Fatal(err)
				}
				for name, content := range map[string][]byte{"900000.log": content, filepath.Base(log): slices.Concat(content, content)} {
					damaged := t.TempDir()
					if err := os.CopyFS(damaged, os.DirFS(dir)); err != nil {
						t.Fatal(err)
					}
					if err := os.WriteFile(filepath.Join(damaged, name), content, 0o644); err != nil {
						t.Fatal(err)
					}
					if _, err := rocks.Open(damaged, o); !errors.Is(err, storage.ErrDamaged) || !strings.Contains(err.Error(), name) {
						t.Errorf("read-only %t: %v, expected the name of the log %s", readOnly, err, name)
					}
				}
			}
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
