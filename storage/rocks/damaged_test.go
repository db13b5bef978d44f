package rocks_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"birthmark/storage"
)

// damaged is a database of three families with a changed byte in every block of rows.
func damaged(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	s := open(t, dir, small(false))
	if err := declare(s, 3); err != nil {
		t.Fatal(err)
	}
	for range 2 { // tables that have to be merged
		for f := range storage.Family(3) {
			fill(t, s, f, 1000)
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
		for i := 500; i < len(content)*9/10; i += 1000 { // index and filters stand at the end
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
	if err == nil || errors.Is(err, storage.ErrNotFound) || !strings.Contains(err.Error(), dir) {
		t.Errorf("%s: %v, want an error that names %s", what, err, dir)
	}
}

// Whatever is read of a damaged table is an error that names the place: never another answer, never silence.
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
	dir := damaged(t)
	s := open(t, dir, small(false))
	if err := declare(s, 3); err != nil {
		t.Fatal(err)
	}
	wantDamage(t, dir, "Compact", s.Compact(context.Background()))
}
