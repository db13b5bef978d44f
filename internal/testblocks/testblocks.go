// Package testblocks finds real blocks for tests. The blocks are not part of the repository.
package testblocks

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// Path returns a path below the folder in BIRTHMARK_DATA, or ../shared/data beside the repository if it is unset; a
// relative folder is relative to the top of the repository. The last element may be a [filepath.Glob] pattern that one
// path matches. If no such path exists, the test is skipped, or fails if BIRTHMARK_REQUIRE_DATA is 1.
func Path(t testing.TB, elements ...string) string {
	t.Helper()
	path, ok := Find(t, elements...)
	if !ok {
		t.Skipf("real blocks are absent: no %s (BIRTHMARK_DATA)", filepath.Join(elements...))
	}
	return path
}

// Find is [Path], but it reports that no such path exists instead of skipping the test.
func Find(t testing.TB, elements ...string) (path string, ok bool) {
	t.Helper()
	dir := os.Getenv("BIRTHMARK_DATA")
	if dir == "" {
		dir = "../shared/data"
	}
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(top(t), dir)
	}
	pattern := filepath.Join(append([]string{dir}, elements...)...)
	found, err := filepath.Glob(pattern)
	if err != nil {
		t.Fatal(err)
	}
	if len(found) == 0 && os.Getenv("BIRTHMARK_REQUIRE_DATA") == "1" {
		t.Fatalf("real blocks are absent: no %s (BIRTHMARK_DATA)", pattern)
	}
	if len(found) == 0 {
		return "", false
	}
	return found[0], true
}

// top is the folder of the go.mod of the program, not of a module below it. A test runs in the folder of its package.
func top(t testing.TB) string {
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		text, err := os.ReadFile(filepath.Join(dir, "go.mod"))
		if err == nil && bytes.HasPrefix(text, []byte("module birthmark\n")) {
			return dir
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			t.Fatal("the tests do not run inside the repository: no go.mod above")
		}
		dir = parent
	}
}
