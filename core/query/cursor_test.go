package query

import (
	"testing"

	"birthmark/model"
)

// FuzzCursor checks that parseCursor does not panic, and that every cursor it accepts formats to the same text.
func FuzzCursor(f *testing.F) {
	f.Add("")
	f.Add((&cursor{position: make([]byte, model.PkSize)}).String())
	f.Fuzz(func(t *testing.T, s string) {
		if c, err := parseCursor(s); err == nil && c.String() != s {
			t.Errorf("%q is parsed, and formatted as %q", s, c.String())
		}
	})
}
