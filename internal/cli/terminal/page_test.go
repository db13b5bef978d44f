package terminal

import (
	"strings"
	"testing"
)

func TestColumnsAreAligned(t *testing.T) {
	t.Parallel()
	rendered := func(colour bool) string {
		var b strings.Builder
		p := NewPage(&b, colour, nil)
		rows := []Cells{{Faint(1), Green("é"), "x"}, {1000, "longer", Red("")}}
		Table(p, rows, []string{"n", "name", "last"}, func(_ int, row Cells) Cells { return row })
		if err := p.Flush(); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	const want = "    n  name    last\n    1  é       x\n1,000  longer\n"
	if got := rendered(false); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	coloured := rendered(true)
	if !strings.Contains(coloured, "\x1b[32mé\x1b[0m") {
		t.Errorf("no colour in %q", coloured)
	}
	for code := range strings.SplitSeq("0 1 2 31 32", " ") {
		coloured = strings.ReplaceAll(coloured, "\x1b["+code+"m", "")
	}
	if coloured != want {
		t.Errorf("without its colours it is\n%s\nwant\n%s", coloured, want)
	}
}

func TestFieldsWithoutAValueAreOmitted(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	p := NewPage(&b, false, nil)
	var none *uint64
	some := uint64(12345)
	p.Fields("a", "text", "empty", "", "none", none, "longer", &some, "ratio", 1.26)
	if err := p.Flush(); err != nil {
		t.Fatal(err)
	}
	if got, want := b.String(), "a       text\nlonger  12,345\nratio   1.3\n"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
