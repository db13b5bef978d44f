package linked

import (
	"os"
	"path/filepath"
	"testing"
)

// Tables and overflow runs are the same files in both folders, and a change of another file is not seen in the original.
func TestCopyHasTablesAsLinks(t *testing.T) {
	for _, caches := range []bool{true, false} {
		from, to := t.TempDir(), filepath.Join(t.TempDir(), "copy")
		shared := map[string]bool{"1.sst": true, "CURRENT": false, "notes/caches": false, "overflow/run": true}
		for name := range shared {
			path := filepath.Join(from, name)
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(name), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if err := Copy(from, to, caches); err != nil {
			t.Fatal(err)
		}
		for name, link := range shared {
			content, err := os.ReadFile(filepath.Join(to, name))
			if !caches && filepath.Dir(name) != "." {
				if !os.IsNotExist(err) {
					t.Errorf("%s: %v, but caches are left out", name, err)
				}
				continue
			}
			if err != nil || string(content) != name {
				t.Errorf("%s is %q, %v", name, content, err)
			}
			a, aErr := os.Stat(filepath.Join(from, name))
			b, bErr := os.Stat(filepath.Join(to, name))
			if aErr != nil || bErr != nil || os.SameFile(a, b) != link {
				t.Errorf("%s: %v, %v; a link: %v", name, aErr, bErr, link)
			}
		}
	}
}
