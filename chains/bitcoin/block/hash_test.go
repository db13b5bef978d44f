package block

import (
	"strings"
	"testing"

	"birthmark/model"
)

func TestHashesAreWrittenInDisplayOrder(t *testing.T) {
	var h model.Hash
	for i := range h {
		h[i] = byte(0xf0 - i)
	}
	text := FormatHash(h)
	if !strings.HasPrefix(text, "d1d2d3") || !strings.HasSuffix(text, "eeeff0") {
		t.Errorf("%x is written as %s", h, text)
	}
	if got, ok := ParseHash(text); !ok || got != h {
		t.Errorf("%s is read as %x", text, got)
	}
	for _, wrong := range []string{text[1:], text + "0", "x" + text[1:]} {
		if _, ok := ParseHash(wrong); ok {
			t.Errorf("%s is a hash", wrong)
		}
	}
}
