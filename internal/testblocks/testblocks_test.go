package testblocks_test

import (
	"os"
	"path/filepath"
	"testing"

	"birthmark/internal/testblocks"
)

func TestPathsAreFoundOrTheTestIsSkipped(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "chain", "blocks-1.dat")
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("BIRTHMARK_DATA", dir)
	t.Setenv("BIRTHMARK_REQUIRE_DATA", "")
	for _, name := range []string{"blocks-1.dat", "blocks-*.dat"} {
		if got := testblocks.Path(t, "chain", name); got != file {
			t.Errorf("%s is %s", name, got)
		}
	}
	skipped := false
	t.Run("absent", func(t *testing.T) {
		defer func() { skipped = t.Skipped() }()
		testblocks.Path(t, "chain", "blocks-2.dat")
	})
	if !skipped {
		t.Error("a test without its data was not skipped")
	}
}
