package query

import (
	"testing"

	"birthmark/model"
)

// FuzzCursor: no text makes the reader of cursors panic, and what it takes is what it would write.
func FuzzCursor(f *testing.F) {
	f.Add("")
	f.Add((&cursor{position: make([]byte, model.PkSize)}).String())
	f.Fuzz(func(t *testing.T, s string) {
		if c, err := parseCursor(s); err == nil && c.String() != s {
			t.Errorf("%q was read, %q is written", s, c.String())
		}
	})
}
