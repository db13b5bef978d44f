package rocks

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"birthmark/storage"
)

// No options file is written, although families are created and options changed. A file of an earlier version is
// ignored.
func TestNoFileOfOptionsIsWritten(t *testing.T) {
	dir := t.TempDir()
	old := filepath.Join(dir, "OPTIONS-000007")
	for _, before := range []string{"new", "closed"} {
		s := openBoth(t, dir)
		ctx := context.Background()
		spreadRows(t, s.UpdateBulk, 0)
		if !s.compactionDelay.on {
			t.Fatal("a bulk update changed no option")
		}
		if err := s.Flush(ctx); err != nil {
			t.Fatal(err)
		}
		if err := s.Drop(ctx, storage.Declaration{Family: soon, Name: "soon"}); err != nil {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		found, err := filepath.Glob(filepath.Join(dir, "OPTIONS-*"))
		if err != nil || before == "new" && len(found) > 0 || before == "closed" && (len(found) != 1 || found[0] != old) {
			t.Errorf("a %s database has %q (%v)", before, found, err)
		}
		if err := os.WriteFile(old, []byte("[Version]\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
