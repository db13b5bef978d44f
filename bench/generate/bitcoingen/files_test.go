package bitcoingen

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// A block is in one file. A block that does not fit begins the next file.
func TestBlockFileSizeLimit(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "b")
	w, err := createFiles(dir, 10)
	if err != nil {
		t.Fatal(err)
	}
	for _, record := range []string{"1234", "567890", "x", "123456789", "y", "0123456789"} {
		if err := w.append([]byte(record)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.close(); err != nil {
		t.Fatal(err)
	}
	for name, expected := range map[string]string{
		"blk00000.dat": "1234567890", "blk00001.dat": "x123456789", "blk00002.dat": "y", "blk00003.dat": "0123456789",
	} {
		if got, err := os.ReadFile(filepath.Join(dir, name)); err != nil || !bytes.Equal(got, []byte(expected)) {
			t.Errorf("%s has %q (%v), expected %q", name, got, err, expected)
		}
	}
	if found, err := os.ReadDir(dir); err != nil || len(found) != 4 {
		t.Errorf("%v: %v", found, err)
	}
}
