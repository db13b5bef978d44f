package storage

import "testing"

func TestParseCompression(t *testing.T) {
	for text, want := range map[string]Compression{
		"default": CompressionDefault, "max": CompressionMax, "usual": CompressionDefault, "small": CompressionMax,
	} {
		got, err := ParseCompression(text)
		if err != nil || got != want {
			t.Errorf("%q is parsed as %v, %v, expected %v", text, got, err, want)
		}
		if name, old := CompressionAlias(text); old && name != want.String() || old != (text != want.String()) {
			t.Errorf("%q is an alias of %q, %t", text, name, old)
		}
	}
	for _, text := range []string{"", "most"} {
		if got, err := ParseCompression(text); err == nil {
			t.Errorf("%q is parsed as %v", text, got)
		}
	}
}
