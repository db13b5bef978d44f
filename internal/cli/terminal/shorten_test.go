package terminal

import (
	"strings"
	"testing"
)

func TestHashesAreShortenedToTheTerminal(t *testing.T) {
	t.Parallel()
	hash := strings.Repeat("0123456789abcdef", 4)
	table := func(width int) string {
		var b strings.Builder
		p := NewPage(&b, false, nil)
		p.Width = width
		Table(p, []string{hash + ":1", "short"}, []string{"n", "output", "empty", "note"}, func(i int, s string) Cells {
			return Cells{i, s, "", "a longer note"}
		})
		if err := p.Flush(); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	whole := "n  output" + strings.Repeat(" ", 60) + "  note\n0  " + hash + ":1  a longer note\n1  short" + strings.Repeat(" ", 61) + "  a longer note\n"
	for _, width := range []int{0, 84, 200} {
		if got := table(width); got != whole {
			t.Errorf("width %d:\n%s\nwant\n%s", width, got, whole)
		}
	}
	if got, want := table(40), "n  output                  note\n0  0123456789…789abcdef:1  a longer note\n1  short                   a longer note\n"; got != want {
		t.Errorf("width 40:\n%s\nwant\n%s", got, want)
	}
	var b strings.Builder
	p := NewPage(&b, false, nil)
	p.Width = 40
	p.Fields("hash", hash, "first seen", "block 9, "+hash)
	if err := p.Flush(); err != nil {
		t.Fatal(err)
	}
	if want := "hash        " + hash + "\nfirst seen  block 9, 012345678…789abcdef\n"; b.String() != want {
		t.Errorf("fields:\n%s\nwant\n%s", b.String(), want)
	}
	if got := table(10); !strings.Contains(got, " 012345…abcdef:1 ") {
		t.Errorf("width 10:\n%s", got)
	}
}
